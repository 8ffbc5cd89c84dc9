"""Two views side by side: which bytes differ."""

from __future__ import annotations

from worker_conformance.judge.evidence import ViewPair
from worker_conformance.report.views_table import Side, places_of


def sides(plain: str | None, varied: str | None) -> tuple[Side, Side]:
    (place,) = places_of((ViewPair("an estimate", (0.0, 0.0), plain, varied),))
    return place.plain, place.varied


def differing(side: Side) -> list[str]:
    return [piece.text for piece in side.pieces if piece.differs]


def test_just_the_differing_characters_are_marked() -> None:
    plain, varied = sides('{"confidence":0.42}', '{"confidence":0.57}')
    assert (differing(plain), differing(varied)) == (["42"], ["57"])
    assert "".join(piece.text for piece in plain.pieces) == '{"confidence":0.42}'


def test_texts_of_unlike_length_are_the_same_at_both_ends() -> None:
    plain, varied = sides("[1,2,3]", "[1,22,3]")
    assert (differing(plain), differing(varied)) == ([], ["2"])
    plain, varied = sides('{"a":"none"}', '{"a":"seventy-nine"}')
    assert (differing(plain), differing(varied)) == (["no"], ["seventy-ni"])


def test_what_only_one_world_shows_differs_as_a_whole() -> None:
    plain, varied = sides("something", None)
    assert differing(plain) == ["something"]
    assert varied.pieces == ()


def test_what_a_worker_says_cannot_act_on_the_page() -> None:
    plain, _ = sides("\x1b[2Ja", "\x1b[2Jb")
    assert "".join(piece.text for piece in plain.pieces) == r"\x1b[2Ja"
