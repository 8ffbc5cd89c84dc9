"""Finding one Group's markers in a document that another receives, in any disguise but a digest.

One automaton looks for all markers at once. Never decides what may be received.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache

from ahocorasick_rs import AhoCorasick
from attrs import define, field, frozen

from worker_conformance.judge.privacy.disguises import Needle, needles, squeeze
from worker_conformance.judge.privacy.spelling import SEPARATOR, Spelling

NEEDLE_HEAD = 16
"""Characters that the automaton looks for; the rest is compared where they are found."""

PIECE_MIN = 8
"""Characters of the longest piece of a marker that is split over values in no order."""

PIECE_LEAST = 4
"""Characters of its shortest piece: single digits would fit by chance."""

_TAG = re.compile(r"[0-9a-f]{16}")


@frozen
class Found:
    """A marker, whose it is, and how it was disguised."""

    owner: str
    marker: str
    how: str


_Wanted = tuple[Needle, str, str]
"""A needle, and the owner and marker that it is a disguise of."""


@define(eq=False, slots=False)
class MarkerSearch:
    """Searches for the markers of each Group: texts that belong to it alone."""

    markers: Mapping[str, tuple[str, ...]]
    _harmless: set[str] = field(factory=set)

    def find(self, spelling: Spelling) -> Iterator[Found]:
        """Every marker in a document that was taken apart."""
        yield from self.find_in(spelling.joined)
        new = spelling.names - self._harmless
        if new:
            found = list(self._in_names(new))
            self._harmless |= set() if found else new
            yield from found
        yield from self._in_pieces(spelling.words())

    def find_in(self, squeezed: str) -> Iterator[Found]:
        """Every marker in a squeezed text; a disguise that is repeated counts once."""
        hits = self._automaton.find_matches_as_indexes(squeezed, overlapping=True)
        done: set[int] = set()
        for index, start, _ in hits:
            if index in done:
                continue
            for needle, owner, marker in self._by_head[index]:
                if squeezed.startswith(needle.text, start):
                    done.add(index)
                    yield Found(owner, marker, needle.how)

    def _in_names(self, names: set[str]) -> Iterator[Found]:
        return self.find_in(SEPARATOR.join(squeeze(name) for name in sorted(names)))

    def _in_pieces(self, words: set[str]) -> Iterator[Found]:
        """Markers put together from whole words in any order, the longest of some length."""
        for word in words:
            for owner, marker in self._by_piece.get(word[:PIECE_MIN], ()):
                if word in marker and marker not in words and _covered(marker, words):
                    yield Found(owner, marker, "in pieces")

    # --- made once --------------------------------------------------------------------

    @cached_property
    def _essential(self) -> tuple[tuple[str, str], ...]:
        """Owners and markers, without those that contain the owner's own tag anyway."""
        return tuple(
            (owner, marker)
            for owner, markers in self.markers.items()
            for marker in _shortest(dict.fromkeys(markers))
        )

    @cached_property
    def _heads(self) -> Mapping[str, list[_Wanted]]:
        heads: dict[str, list[_Wanted]] = {}
        for owner, marker in self._essential:
            for needle in needles(marker):
                row = heads.setdefault(needle.text[:NEEDLE_HEAD], [])
                row.append((needle, owner, marker))
        return heads

    @cached_property
    def _by_head(self) -> tuple[list[_Wanted], ...]:
        return tuple(self._heads.values())

    @cached_property
    def _automaton(self) -> AhoCorasick:
        return AhoCorasick(list(self._heads))

    @cached_property
    def _by_piece(self) -> Mapping[str, list[tuple[str, str]]]:
        pieces: dict[str, list[tuple[str, str]]] = {}
        for owned in self._essential:
            for first in range(len(owned[1]) - PIECE_MIN + 1):
                pieces.setdefault(owned[1][first : first + PIECE_MIN], []).append(owned)
        return pieces


def search_for(markers: Mapping[str, tuple[str, ...]]) -> MarkerSearch:
    """The search for these markers: courses of one world have the same, and share it."""
    return _search_for(tuple(markers.items()))


@lru_cache(maxsize=64)
def _search_for(markers: tuple[tuple[str, tuple[str, ...]], ...]) -> MarkerSearch:
    return MarkerSearch(dict(markers))


def _shortest(markers: Mapping[str, None]) -> Iterator[str]:
    for marker in markers:
        if not any(tag in markers and tag != marker for tag in _TAG.findall(marker)):
            yield marker


def _covered(marker: str, words: set[str]) -> bool:
    """Whether whole words can be laid end to end to spell the marker."""
    reached = {0}
    for end in range(PIECE_LEAST, len(marker) + 1):
        starts = range(end - PIECE_LEAST + 1)
        if any(start in reached and marker[start:end] in words for start in starts):
            reached.add(end)
    return len(marker) in reached
