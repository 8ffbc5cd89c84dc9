"""Times in another spelling are the same times, truly signed."""

from worker_conformance.documents import timestamps
from worker_conformance.documents.json_types import find, list_at, text_at
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.documents.signing import Refused, verify


def test_a_respelled_event_verifies_and_tells_the_same_instants(desk) -> None:
    desk.reach("offered")
    sequence, before = len(desk.group.events), desk.group.events[-1]
    desk.group.respell(sequence)
    after = desk.group.events[-1]
    registry = desk.group.ledger.shared.keys.registry
    assert not isinstance(verify(DocumentKind.EVENT, after, registry), Refused)
    assert text_at(after, "occurredAt") == text_at(before, "occurredAt")
    old, new = (_expiry(event) for event in (before, after))
    assert old != new
    assert timestamps.parse(old) == timestamps.parse(new)


def _expiry(event) -> str:
    return text_at(list_at(find(event, "payload", "workItem"), "offers")[0], "expiresAt")
