"""The Worker: one stimulus in, effects out. The one door into the pure core.

Responsible for handing each stimulus to its module and for bringing the Worker to rest. Never reads
a clock, a disk or a random number: the same stimuli give the same effects, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from reference_worker import (
    disclosure,
    duties,
    errors,
    execution,
    inbox,
    replay,
    sessions,
)
from reference_worker.documents import Document
from reference_worker.instants import NEVER, micros, spell
from reference_worker.projection import Projection
from reference_worker.runtime import Runtime, Token
from reference_worker.turn import Turn


class HookNotSupportedError(Exception):
    """A stimulus that this Worker does not know; JSON-RPC error -32001."""

    code = -32001


class NotStartedError(Exception):
    """A stimulus came before `start`, or after `stop`."""

    code = -32600


@frozen
class Answer:
    """What one stimulus causes, and when the Worker wants a `tick`."""

    effects: tuple[Document, ...]
    wake_at: str | None


class Worker:
    """One life: the projections of a state directory and the runtime of a session."""

    def __init__(self, projection: Projection) -> None:
        self.projection = projection
        self._runtime: Runtime | None = None

    def handle(self, stimulus: Document) -> Answer:
        """Take one stimulus to rest.

        The caller commits the projections before any effect of the answer leaves.
        """
        kind = stimulus["type"]
        if kind == "start":
            self._runtime = sessions.open_runtime(self.projection, stimulus)
        handler = STIMULI.get(kind)
        if handler is None:
            raise HookNotSupportedError(f"unknown stimulus {kind!r}")
        if self._runtime is None:
            raise NotStartedError(f"{kind!r} before 'start'")
        now = micros(stimulus["now"])
        wall = micros(stimulus["wallClock"]) if "wallClock" in stimulus else now
        turn = Turn(self.projection, self._runtime, now, wall)
        handler(turn, stimulus)
        duties.settle(turn)
        assert (self._runtime.timers.next() or NEVER) > now, "nothing that is due is left undone"
        _acknowledge(turn)
        sessions.save_scheduler(turn)
        wake_at = self._runtime.timers.next()
        return Answer(tuple(turn.effects), None if wake_at is None else spell(wake_at))


def _acknowledge(turn: Turn) -> None:
    """Report Cursors, each to its own Group, as the commit that follows will make them durable."""
    if turn.projection.session.fenced_by:  # MWP-IDN-008
        return
    for group_id in turn.acknowledge:
        group = turn.group(group_id)
        assert group is not None, "what was processed belongs to a known Group"
        report = {"groupId": group_id, "sequence": group.cursor}
        turn.send("ACK", group_id, acknowledgements=[report], sentAt=turn.stamp())


def _frames(turn: Turn, stimulus: Document) -> None:
    turn.projection.foresee(inbox.event_ids(stimulus["frames"]))
    for raw in stimulus["frames"]:
        if turn.projection.session.fenced_by:  # MWP-IDN-008: the successor has these frames too
            return
        inbox.receive(turn, raw, OTHER_FRAMES)


def _token(turn: Turn, stimulus: Document) -> None:
    token = Token.read(stimulus["token"])
    turn.runtime.tokens[token.token_id] = token


def _token_revoked(turn: Turn, stimulus: Document) -> None:
    turn.runtime.tokens.pop(stimulus["tokenId"], None)


OTHER_FRAMES: dict[str, Callable[[Turn, Document], None]] = {
    "ERROR": errors.receive,
    "PING": disclosure.reply_to_ping,
}
STIMULI: Mapping[str, Callable[[Turn, Document], None]] = {
    "start": sessions.start,
    "policy": sessions.policy,
    "frames": _frames,
    "tick": replay.tick,
    "caught_up": replay.caught_up,
    "join": sessions.join,
    "leave": sessions.leave,
    "keys": sessions.keys,
    "link": sessions.link,
    "token": _token,
    "token_revoked": _token_revoked,
    "snapshot": replay.restore,
    "execution": execution.receive,
}
