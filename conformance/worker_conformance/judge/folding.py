"""Folding a history: what comes round again and again is told once, with how often.

A Worker that renews a lease every two minutes and a half fills a history with three lines that
differ in nothing but numbers. Only repetition is folded; nothing else is left out or judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from attrs import frozen

PERIOD_MAX = 8
"""Items in what comes round: a Command, its Event and an ACK for each of two or three items."""

ROUNDS_MIN = 4
"""Rounds from which it is shorter to say how many there are: the first and the last are told."""

Item = TypeVar("Item")


@frozen
class Rounds:
    """In the place of `rounds` rounds of `items` items each that are not told."""

    rounds: int
    items: int


def folded(
    items: Sequence[Item], shape_of: Callable[[Item], str]
) -> Iterator[tuple[int, Item] | Rounds]:
    """The items that are told, each with its index, and what stands for the others.

    Two items come round if their shapes are equal.
    """
    shapes = [shape_of(item) for item in items]
    at = 0
    while at < len(items):
        period, rounds = _rounds_at(shapes, at)
        if rounds < ROUNDS_MIN:
            yield at, items[at]
            at += 1
            continue
        last = at + period * (rounds - 1)
        yield from ((place, items[place]) for place in range(at, at + period))
        yield Rounds(rounds - 2, period)
        yield from ((place, items[place]) for place in range(last, last + period))
        at = last + period


def _rounds_at(shapes: Sequence[str], start: int) -> tuple[int, int]:
    """The period that comes round most often from `start` on, and how often it does."""
    best = (1, 1)
    for period in range(1, PERIOD_MAX + 1):
        one = shapes[start : start + period]
        rounds = 1
        while shapes[start + rounds * period : start + (rounds + 1) * period] == one:
            rounds += 1
        if rounds >= ROUNDS_MIN and rounds * period > best[0] * best[1]:
            best = (period, rounds)
    return best


def without_numbers(text: str) -> str:
    """The shape of a line: times and sequence numbers are gone, and names such as `a1` stay."""
    return _NUMBERS.sub("#", text)


_NUMBERS = re.compile(r"\d+(?=:)|(?<![A-Za-z0-9])\d+")


def in_a_row(words: Iterable[str]) -> str:
    """The words as a list in which a repeated one stands once: `accept, run 3 times, release`."""
    counted = [(word, sum(1 for _ in many)) for word, many in groupby(words)]
    return ", ".join(word if times == 1 else f"{word} {times} times" for word, times in counted)
