"""Deep calls under a function with room: the same results, at any depth."""

from __future__ import annotations

import pytest

from worker_conformance.suite.bench import Bench
from worker_conformance.suite.room import STACK_SLOTS, with_room


def depth_of(levels: int) -> int:
    return 0 if levels == 0 else 1 + depth_of(levels - 1)


@with_room
def deep(levels: int) -> int:
    """Go down."""
    return depth_of(levels)


@with_room
def failing() -> None:
    """End with an exception, whose traceback keeps the frame."""
    raise ValueError("as asked")


def test_what_is_called_is_as_before() -> None:
    assert [deep(levels) for levels in (0, 1, 150, 400)] == [0, 1, 150, 400]
    assert deep.__name__ == "deep"
    assert deep.__doc__ == "Go down."


def test_exceptions_pass() -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match="as asked"):
            failing()


def test_every_play_has_room() -> None:
    for method in (Bench.play, Bench.lend):
        assert method.__code__.co_stacksize == STACK_SLOTS
