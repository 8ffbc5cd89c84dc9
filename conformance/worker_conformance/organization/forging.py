"""False Events: what an attacker or a broken relay might deliver in place of a true one.

Every forgery but `schema` is schema-valid, so that only the check it is meant for can find it.
Never touches the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from worker_conformance.documents import base64url
from worker_conformance.documents.canonical import canonical
from worker_conformance.documents.json_types import JsonObject, find, integer_at, object_at, text_at
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.errors import SuiteError
from worker_conformance.organization import hard_values
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.signatures import signed

_AUTHORITY = "group-authority"

GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order of Ed25519's prime-order subgroup: S must be below it (RFC 8032)."""

EARLIER = "2026-07-01T00:00:00Z"
"""Before every scenario, and within every key's validity."""


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


def _retired_key(ledger: Ledger, event: JsonObject) -> JsonObject:
    """Signed with the key whose time ended before this Event (MWP-SDV-014)."""
    return signed(DocumentKind.EVENT, _unsigned(event), ledger.shared.keys.former_key(_AUTHORITY))


def _scalar(_ledger: Ledger, event: JsonObject) -> JsonObject:
    """S plus the group order: the same equation, another spelling (MWP-SDV-003)."""
    return _with_value(event, lambda value: value[:32] + _little(_number(value[32:]) + GROUP_ORDER))


def _small_order(_ledger: Ledger, event: JsonObject) -> JsonObject:
    """R is the identity, a point of order one (MWP-SDV-003)."""
    return _with_value(event, lambda value: _little(1) + value[32:])


def _time(ledger: Ledger, event: JsonObject) -> JsonObject:
    """The signature claims another time than the Event's own (MWP-SDV-002)."""
    resigned = _resigned(ledger, event)
    return {**resigned, "signature": {**object_at(resigned, "signature"), "createdAt": EARLIER}}


def _offset(ledger: Ledger, event: JsonObject) -> JsonObject:
    """A protected time spelled with an offset, truly signed (MWP-SDV-002)."""
    spelled = text_at(event, "occurredAt").removesuffix("Z") + "+00:00"
    return _resigned(ledger, {**event, "occurredAt": spelled})


def _data(ledger: Ledger, event: JsonObject) -> JsonObject:
    """The smallest change, after signing, in data whose canonical bytes are hard to make."""
    changed = hard_values.altered(event)
    if changed is None:
        cause = f"Event {event['sequence']} of Group {ledger.name} carries no such data"
        raise SuiteError("forge", cause, "give its act a `data`")
    return changed


def _value_only(ledger: Ledger, event: JsonObject) -> JsonObject:
    """What was signed leaves out the signature's value alone (MWP-SDV-019)."""
    envelope = object_at(event, "signature")
    rest = {name: value for name, value in envelope.items() if name != "value"}
    message = canonical({**_unsigned(event), "signature": rest})
    value = ledger.shared.keys[_AUTHORITY].sign_bytes(message)
    return {**event, "signature": {**rest, "value": base64url.encode(value)}}


def _schema(ledger: Ledger, event: JsonObject) -> JsonObject:
    """A member that an Event does not have, under a good signature (MWP-FND-004)."""
    return _resigned(ledger, {**event, "priority": "urgent"})


def _with_value(event: JsonObject, change: Callable[[bytes], bytes]) -> JsonObject:
    envelope = object_at(event, "signature")
    value = base64url.decode(text_at(envelope, "value"))
    if value is None:
        raise SuiteError("forge", "the Event's own signature is not readable")
    return {**event, "signature": {**envelope, "value": base64url.encode(change(value))}}


def _number(octets: bytes) -> int:
    return int.from_bytes(octets, "little")


def _little(number: int) -> bytes:
    return number.to_bytes(32, "little")


def _unsigned(event: JsonObject) -> JsonObject:
    return {name: value for name, value in event.items() if name != "signature"}


def _resigned(ledger: Ledger, event: JsonObject) -> JsonObject:
    return signed(DocumentKind.EVENT, _unsigned(event), ledger.shared.keys[_AUTHORITY])


FORGERIES: Mapping[str, Callable[[Ledger, JsonObject], JsonObject]] = {
    "payload": _payload,
    "signature": _signature,
    "signer": _signer,
    "sequence_twin": _sequence_twin,
    "id_twin": _id_twin,
    "retired_key": _retired_key,
    "scalar": _scalar,
    "small_order": _small_order,
    "time": _time,
    "offset": _offset,
    "value_only": _value_only,
    "data": _data,
    "schema": _schema,
}
