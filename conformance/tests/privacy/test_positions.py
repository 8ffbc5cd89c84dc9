"""Numbers that follow a backlog, and numbers that only look like it."""

from collections.abc import Callable

import pytest

from worker_conformance.documents.json_types import JsonValue
from worker_conformance.judge.privacy.positions import bits, following, numbers_of, ordering
from worker_conformance.judge.privacy.views import view_of
from worker_conformance.scenario.clock import text_of

from .by_hand import A, command, trace_of

BACKLOGS = (0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64)
SECOND = 1_000_000
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")

TELLING: dict[str, Callable[[int], JsonValue]] = {
    "the count ahead": lambda k: k,
    "the position": lambda k: k + 1,
    "at a constant distance": lambda k: k + 1000,
    "what is left of a total": lambda k: 1000 - k,
    "in a text": lambda k: f"You are number {k + 1} of many.",
    "behind other numbers": lambda k: f"slot 2, queue 7, place {k}",
    "with leading zeros": lambda k: f"Q{k:05}",
    "as an ordinal": lambda k: f"{ORDINALS[k] if k < 9 else 'later'} in line",
    "as a double": float,
    "as so many dots": lambda k: "•" * k,
    "as so many entries": lambda k: [None] * k,
    "in the microseconds": lambda k: text_of(300 * SECOND + k),
    "in the milliseconds": lambda k: text_of(300 * SECOND + 1000 * k),
    "in the seconds": lambda k: text_of(300 * SECOND + k * SECOND),
    "up to a limit": lambda k: min(k, 16),
    "behind the one that runs": lambda k: max(0, k - 1),
}

SILENT: dict[str, Callable[[int], JsonValue]] = {
    "a constant": lambda _: 7,
    "in tens": lambda k: k // 10 * 10,
    "in powers of two": lambda k: k.bit_length(),
    "whether there is any": lambda k: min(k, 1),
    "a fair estimate": lambda k: text_of(437 * SECOND * k),
    "an estimate by an assumed minute": lambda k: text_of(60 * SECOND * k),
    "an estimate by an assumed 61 seconds": lambda k: text_of(61 * SECOND * k),
    "an estimate in seconds": lambda k: 437 * k,
    "a confidence": lambda k: round(1 / (1 + k), 3),
    "a digest": lambda k: f"{k * 2654435761 % 2**32:08x}",
}


def numbers(value: JsonValue, member: str = "note") -> dict[str, int]:
    return dict(numbers_of(view_of(trace_of(command(A, {member: value})), A)))


@pytest.mark.parametrize("telling", TELLING)
def test_a_number_that_follows_the_backlog_is_found(telling: str) -> None:
    found = following({k: numbers(TELLING[telling](k)) for k in BACKLOGS})
    assert found is not None
    assert "/payload/note" in str(found)


@pytest.mark.parametrize("silent", SILENT)
def test_a_number_that_does_not_follow_is_left_alone(silent: str) -> None:
    assert following({k: numbers(SILENT[silent](k)) for k in BACKLOGS}) is None


@pytest.mark.parametrize("member", ["actionId", "idempotencyKey", "nonce", "queuedItems"])
def test_identifiers_and_the_required_count_are_judged_elsewhere(member: str) -> None:
    assert following({k: numbers(f"n-{k}", member) for k in BACKLOGS}) is None


def test_a_number_that_appears_in_some_worlds_only_has_to_be_there_without_a_break() -> None:
    swept = {k: {"place": k} if k % 2 else {} for k in range(13)}
    assert following(swept) is None


def test_bits_count_what_can_be_told_apart() -> None:
    assert bits(["same"] * 16) == 0
    assert bits(list(range(16))) == 4
    assert bits([k // 4 for k in range(16)]) == 2


def test_what_grows_with_every_step_can_be_read_off() -> None:
    def swept(value: Callable[[int], JsonValue]) -> str | None:
        return ordering({k: numbers(value(k)) for k in BACKLOGS})

    assert swept(lambda k: text_of(437 * SECOND * k)) is not None
    assert swept(lambda k: text_of(437 * SECOND * (k // 3))) is None
    assert swept(lambda k: text_of(SECOND * (k * 7919 % 64))) is None
