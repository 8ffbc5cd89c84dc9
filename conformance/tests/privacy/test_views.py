"""A Group's view: what is in it, what counts as the same, and how a difference is shown."""

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.privacy.views import Kind, compare, view_of

from .by_hand import A, B, command, event, trace_of


def test_a_view_holds_what_reaches_the_group_and_nothing_else() -> None:
    ping: JsonObject = {"type": "frame", "frame": {"frameType": "PING", "nonce": "n"}}
    trace = trace_of(command(A, {"x": 1}), command(B, {"x": 2}), ping)
    assert [one.what for one in view_of(trace, A)] == [
        "a Command: work.accept_offer",
        "a PING: PING",
    ]


def test_identifiers_of_the_workers_own_are_numbered_by_first_appearance() -> None:
    def view(first: str, second: str) -> object:
        payload: JsonObject = {"about": first, "again": second}
        trace = trace_of(
            command(A, {}, actionId=first), command(A, payload, actionId=second, key=first)
        )
        return view_of(trace, A)

    assert view("urn:w:1", "urn:w:2") == view("urn:w:5", "urn:w:3")
    assert view("urn:w:1", "urn:w:2") != view("urn:w:1", "urn:w:1")


def test_identifiers_that_the_group_was_told_are_compared() -> None:
    def view(lease: str) -> object:
        told = event(A, {"lease": "urn:x:lease-1111222233334444", "other": f"urn:x:{'9' * 16}"})
        return view_of(trace_of(told, command(A, {}, leaseId=lease)), A)

    assert view("urn:x:lease-1111222233334444") != view(f"urn:x:{'9' * 16}")


def test_signatures_may_differ() -> None:
    def view(value: str) -> object:
        return view_of(trace_of(command(A, {}, signature={"keyId": "k", "value": value})), A)

    assert view("abc") == view("xyz")


def test_the_same_bytes_are_no_difference() -> None:
    view = view_of(trace_of(command(A, {"x": 1})), A)
    assert compare(view, view) is None


def test_another_content_is_shown_side_by_side_with_the_bytes_marked() -> None:
    one = view_of(trace_of(command(A, {"x": 1}), command(A, {"note": "for Borealis"})), A)
    other = view_of(trace_of(command(A, {"x": 1}), command(A, {"note": "for Corealis"})), A)
    found = compare(one, other)
    assert found is not None
    assert found.kind is Kind.CONTENT
    both, plain, varied, marks = found.lines
    assert "both" in both
    assert "Borealis" in plain
    assert "Corealis" in varied
    assert [plain[at] for at, mark in enumerate(marks) if mark == "^"] == ["B"]
    assert [varied[at] for at, mark in enumerate(marks) if mark == "^"] == ["C"]


def test_another_order_or_time_is_told_apart_from_another_content() -> None:
    first, second = command(A, {"x": 1}), command(A, {"x": 2})
    one, other = (view_of(trace_of(*row), A) for row in ((first, second), (second, first)))
    found = compare(one, other)
    assert found is not None
    assert found.kind is Kind.ORDER
    later = view_of(trace_of(command(A, {"x": 1}, issuedAt="2026-07-15T00:00:09Z")), A)
    sooner = view_of(trace_of(command(A, {"x": 1}, issuedAt="2026-07-15T00:00:01Z")), A)
    found = compare(sooner, later)
    assert found is not None
    assert found.kind is Kind.ORDER


def test_something_more_is_another_content() -> None:
    one = view_of(trace_of(command(A, {"x": 1})), A)
    other = view_of(trace_of(command(A, {"x": 1}), command(A, {"x": 2})), A)
    found = compare(one, other)
    assert found is not None
    assert found.kind is Kind.CONTENT
    assert "nothing" in found.lines[1]


def test_a_difference_is_told_in_pairs_that_can_stand_side_by_side() -> None:
    plain, varied = (
        view_of(trace_of(command(A, {"title": title}), command(A, {"n": 1})), A)
        for title in ("x" * 400 + "one", "x" * 400 + "two")
    )
    found = compare(plain, varied)
    assert found is not None
    (pair,) = found.pairs
    assert (pair.at, pair.what) == ((0.0, 0.0), "a Command: work.accept_offer")
    assert pair.plain is not None
    assert pair.varied is not None
    assert pair.before > 0
    assert ("one" in pair.plain, "two" in pair.varied) == (True, True)
    assert len(pair.plain) < 400


def test_what_only_one_world_shows_has_no_counterpart() -> None:
    plain = view_of(trace_of(command(A, {"n": 1}), command(A, {"n": 2})), A)
    found = compare(plain, plain[:1])
    assert found is not None
    (pair,) = found.pairs
    assert (pair.at[1], pair.varied) == (None, None)
