"""A Worker at the other end of a stream: newline-delimited JSON-RPC 2.0, whatever carries it.

What the transports over a process and over a socket share: one line out, one line in, and precise
words for whatever goes wrong in between. Any breach of the framing ends the peer, since nobody
knows then which answer belongs to what. Never judges what an answer says.
"""

import re
from abc import ABC, abstractmethod
from typing import Protocol

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import messages
from worker_conformance.port.channel import MAX_LINE_BYTES, STDERR_KEPT_BYTES, Channel, Trouble
from worker_conformance.port.contract import (
    HOOK_NOT_SUPPORTED,
    TIMEOUT_SECONDS,
    Answer,
    HookNotSupported,
)
from worker_conformance.port.declaration import Declaration
from worker_conformance.port.json_rpc import RpcError, read_response, request_line

GRACE_SECONDS = 5.0  # from the answer to `shutdown` until the peer has gone
STDERR_LINES_SHOWN = 20  # a stack trace, and what led to it
STDERR_FOLLOWS = "; its stderr ends with:\n"


class Peer(Protocol):
    """What is at the other end: a process, or a connection to a server."""

    @property
    def channel(self) -> Channel:
        """The stream to it."""
        ...

    def end(self) -> int:
        """End it, by force where it takes that; idempotent. Return its exit status, else 0."""
        ...


