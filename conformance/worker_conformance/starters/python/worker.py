"""The adapter of a Worker: the Worker Port, version 1, on standard input and output.

It subscribes to every Group and does nothing else yet, so it claims no profile. Each stimulus has
one place marked TODO. Logs go to stderr: stdout carries the answers alone.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]

DECLARATION: Json = {
    "portVersion": "1",
    "name": "My Worker",
    "version": "0.1.0",
    "language": "Python",
    "profiles": [],  # what is named here is judged: begin with "replay"
    "parameters": {},
}


class UnsupportedError(Exception):
    """The stimulus is not known here."""

    code = -32001  # the Port's own for that


class Worker:
    """One Worker. Each `on_…` takes a stimulus and returns the effects it has."""

    def __init__(self) -> None:
        """Begin without a session."""
        self.session_epoch = self.identifiers = 0
        names = [name for name in dir(self) if name.startswith("on_")]
        self.stimuli: dict[str, Callable[[Json], list[Json]]] = {
            name.removeprefix("on_"): getattr(self, name) for name in names
        }

    def initialize(self, _: Json) -> Json:
        """Say who this is. Creates nothing."""
        return DECLARATION

    def handle(self, stimulus: Json) -> Json:
        """Answer one stimulus; `busy` (call again at once) and `wakeAt` (then) may stand here."""
        known = self.stimuli.get(stimulus["type"])
        if known is None:
            raise UnsupportedError(f"the stimulus '{stimulus['type']}' is not supported")
        return {"effects": known(stimulus)}

    def shutdown(self) -> Json:
        """End in good order."""
        return {}

    def on_start(self, stimulus: Json) -> list[Json]:
        """TODO(start): open stimulus["stateDirectory"] and go on from what stands there."""
        self.session_epoch = stimulus["sessionEpoch"]
        self.identifiers = 0
        return [self.subscribe(stimulus["groups"])]

    def on_policy(self, _: Json) -> list[Json]:
        """TODO(policy): replace the whole policy: weights, quotas, classes, limits."""
        return []

    def on_frames(self, _: Json) -> list[Json]:
        """TODO(frames): Events per Group in sequence, durable, then one ACK."""
        return []

    def on_tick(self, _: Json) -> list[Json]:
        """TODO(tick): time has passed: leases, retries, resends."""
        return []

    def on_caught_up(self, _: Json) -> list[Json]:
        """TODO(caught_up): the replay of this Group is over: Commands may be sent."""
        return []

    def on_join(self, stimulus: Json) -> list[Json]:
        """TODO(join): take the Group's Membership, context and credentials."""
        return [self.subscribe([stimulus["group"]])]

    def on_leave(self, _: Json) -> list[Json]:
        """TODO(leave): nothing more comes from this Group."""
        return []

    def on_keys(self, _: Json) -> list[Json]:
        """TODO(keys): replace the key registry."""
        return []

    def on_link(self, _: Json) -> list[Json]:
        """TODO(link): down: start nothing new. Up: new session, subscribe again."""
        return []

    def on_token(self, _: Json) -> list[Json]:
        """TODO(token): keep it with its lease; its secret goes nowhere."""
        return []

    def on_token_revoked(self, _: Json) -> list[Json]:
        """TODO(token_revoked): no operation under it any more."""
        return []

    def on_snapshot(self, _: Json) -> list[Json]:
        """TODO(snapshot): verify, restore, resume at its sequence."""
        return []

    def on_execution(self, _: Json) -> list[Json]:
        """TODO(execution): checkpoint, submit, block, retry or fail; release."""
        return []

    def on_stop(self, _: Json) -> list[Json]:
        """TODO(stop): forget the session; what is durable stays."""
        return []

    def subscribe(self, groups: list[Json]) -> Json:
        """Ask for the Events of `groups` after the durable Cursor: 0, as nothing is kept yet."""
        frame = {
            "protocolVersion": "0.1",
            "frameId": self.identifier("frame"),
            "frameType": "SUBSCRIBE",
            "subscriptionId": self.identifier("subscription"),
            "groups": [{"groupId": group["groupId"], "afterSequence": 0} for group in groups],
        }
        return {"type": "frame", "frame": frame}

    def identifier(self, kind: str) -> str:
        """Make a new one: the Session Epoch keeps it unique, also when the disk is lost."""
        self.identifiers += 1
        return f"urn:my-worker:{kind}:{self.session_epoch}-{self.identifiers}"


def main() -> None:
    """Answer each line with one line, until `shutdown` or the end of the input."""
    worker = Worker()
    for line in sys.stdin:
        call = json.loads(line)
        answer: Json = {"jsonrpc": "2.0", "id": call["id"]}
        try:
            given = [call["params"]] if "params" in call else []
            answer["result"] = getattr(worker, call["method"])(*given)
        except UnsupportedError as refusal:
            answer["error"] = {"code": refusal.code, "message": str(refusal)}
        print(json.dumps(answer), flush=True)
        if call["method"] == "shutdown":
            break


if __name__ == "__main__":
    main()
