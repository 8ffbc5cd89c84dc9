"""A small Worker that keeps the Port's rules, and the pieces that the hostile adapters bend."""

import json
import sys
from collections.abc import Callable, Iterator

DECLARATION = {
    "portVersion": "1",
    "name": "Port test Worker",
    "version": "1.0.0",
    "language": "Python",
    "homepage": "https://example.org/worker",
    "profiles": ["replay"],
    "parameters": {},
}
KNOWN = {"start", "stop", "tick", "frames", "caught_up", "leave"}


class UnsupportedError(Exception):
    code = -32001


class Worker:
    def initialize(self, _: dict) -> dict:
        return DECLARATION

    def handle(self, stimulus: dict) -> dict:
        if stimulus["type"] not in KNOWN:
            raise UnsupportedError(stimulus["type"])
        if stimulus["type"] == "start" and stimulus["groups"]:
            return {"effects": [{"type": "frame", "frame": subscribe(stimulus["groups"])}]}
        return {"effects": []}

    def shutdown(self) -> dict:
        return {}


def subscribe(groups: list) -> dict:
    return {
        "protocolVersion": "0.1",
        "frameId": "urn:example:frame:1",
        "frameType": "SUBSCRIBE",
        "subscriptionId": "urn:example:subscription:1",
        "groups": [{"groupId": group["groupId"], "afterSequence": 0} for group in groups],
    }


def requests() -> Iterator[dict]:
    for line in sys.stdin:
        yield json.loads(line)


def send(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(request: dict, result: object = None) -> str:
    if result is None:
        result = {"handle": {"effects": []}, "initialize": DECLARATION}.get(request["method"], {})
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n"


def misbehave(at: str, misdeed: Callable[[dict], None]) -> None:
    """Answer properly until the request `at`, commit `misdeed` there, and go on."""
    for request in requests():
        if request["method"] == at:
            misdeed(request)
        else:
            send(answer(request))


def main() -> None:
    worker = Worker()
    for request in requests():
        head = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            operation = getattr(worker, request["method"])
            result = operation(request["params"]) if "params" in request else operation()
            send(json.dumps({**head, "result": result}) + "\n")
        except UnsupportedError as error:
            send(json.dumps({**head, "error": {"code": error.code, "message": str(error)}}) + "\n")
        if request["method"] == "shutdown":
            return


if __name__ == "__main__":
    main()
