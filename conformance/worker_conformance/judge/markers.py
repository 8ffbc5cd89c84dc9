"""Finding one Group's markers in what another receives, in the disguises a leak usually takes.

Used by the privacy monitors and by the `leaks` condition. Never decides what may be received.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from functools import cached_property

from ahocorasick_rs import AhoCorasick
from attrs import frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.reading import command_of


@frozen(slots=False)
class MarkerSearch:
    """Searches for the markers of each Group: texts that belong to it alone."""

    markers: Mapping[str, tuple[str, ...]]

    def find(self, owner: str, haystack: str) -> str | None:
        """The first marker of `owner` in `haystack`, or None."""
        return next((marker for group, marker in self._found(haystack) if group == owner), None)

    def find_foreign(self, group: str, haystack: str) -> tuple[str, str] | None:
        """`(owning Group, marker)` of the first marker that is not of `group`, or None."""
        return next((found for found in self._found(haystack) if found[0] != group), None)

    def _found(self, haystack: str) -> Iterator[tuple[str, str]]:
        """`(owning Group, marker)` of every marker in a text, in one pass."""
        hits = self._automaton.find_matches_as_indexes(haystack.lower(), overlapping=True)
        return (self._owners[hit[0]] for hit in hits)

    @cached_property
    def _disguised(self) -> tuple[tuple[str, str, str], ...]:
        return tuple(
            (needle, owner, marker)
            for owner, markers in self.markers.items()
            for marker in markers
            for needle in _disguises(marker)
        )

    @cached_property
    def _owners(self) -> tuple[tuple[str, str], ...]:
        return tuple((owner, marker) for _, owner, marker in self._disguised)

    @cached_property
    def _automaton(self) -> AhoCorasick:
        return AhoCorasick([needle for needle, _, _ in self._disguised])


def _disguises(marker: str) -> Iterator[str]:
    """A marker as it is, reversed, in hex and in base64 at each alignment; all lower case."""
    raw = marker.encode()
    yield marker.lower()
    yield marker[::-1].lower()
    yield raw.hex()
    for shift in range(3):
        encoded = base64.urlsafe_b64encode(b"\0" * shift + raw).decode().rstrip("=")
        # The characters at either end also depend on the neighbours: leave them out.
        yield encoded[4 if shift else 0 : len(encoded) - 2].lower()


def bound_for(effect: JsonObject) -> tuple[str, str] | None:
    """`(groupId, text)` of a Command, estimate, decline or rejection that a Group will see."""
    content = command_of(effect)
    if content is None and effect.get("type") in {"disclose", "decline", "reject"}:
        content = effect
    group_id = content.get("groupId") if content is not None else None
    return (group_id, text_of(content or {})) if isinstance(group_id, str) else None


def in_a_slot(effect: JsonObject) -> tuple[str, str] | None:
    """`(groupId, text)` of a `run`: what the slot of that Group is given."""
    if effect.get("type") != "run":
        return None
    return str(effect.get("groupId")), text_of(effect)


def reaching(effect: JsonObject) -> Iterator[tuple[str, str]]:
    """`(groupId, text)` of whatever in this effect a Group, or a slot of it, gets to see."""
    for found in (bound_for(effect), in_a_slot(effect)):
        if found is not None:
            yield found


def text_of(document: JsonObject) -> str:
    """A document as one text, nothing escaped that needs no escaping."""
    return json.dumps(document, ensure_ascii=False)
