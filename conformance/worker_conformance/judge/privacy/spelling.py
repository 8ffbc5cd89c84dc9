"""A document as the texts that a marker may be spelled in: one value, or pieces over several.

Joins what a reader could join. Never decides what the joined text means.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.judge.privacy.disguises import squeeze

PIECE_CHARACTERS_MAX = 40
"""Longer values are no pieces: a marker is shorter than that."""

SEPARATOR = "|"

_WORD = re.compile(r"[0-9a-z]+")


@define(slots=False)
class Spelling:
    """The leaves of a document: values in order, member names, and short values by member."""

    values: list[str] = field(factory=list)
    numbers: list[int] = field(factory=list)
    names: set[str] = field(factory=set)
    short: dict[str, list[str]] = field(factory=dict)

    @cached_property
    def joined(self) -> str:
        """All values one after the other, squeezed: what is split over neighbours is whole here.

        Behind it the short values of each member, for pieces with something else in between.
        """
        rows = (values for values in self.short.values() if len(values) > 1)
        parts = ["".join(self.values), *("".join(row) for row in rows)]
        return SEPARATOR.join(squeeze(part) for part in parts)

    def words(self) -> set[str]:
        """The words of short values: whole pieces of something longer, in any order."""
        return {word for row in self.short.values() for one in row for word in _words(one)}


@lru_cache(maxsize=8192)  # most short values are names, and come again and again
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


def spell(document: JsonObject) -> Spelling:
    """Take a document apart."""
    spelling = Spelling()
    _take_members(document, spelling)
    return spelling


def _take_members(value: JsonObject, into: Spelling) -> None:
    into.names.update(value)
    for name, inner in value.items():
        if isinstance(inner, str):
            _take_text(inner, name, into)
        elif inner is not None:
            _take(inner, name, into)


def _take(value: JsonValue, member: str, into: Spelling) -> None:
    if isinstance(value, dict):
        _take_members(value, into)
    elif isinstance(value, list):
        for inner in value:
            _take(inner, member, into)
    elif isinstance(value, str):
        _take_text(value, member, into)
    elif value is not None and not isinstance(value, bool):
        _take_text(repr(value), member, into)
        if isinstance(value, int):
            into.numbers.append(value)


def _take_text(text: str, member: str, into: Spelling) -> None:
    into.values.append(text)
    if len(text) <= PIECE_CHARACTERS_MAX:
        into.short.setdefault(member, []).append(text)
