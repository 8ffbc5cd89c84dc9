"""Why a Command is refused, as a value, and the normative error document that says so.

Never decides to refuse. Messages name no Group, WorkItem or key beyond what the Command itself
named: an error must not disclose anything.
"""

from __future__ import annotations

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.documents.schemas import protocol_schemas
from worker_conformance.organization.moments import text

RETRYABLE = frozenset({"RATE_LIMITED", "BACKPRESSURE", "INTERNAL_ERROR"})
"""Codes after which the very same Command may succeed later."""

RETRY_AFTER_MS = 1_000
"""Guidance that goes with RATE_LIMITED and BACKPRESSURE."""


@frozen
class Refusal:
    """One code of PROTOCOL 19 with a sentence for people."""

    code: str
    message: str
    current_revision: int | None = None
    expected_revision: int | None = None
    retryable: bool | None = None
    retry_after_ms: int | None = None

    @property
    def is_retryable(self) -> bool:
        """Whether the same Command may be accepted later."""
        return self.code in RETRYABLE if self.retryable is None else self.retryable

    def document(self, frame: JsonObject, now: int) -> JsonObject:
        """The error document that answers the Command in `frame`."""
        document: JsonObject = {
            "code": self.code,
            "message": self.message,
            "retryable": self.is_retryable,
            "occurredAt": text(now),
        }
        for member, value in (
            ("relatedActionId", find(frame, "command", "actionId")),
            ("groupId", find(frame, "command", "groupId")),
            ("relatedFrameId", find(frame, "frameId")),
        ):
            if _is_identifier(value):
                document[member] = value
        if self.current_revision is not None:
            document["currentRevision"] = self.current_revision
        if self.expected_revision is not None:
            document["expectedRevision"] = self.expected_revision
        if self.is_retryable or self.retry_after_ms is not None:
            after = self.retry_after_ms
            document["retryAfterMs"] = RETRY_AFTER_MS if after is None else after
        return document


def _is_identifier(value: object) -> bool:
    # What the Worker calls its Action ID may be anything; an error document may not.
    return isinstance(value, str) and protocol_schemas().validator("common#/$defs/id").is_valid(
        value
    )
