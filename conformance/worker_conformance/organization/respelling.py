"""True Events whose times are spelled otherwise: the same instants, lawful, and truly signed.

Never changes the protected time of anything that is signed: that one has a single spelling.
"""

from __future__ import annotations

from worker_conformance.documents import timestamps
from worker_conformance.documents.json_types import JsonValue
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.signatures import signed

_AUTHORITY = "group-authority"

AHEAD = 5 * 60 + 30
"""Minutes that the clock is ahead of UTC: hours and minutes, as whole hours alone hide a slip."""


def respell(ledger: Ledger, sequence: int) -> None:
    """Replace an Event of the log, before anybody has seen it, by one with other spellings."""
    event = ledger.events[sequence - 1]
    draft = {name: value for name, value in event.items() if name != "signature"}
    draft["payload"] = _respelled(event["payload"])
    key = ledger.shared.keys[_AUTHORITY]
    ledger.events[sequence - 1] = signed(DocumentKind.EVENT, draft, key)


def _respelled(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        if "signature" in value:  # somebody else's document: its bytes are not ours to choose
            return value
        return {name: _respelled(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_respelled(member) for member in value]
    if isinstance(value, str) and timestamps.is_protected_form(value) and "." not in value:
        return _elsewhere(value)
    return value


def _elsewhere(time: str) -> str:
    """The same instant as a clock to the east shows it, with a small t and zeros (MWP-FND-005)."""
    there = timestamps.to_text(timestamps.microseconds_of(time) + AHEAD * 60 * 1_000_000)
    return f"{there[:-1].replace('T', 't')}.000+{AHEAD // 60:02}:{AHEAD % 60:02}"
