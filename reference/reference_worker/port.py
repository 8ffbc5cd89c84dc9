"""The Worker behind the Worker Port: `initialize`, `handle`, `shutdown`.

Responsible for the order of durability: handle, commit, and only then let effects out. Never
changes an effect.
"""

from __future__ import annotations

from pathlib import Path

from reference_worker._version import __version__
from reference_worker.disclosure import GRANULARITY
from reference_worker.documents import Document
from reference_worker.instants import MICROS
from reference_worker.journal import Journal
from reference_worker.outbox import RESEND_AFTER
from reference_worker.preemption import PREEMPTIONS_MAX
from reference_worker.queues import HORIZON
from reference_worker.renewals import RENEWAL_KIND
from reference_worker.scheduler import CLASS_SHARE_RATIO
from reference_worker.worker import STIMULI, HookNotSupportedError, NotStartedError, Worker

PORT_VERSION = "1"
PROTOCOL_VERSION = "0.1"
PROFILES = (
    "replay",
    "scheduling",
    "disclosure",
    "isolation",
    "leases",
    "preemption",
    "admission",
    "blocking",
    "retries",
    "offline",
    "signatures",
)


class UnsupportedVersionError(Exception):
    """The suite speaks another version of the Port or of the protocol."""

    code = -32602


def declaration() -> Document:
    """What this Worker claims, and the bounds it is held to."""
    return {
        "portVersion": PORT_VERSION,
        "name": "Reference Worker",
        "version": __version__,
        "language": "Python",
        "profiles": list(PROFILES),
        "parameters": {
            "fairnessUnit": "dispatch",
            "starvationHorizonSeconds": HORIZON // MICROS,
            "classShareRatio": CLASS_SHARE_RATIO,
            "considers": [
                "priorityClass",
                "deadline",
                "waitingTime",
                "quota",
                "gate",
                "resources",
            ],
            "maxPreemptionsPerItem": PREEMPTIONS_MAX,
            "outOfOrder": "buffer",
            "ackIntervalSeconds": 0,
            "resendSeconds": RESEND_AFTER // MICROS,
            "estimateGranularitySeconds": GRANULARITY // MICROS,
            "renewal": "worker",
            "renewalCommandKind": RENEWAL_KIND,
            "deterministic": True,
            "reusable": True,
        },
    }


class WorkerPort:
    """One process's worth of Worker: many lives, one at a time."""

    def __init__(self) -> None:
        self._journal: Journal | None = None
        self._worker: Worker | None = None

    def initialize(self, params: Document) -> Document:
        """Answer the handshake."""
        asked = (params.get("portVersion"), params.get("protocolVersion"))
        if asked != (PORT_VERSION, PROTOCOL_VERSION):
            raise UnsupportedVersionError(f"versions {asked} are not spoken here")
        return declaration()

    def handle(self, stimulus: Document) -> Document:
        """Take one stimulus; its effects are durable before they are returned.

        Raises HookNotSupportedError (code -32001) for a stimulus that is not known, and
        JournalError where nothing could be made durable. After that only `start` helps: what was
        not committed never happened.
        """
        kind = stimulus.get("type")
        if kind == "stop":
            self._close()
            return {"effects": []}
        if kind == "start":
            self._open(Path(stimulus["stateDirectory"]))
        if kind not in STIMULI:
            raise HookNotSupportedError(f"unknown stimulus {kind!r}")
        if self._worker is None or self._journal is None:
            raise NotStartedError(f"{kind!r} before 'start'")
        try:
            answer = self._worker.handle(stimulus)
            self._journal.commit(self._worker.projection)
        except BaseException:
            self._close()  # memory may be ahead of the disk: go on from the disk only
            raise
        result: Document = {"effects": list(answer.effects)}
        if answer.wake_at is not None:
            result["wakeAt"] = answer.wake_at
        return result

    def shutdown(self) -> Document:
        """End for good."""
        self._close()
        return {}

    def _open(self, directory: Path) -> None:
        self._close()
        self._journal = Journal.open(directory)
        self._worker = Worker(self._journal.load())

    def _close(self) -> None:
        if self._journal is not None:
            self._journal.close()
        self._journal = self._worker = None


def factory() -> WorkerPort:
    """A Worker for use in the same process."""
    return WorkerPort()
