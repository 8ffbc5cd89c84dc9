"""Folding what comes round again and again."""

from __future__ import annotations

import pytest

from worker_conformance.judge.folding import ROUNDS_MIN, Rounds, folded, in_a_row, without_numbers


def told(*lines: str) -> list[str]:
    return [
        f"+{one.rounds}x{one.items}" if isinstance(one, Rounds) else one[1]
        for one in folded(lines, without_numbers)
    ]


def test_the_first_round_and_the_last_are_told() -> None:
    lines = [f"{word} {number}" for number in range(1, 7) for word in ("renew", "ack")]
    assert told("start", *lines, "end") == [
        "start",
        "renew 1",
        "ack 1",
        "+4x2",
        "renew 6",
        "ack 6",
        "end",
    ]


def test_a_few_rounds_are_told_as_they_are() -> None:
    lines = [f"ack {number}" for number in range(1, ROUNDS_MIN)]
    assert told(*lines) == lines


def test_nothing_is_lost_where_nothing_comes_round() -> None:
    lines = ["a", "b", "a", "c", "b", "a"]
    assert told(*lines) == lines
    assert told() == []


def test_what_is_left_out_is_counted_to_the_line() -> None:
    lines = ["x", *(f"{word} {n}" for n in range(50) for word in "abc"), "y", *["z"] * 9]
    shown = list(folded(lines, without_numbers))
    left_out = sum(one.rounds * one.items for one in shown if isinstance(one, Rounds))
    assert left_out + sum(not isinstance(one, Rounds) for one in shown) == len(lines)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (
            "00:05:00  suite   EVENT A/84 work.progressed a1",
            "#:#:#  suite   EVENT A/# work.progressed a1",
        ),
        ("ACK B:84", "ACK B:#"),
        ("run s1 A a1", "run s1 A a1"),
        ("start 2026-07-15T01:45:00Z", "start #-#-#T#:#:#Z"),
    ],
)
def test_names_stay_in_a_shape_and_numbers_go(text: str, shape: str) -> None:
    assert without_numbers(text) == shape


def test_a_word_that_is_repeated_stands_once() -> None:
    assert in_a_row(["accept", "run", "run", "run", "release", "run"]) == (
        "accept, run 3 times, release, run"
    )
    assert in_a_row([]) == ""
