"""What the suite may ask of a Worker, whatever language and transport the Worker uses.

`Port` is the only door to a Worker under test: everything else of the suite depends on this module
and on nothing behind it. It carries stimuli in and effects out, crashes and restarts the Worker; it
never looks at what a wire frame says and never judges it.
"""

from typing import Protocol

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.port.declaration import Declaration

PORT_VERSION = "1"
PROTOCOL_VERSION = "0.1"
SUITE_NAME = "missionweaveprotocol-worker-conformance"
TIMEOUT_SECONDS = 30.0  # a guard against hangs, far above any honest answer
HOOK_NOT_SUPPORTED = -32001  # the JSON-RPC error code that says so


@frozen
class Answer:
    """A Worker's answer to one stimulus.

    `busy`: more effects come without further input, so `tick` is repeated at the same `now`.
    `wake_at`: the Worker asks for a `tick` at that time, RFC 3339.
    """

    effects: tuple[JsonObject, ...]
    busy: bool = False
    wake_at: str | None = None


class HookNotSupported(Exception):  # noqa: N818 - an answer the Port foresees, not an error
    """The Worker does not know this kind of stimulus (JSON-RPC error -32001).

    A failure where a claimed profile needs the stimulus; otherwise its checks are not claimed.
    """

    def __init__(self, stimulus_type: str) -> None:
        super().__init__(stimulus_type)
        self.stimulus_type = stimulus_type

    def __str__(self) -> str:
        """Name the stimulus."""
        return f"the Worker does not support the stimulus '{self.stimulus_type}'"


class Port(Protocol):
    """One Worker under test, from its first process to its last.

    Every method may raise `AdapterError`: the Worker left the Port's rules. A stimulus that our own
    schema refuses raises `SuiteError`. A Port is used by one thread at a time.
    """

    @property
    def transport(self) -> str:
        """`in-process`, `stdio` or `tcp`."""
        ...

    @property
    def copies_state_on_crash(self) -> bool:
        """Whether the next `start` after a crash needs a byte copy of the state directory.

        True in-process: nothing kills an object, so its locks and open files linger on the
        original.
        """
        ...

    def initialize(self) -> Declaration:
        """Bring the Worker up and return what it declares."""
        ...

    def handle(self, stimulus: JsonObject) -> Answer:
        """Give the Worker one stimulus and return its answer.

        Raises `HookNotSupported` where the Worker says so. Neither side sees later changes that
        the other makes to what it passed.
        """
        ...

    def crash(self) -> None:
        """End the Worker without warning: SIGKILL of its process group, or the object dropped."""
        ...

    def restart(self) -> None:
        """Bring up a new process or object after `crash`; refuses a changed declaration."""
        ...

    def shutdown(self) -> None:
        """End the Worker in good order, by force where it does not go, leaving nothing behind.

        Idempotent. Raises only after everything is cleaned up.
        """
        ...

    def stderr_tail(self) -> str:
        """Return the end of what the Worker wrote to stderr since the last call, bounded."""
        ...
