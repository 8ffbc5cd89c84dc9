"""Numbers that a Group sees, and what they tell of the work that others have waiting.

Compares a Group's views of worlds that differ in one thing, the backlog of the others. A number
that follows the backlog one for one is the global position under another name; what can be inferred
from all the rest is measured in bits. Never plays.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import log2

from attrs import frozen

from worker_conformance.documents.json_types import JsonValue
from worker_conformance.judge.privacy.views import MADE_BY_WORKER, Glimpse
from worker_conformance.scenario.clock import moment_of

FOLLOWS_SHARE = 0.5
"""Part of the swept backlogs over which a number has to follow, without a break."""

FOLLOWS_MIN = 5
"""Backlogs, at least: three numbers in a row happen."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:(\d\d)(?:\.(\d+))?(?:Z|[+-]\d\d:\d\d)")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[a-z]+")

_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_NUMERALS = {
    word: number for words in (_CARDINALS, _ORDINALS) for number, word in enumerate(words.split())
}

_MINUTE = 60_000_000

_INSTANT = "(instant "
"""A time as a whole: no number that anybody reads, but what others are compared with."""

EXEMPT = frozenset({"queuedItems"})
"""Presence must carry it (MWP-IDN-006 against its schema): a reading of its own judges it."""


@frozen
class Following:
    """A number that is the others' backlog at a constant distance."""

    place: str
    offset: int
    sign: int
    backlogs: tuple[int, ...]

    def __str__(self) -> str:
        """For a report."""
        swept = f"from {self.backlogs[0]} to {self.backlogs[-1]}"
        if self.sign < 0:
            return f"{self.place} is {self.offset} minus the backlog, {swept}"
        distance = f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}" if self.offset else ""
        return f"{self.place} is the backlog{distance}, {swept}"


Numbers = Mapping[str, int]
"""Every number of a view by the place where it stands."""


def numbers_of(view: Sequence[Glimpse], *, exempt: frozenset[str] = EXEMPT) -> Numbers:
    """Every number in a view, its texts, lengths and counts included; identifiers left out."""
    seen: Counter[str] = Counter()
    found: dict[str, int] = {}
    for glimpse in view:
        seen[glimpse.what] += 1
        where = f"{glimpse.what} #{seen[glimpse.what]}"
        for place, number in _numbers(json.loads(glimpse.text), "", exempt):
            found[f"{where} {place}"] = number
    return found


def _numbers(value: JsonValue, path: str, exempt: frozenset[str]) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _numbers(inner, f"{path}/{name}", exempt)
        return
    member = path.rpartition("/")[2]
    if member in exempt or member.lower().endswith(MADE_BY_WORKER):
        return
    if isinstance(value, list):
        yield f"{path} (how many)", len(value)
        for place, inner in enumerate(value):
            yield from _numbers(inner, f"{path}/{place}", exempt)
    elif isinstance(value, str):
        yield from ((f"{path} {what}", number) for what, number in _in_text(value))
    elif isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
        yield path, int(value)


def _in_text(text: str) -> Iterator[tuple[str, int]]:
    """The numbers in a text. Of a time only seconds and fractions: the rest is an estimate."""
    times = list(_TIME.finditer(text))
    for place, one in enumerate(times):
        yield f"{_INSTANT}{place})", _instant(one[0])
        yield f"(seconds {place})", int(one[1])
        for digits in (3, 6, 9):
            fraction = (one[2] or "").ljust(digits, "0")
            if not fraction[digits:].strip("0"):
                yield f"(fraction {place} in 1e-{digits} s)", int(fraction[:digits])
    rest = _TIME.sub(" ", text)
    if not times:
        yield "(length)", len(text)
    for place, digits_found in enumerate(_DIGITS.findall(rest)):
        yield f"(number {place})", int(digits_found)
    words = _WORD.findall(rest.lower())
    named = [_NUMERALS[word] for word in words if word in _NUMERALS]
    yield from ((f"(numeral {place})", number) for place, number in enumerate(named))


def _instant(text: str) -> int:
    return moment_of(text.upper()) or 0


# --- following ------------------------------------------------------------------------


def following(swept: Mapping[int, Numbers]) -> Following | None:
    """The first number that follows the backlog one for one, upwards or downwards."""
    backlogs = sorted(swept)
    every = (place for numbers in swept.values() for place in numbers if _INSTANT not in place)
    places = dict.fromkeys(every)
    wanted = max(FOLLOWS_MIN, round(FOLLOWS_SHARE * len(backlogs)))
    for place in places:
        series = [(backlog, swept[backlog].get(place)) for backlog in backlogs]
        for sign in (1, -1):
            offset, run = _longest(series, sign)
            if len(run) >= wanted and not _is_a_time(place, run, swept):
                return Following(place, offset, sign, run)
    return None


def _is_a_time(place: str, run: Sequence[int], swept: Mapping[int, Numbers]) -> bool:
    """Whether seconds follow because the whole time does: an estimate that grows with the wait."""
    if "(seconds " not in place:
        return False
    whole = place.replace("(seconds ", _INSTANT)
    times = [(backlog, swept[backlog].get(whole, 0)) for backlog in run]
    steps = {(later[1] - sooner[1]) / (later[0] - sooner[0]) for sooner, later in pairwise(times)}
    return len(steps) == 1 and min(steps) >= _MINUTE


def _longest(series: Sequence[tuple[int, int | None]], sign: int) -> tuple[int, tuple[int, ...]]:
    """The longest unbroken stretch at a constant distance: the distance, and its backlogs."""
    best: tuple[int, tuple[int, ...]] = (0, ())
    run: list[int] = []
    distance: int | None = None
    for backlog, number in series:
        here = None if number is None else number - sign * backlog
        if here is None or here != distance:
            run = []
        distance = here
        if here is not None:
            run.append(backlog)
            if len(run) > len(best[1]):
                best = (here, tuple(run))
    return best


def ordering(swept: Mapping[int, Numbers]) -> str | None:
    """A place, times included, whose value grows or falls with every step of the backlog.

    Whoever has seen a few of its values can read off all others.
    """
    rows = [swept[backlog] for backlog in sorted(swept)]
    shared = [place for place in rows[0] if all(place in row for row in rows)]
    for place in shared:
        steps = [later[place] - sooner[place] for sooner, later in pairwise(rows)]
        if all(step > 0 for step in steps) or all(step < 0 for step in steps):
            return place
    return None


# --- inference ------------------------------------------------------------------------


def bits(observed: Sequence[Hashable]) -> float:
    """What observations tell of which of as many equally likely backlogs it was, in bits."""
    total = len(observed)
    return log2(total) - sum(n * log2(n) for n in Counter(observed).values()) / total