@define
class LinePort(ABC):
    """The part of a Port that talks. A transport adds how a peer begins and how it ends.

    `timeout_seconds` is real time and bounds each call; it decides no verdict. `stream` is what
    messages call the place that answers come from.
    """

    timeout_seconds: float = field(default=TIMEOUT_SECONDS, kw_only=True)
    grace_seconds: float = field(default=GRACE_SECONDS, kw_only=True)
    stream: str = field(default="stdout", init=False)
    copies_state_on_crash: bool = field(default=False, init=False)
    _declared: Declaration | None = field(default=None, init=False)
    _requests: int = field(default=0, init=False)
    _stderr: str = field(default="", init=False)  # of peers that are over

    def initialize(self) -> Declaration:
        """Bring the Worker up and return what it declares."""
        if self._peer_or_none() is not None:
            raise SuiteError("port-state", "the Worker is already up", "shut it down first")
        self._begin()
        self._requests = 0
        try:
            params = messages.initialize_params()
            result = self._result(self._call("initialize", params, "'initialize'"), "'initialize'")
            declared = messages.read_declaration(result)
            messages.refuse_change(self._declared, declared)
        except BaseException:
            self._end()
            raise
        self._declared = declared
        return declared

    def handle(self, stimulus: JsonObject) -> Answer:
        """Give the Worker one stimulus and return its answer."""
        messages.check_stimulus(stimulus)
        return self.handle_unchecked(stimulus)

    def handle_unchecked(self, stimulus: JsonObject) -> Answer:
        """As `handle`, for a stimulus that our own schema refuses on purpose."""
        kind = str(stimulus["type"])
        called = f"'handle' of '{kind}'"
        outcome = self._call("handle", stimulus, called)
        if isinstance(outcome, RpcError) and outcome.code == HOOK_NOT_SUPPORTED:
            raise HookNotSupported(kind)
        return messages.read_answer(self._result(outcome, called), kind)

    def kill_after_send(self, stimulus: JsonObject) -> None:
        """Send a stimulus and kill the Worker at once, wherever it has got to.

        How far it got differs from run to run; a check built on it must hold for every point.
        """
        self._sent(stimulus)
        self.crash()

    def kill_before_reading(self, stimulus: JsonObject) -> None:
        """Send a stimulus, wait until the Worker begins to answer, and kill it.

        It has done all it does before it answers, and the suite learns nothing of it.
        """
        peer = self._sent(stimulus)
        answered = peer.channel.wait_for_output(self.timeout_seconds)
        self.crash()
        if not answered:
            raise self._timeout(f"'handle' of '{stimulus['type']}'", 0)

    def crash(self) -> None:
        """End the Worker without a word to it."""
        self._end()

    def restart(self) -> None:
        """Bring the Worker up again after a crash; a changed declaration is refused."""
        self.initialize()

    def close(self) -> None:
        """End the Worker without asking it. Never raises for anything the Worker does."""
        self._end()

    def stderr_tail(self) -> str:
        """Return the end of what the Worker wrote to stderr since the last call, bounded."""
        text, self._stderr = self._stderr, ""
        peer = self._peer_or_none()
        if peer is not None:
            peer.channel.drain_stderr()
            text += peer.channel.stderr_text()
            peer.channel.forget_stderr()
        return text

    @abstractmethod
    def _begin(self) -> None:
        """Bring up a new peer."""

    @abstractmethod
    def _peer_or_none(self) -> Peer | None:
        """Return the peer that is up."""

    @abstractmethod
    def _take_peer(self) -> Peer | None:
        """Return the peer that is up; from now on there is none."""

    @abstractmethod
    def _closed(self, called: str) -> AdapterError:
        """End the peer, and say how the stream ended before the answer to `called`."""

    def _running(self) -> Peer:
        peer = self._peer_or_none()
        if peer is None:
            raise SuiteError("port-state", "the Worker is not up", "initialize or restart it first")
        return peer

    def _call(self, method: str, params: JsonObject | None, called: str) -> JsonObject | RpcError:
        """Make one request; whatever goes wrong with the framing ends the peer."""
        peer = self._running()
        try:
            return self._exchange(peer, method, params, called)
        except BaseException:
            self._end()
            raise

    def _exchange(
        self, peer: Peer, method: str, params: JsonObject | None, called: str
    ) -> JsonObject | RpcError:
        self._requests += 1
        line = request_line(self._requests, method, params)
        if self._requests > 1:  # a banner is best told as a bad answer to the first request
            self._refuse_noise(peer, f"before {called} was asked for")
        taken = peer.channel.converse(line, self.timeout_seconds)
        if isinstance(taken, Trouble):
            raise self._trouble(peer, taken, called)
        where = self._line(peer.channel.lines_read)
        outcome = read_response(taken, self._requests, called, where)
        self._refuse_noise(peer, f"after the answer to {called}")
        return outcome

    def _result(self, outcome: JsonObject | RpcError, called: str) -> JsonObject:
        if isinstance(outcome, RpcError):
            raise AdapterError(
                "error-response",
                f"the Worker answered {called} with error {outcome.code}: "
                + messages.shorten(outcome.message),
                f"only {HOOK_NOT_SUPPORTED}, for a stimulus that is not supported, has a meaning "
                "in the Port" + self._last_words(),
            )
        return outcome

    def _sent(self, stimulus: JsonObject) -> Peer:
        messages.check_stimulus(stimulus)
        peer = self._running()
        self._requests += 1
        line = request_line(self._requests, "handle", stimulus)
        if not peer.channel.send(line, self.timeout_seconds):
            self._end()
            raise self._timeout(f"'handle' of '{stimulus['type']}'", 0)
        return peer

    def _refuse_noise(self, peer: Peer, when: str) -> None:
        noise = peer.channel.surplus()
        if noise:
            line = noise.split(b"\n", 1)[0]
            where = self._line(peer.channel.lines_read + 1)
            raise AdapterError(
                "stdout-noise",
                f"the Worker wrote to {self.stream} {when}, with no request to answer",
                f"{where} is {messages.excerpt(line)}; one line for each request and nothing else: "
                "logs belong on stderr, effects in the next answer",
                where,
            )

    def _line(self, number: int) -> str:
        return f"{self.stream.removeprefix('the ')} line {number}"

    def _trouble(self, peer: Peer, trouble: Trouble, called: str) -> AdapterError:
        if trouble is Trouble.TIMEOUT:
            return self._timeout(called, peer.channel.partial())
        if trouble is Trouble.TOO_LONG:
            return AdapterError(
                "line-too-long",
                f"the answer to {called} is a line of more than {MAX_LINE_BYTES} bytes",
                "spread the effects over several answers with 'busy': true; "
                f"it begins with {messages.excerpt(peer.channel.surplus())}",
            )
        return self._closed(called)

    def _timeout(self, called: str, partial_bytes: int) -> AdapterError:
        hint = f"flush {self.stream} after each answer, and answer every request"
        if partial_bytes:
            hint = (
                f"{partial_bytes} bytes of an unfinished line had arrived: "
                "end each answer with a line feed"
            )
        return AdapterError(
            "timeout",
            f"no answer to {called} within {self.timeout_seconds:g} s",
            hint + self._last_words(),
        )

    def _last_words(self) -> str:
        """Return the end of stderr for a hint, without taking it from `stderr_tail`."""
        text, peer = self._stderr, self._peer_or_none()
        if peer is not None:
            peer.channel.drain_stderr()
            text += peer.channel.stderr_text()
        return told_of_stderr(text)

    def _end(self) -> int:
        """End the peer, if there is one, and keep the end of its stderr."""
        peer = self._take_peer()
        if peer is None:
            return 0
        status = peer.end()
        self._stderr = (self._stderr + peer.channel.stderr_text())[-STDERR_KEPT_BYTES:]
        return status


def told_of_stderr(text: str) -> str:
    """Return the end of `text` as the end of a hint; empty where there is none.

    Many languages tell the error first and its stack below it: what stands above a stack that is
    too long to be shown is shown all the same.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    first = above = max(0, len(lines) - STDERR_LINES_SHOWN)
    while above > 0 and _STACK_FRAME.match(lines[above]):
        above -= 1
    shown = lines[first:] if above == first else [lines[above], "…", *lines[first:]]
    if not shown:
        return ""
    return STDERR_FOLLOWS + "\n".join(map(messages.shorten, shown))


def without_stderr(hint: str) -> str:
    """Return a hint without the end of stderr, for where that is shown on its own."""
    return hint.partition(STDERR_FOLLOWS)[0]


_STACK_FRAME = re.compile(r"\s+(at |\d+: |File |\.{3} )")
"""A line inside a stack trace, as Java, Node and .NET, Rust, and Python write it."""
