"""False Events: what an attacker or a broken relay might deliver in place of a true one.

Every forgery is schema-valid, so that only the check it is meant for can find it. Never touches
the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from worker_conformance.documents import base64url
from worker_conformance.documents.json_types import JsonObject, find, integer_at, object_at, text_at
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.errors import SuiteError
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.signatures import signed


def forge(ledger: Ledger, sequence: int, how: str) -> JsonObject:
    """Return a false variant of the Event with this sequence."""
    if how not in FORGERIES:
        raise SuiteError("forge", f"no such forgery: {how!r}", ", ".join(FORGERIES))
    if not 1 <= sequence <= len(ledger.events):
        raise SuiteError("forge", f"Group {ledger.name} has no Event {sequence}")
    return FORGERIES[how](ledger, ledger.events[sequence - 1])


def altered_signature(document: JsonObject) -> JsonObject:
    """The document with a well-encoded signature that does not fit its content."""
    envelope = object_at(document, "signature")
    value = base64url.decode(text_at(envelope, "value"))
    if value is None:
        raise SuiteError("forge", "the document's own signature is not readable")
    # One bit of S: still canonical and below the group order, whose top byte is 0x10.
    changed = value[:32] + bytes([value[32] ^ 1]) + value[33:]
    return {**document, "signature": {**envelope, "value": base64url.encode(changed)}}


def _payload(_ledger: Ledger, event: JsonObject) -> JsonObject:
    """The content changed after signing."""
    payload = dict(object_at(event, "payload"))
    item = find(payload, "workItem")
    if isinstance(item, dict):
        contract = object_at(item, "contract")
        goal = f"{text_at(contract, 'goal')} And more."
        payload["workItem"] = {**item, "contract": {**contract, "goal": goal}}
    else:
        payload["note"] = "changed after signing"
    return {**event, "payload": payload}


def _signature(_ledger: Ledger, event: JsonObject) -> JsonObject:
    return altered_signature(event)


def _signer(ledger: Ledger, event: JsonObject) -> JsonObject:
    """Properly signed by a service that is no Group Authority."""
    draft = {**event, "acceptedBy": ledger.shared.keys.actor("outsider")}
    return signed(DocumentKind.EVENT, draft, ledger.shared.keys["outsider"])


def _sequence_twin(ledger: Ledger, event: JsonObject) -> JsonObject:
    """The same fact once more: another Event ID under the same sequence number."""
    sequence = integer_at(event, "sequence")
    twin = ledger.names.numbered("event-twin", ledger.name, ledger.name, sequence)
    return _resigned(ledger, {**event, "eventId": twin})


def _id_twin(ledger: Ledger, event: JsonObject) -> JsonObject:
    """This Event's ID under the next sequence number."""
    return _resigned(ledger, {**event, "sequence": integer_at(event, "sequence") + 1})


def _resigned(ledger: Ledger, event: JsonObject) -> JsonObject:
    draft = {name: value for name, value in event.items() if name != "signature"}
    return signed(DocumentKind.EVENT, draft, ledger.shared.keys["group-authority"])


FORGERIES: Mapping[str, Callable[[Ledger, JsonObject], JsonObject]] = {
    "payload": _payload,
    "signature": _signature,
    "signer": _signer,
    "sequence_twin": _sequence_twin,
    "id_twin": _id_twin,
}
