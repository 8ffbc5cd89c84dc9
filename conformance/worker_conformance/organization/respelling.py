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
        return f"{value[:-1].replace('T', 't')}.000+00:00"  # MWP-FND-005
    return value
