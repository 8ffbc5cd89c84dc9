"""Finding one Group's markers in what another receives, in the disguises a leak usually takes.

Used by the privacy monitors and by the `leaks` condition. Never decides what may be received.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.reading import command_of


@define
class MarkerSearch:
    """Searches for the markers of each Group: texts that belong to it alone."""

    markers: Mapping[str, tuple[str, ...]]
    _needles: dict[str, tuple[tuple[str, str], ...]] = field(factory=dict)

    def find(self, owner: str, haystack: str) -> str | None:
        """The first marker of `owner` in `haystack`, or None."""
        folded = haystack.lower()
        return next((one for one, needle in self._needles_of(owner) if needle in folded), None)

    def find_foreign(self, group: str, haystack: str) -> tuple[str, str] | None:
        """`(owning Group, marker)` of the first marker that is not of `group`, or None."""
        others = (owner for owner in self.markers if owner != group)
        found = ((owner, self.find(owner, haystack)) for owner in others)
        return next(((owner, marker) for owner, marker in found if marker is not None), None)

    def _needles_of(self, owner: str) -> tuple[tuple[str, str], ...]:
        if owner not in self._needles:
            self._needles[owner] = tuple(
                (marker, needle)
                for marker in self.markers.get(owner, ())
                for needle in _disguises(marker)
            )
        return self._needles[owner]


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
