"""Events in other words: raw bytes that a strict reader takes or refuses, and false signatures."""

import pytest

from worker_conformance.documents import base64url, signing, strict_json
from worker_conformance.documents.errors import DocumentError
from worker_conformance.documents.schemas import DocumentKind, problems
from worker_conformance.documents.signing import Refused
from worker_conformance.judge.facts import parsed_frame
from worker_conformance.organization.forging import FORGERIES
from worker_conformance.port.messages import check_stimulus
from worker_conformance.scenario.around import SPELLINGS as WORDS
from worker_conformance.scenario.clock import text_of
from worker_conformance.scenario.model import ActKind
from worker_conformance.scenario.steps import FORGERIES as FORGERY_WORDS
from worker_conformance.suite.spelling import LAWFUL, SPELLINGS, TIMES, raw_frame


def frame_of(desk) -> dict:
    desk.reach("offered")
    return desk.organization.event_frame(desk.last)


def with_hard_data(desk) -> int:
    """Append an Event that any forgery can be made of, and say which."""
    desk.act(ActKind.EXTENSION, critical=False, data="numbers")
    return len(desk.group.events)


def octets(frame: dict, how: str) -> bytes:
    raw = raw_frame(frame, how)
    check_stimulus({"type": "frames", "frames": [raw], "now": text_of(0)})
    found = base64url.decode(raw["bytes"])
    assert found is not None
    return found


def test_every_spelling_has_its_word() -> None:
    assert {*SPELLINGS, TIMES} == set(WORDS)
    assert set(FORGERIES) == set(FORGERY_WORDS)


def test_the_lawful_spelling_is_the_same_frame_in_other_bytes(desk) -> None:
    frame = frame_of(desk)
    spelled = octets(frame, LAWFUL)
    assert strict_json.parse(spelled) == frame
    assert list(strict_json.parse(spelled)) != list(frame)
    assert parsed_frame(raw_frame(frame, LAWFUL)) == frame


@pytest.mark.parametrize("how", sorted(set(SPELLINGS) - {LAWFUL}))
def test_every_other_spelling_is_refused_by_a_strict_reader(desk, how: str) -> None:
    frame = frame_of(desk)
    with pytest.raises(DocumentError):
        strict_json.parse(octets(frame, how))
    assert parsed_frame(raw_frame(frame, how)) == {}


SCHEMA_INVALID = {"schema"}
TWINS = {"sequence_twin", "id_twin", "retired_key"}
"""Well signed, and wrong for another reason (a retired key is tested with its rotation)."""


@pytest.mark.parametrize("how", sorted(set(FORGERIES) - TWINS))
def test_a_forgery_verifies_nowhere(desk, how: str) -> None:
    desk.reach("offered")
    number = with_hard_data(desk)
    forged = desk.group.forge(number, how)
    assert forged != desk.group.events[number - 1]
    valid = problems(DocumentKind.EVENT, forged) == ()
    assert valid is (how not in SCHEMA_INVALID)
    outcome = signing.verify(DocumentKind.EVENT, forged, desk.registry)
    authorized = desk.organization.organization()["authorized"]["eventAuthority"]
    believed = not isinstance(outcome, Refused) and outcome.key.principal.id in authorized
    assert not believed


def test_a_forgery_leaves_the_log_as_it_was(desk, check_event) -> None:
    desk.reach("offered")
    number = with_hard_data(desk)
    for how in set(FORGERIES) - {"retired_key"}:
        desk.group.forge(number, how)
    for event in desk.group.events:
        check_event(event, desk.registry)
