"""A Group's view of a run, and how two views of two worlds differ.

A view is everything that one Group, and the slots that work for it, get to see. Identifiers, nonces
and signatures that the Worker made itself are numbered by first appearance, everything else stays
byte for byte. Never plays and never decides how bad a difference is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import zip_longest

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.evidence import ViewPair
from worker_conformance.judge.privacy.provenance import Provenance
from worker_conformance.judge.privacy.routes import EVERYBODY, Route, deliveries
from worker_conformance.judge.trace import Entry, EntryKind
from worker_conformance.scenario.clock import SECOND, elapsed

MADE_BY_WORKER = ("id", "ids", "key", "nonce", "scope", "hash")
"""Endings of member names under which a Worker puts identifiers and digests of its own."""

STAMPS = frozenset(
    {"issuedAt", "sentAt", "createdAt", "signedAt", "lastHeartbeat", "lastCalculatedAt"}
)
"""Members that say when a thing was said, not what."""

AROUND = 48
"""Characters shown before and after the first differing byte, in a line."""

AROUND_IN_A_TABLE = 160
"""The same where there is room for more than a line."""

TIME_WIDTH = 11  # as in a transcript
SHOWN_BEFORE = 5
SHOWN_DIFFERENCES = 3


@frozen
class Glimpse:
    """One thing that a Group sees. `text` is canonical; `timeless` is it without its stamps."""

    at: int
    what: str
    text: str
    timeless: str


class Kind(StrEnum):
    """How two views differ."""

    CONTENT = "content"
    ORDER = "order or time"


@frozen
class Difference:
    """Two views differ: how, where first, and both side by side, as lines and as pairs."""

    kind: Kind
    what: str
    lines: tuple[str, ...]
    pairs: tuple[ViewPair, ...] = ()


def view_of(entries: Iterable[Entry], group_id: str) -> tuple[Glimpse, ...]:
    """Everything that reaches one Group, in order."""
    teller = _Teller(group_id)
    return tuple(glimpse for entry in entries for glimpse in teller.take(entry))


@define
class _Teller:
    """Follows a Trace on behalf of one Group."""

    group_id: str
    _provenance: Provenance = field(factory=Provenance)
    _numbers: dict[str, str] = field(factory=dict)

    def take(self, entry: Entry) -> Iterator[Glimpse]:
        if entry.kind is EntryKind.STIMULUS:
            self._provenance.told(entry.body)
        if entry.kind is not EntryKind.EFFECT:
            return
        for delivery in deliveries(entry.body, self._provenance.homes):
            if delivery.group_id in (self.group_id, EVERYBODY):
                self._learn(delivery.document, "")
                document = self._numbered(delivery.document)
                yield Glimpse(
                    entry.at,
                    _told(delivery.route, delivery.document),
                    _canonical(document),
                    _canonical(_without_stamps(document)),
                )

    def _learn(self, value: JsonValue, member: str) -> None:
        """Number what the Worker made: identifiers by their members' names, and signatures."""
        if isinstance(value, dict):
            for name, inner in value.items():
                signed = member == "signature" and name == "value"
                self._learn(inner, "key" if signed else name)
        elif isinstance(value, list):
            for inner in value:
                self._learn(inner, member)
        elif (
            isinstance(value, str)
            and member.lower().endswith(MADE_BY_WORKER)
            and not self._provenance.is_known(self.group_id, value)
        ):
            self._numbers.setdefault(value, f"<{len(self._numbers) + 1}>")

    def _numbered(self, value: JsonValue) -> JsonValue:
        if isinstance(value, dict):
            return {name: self._numbered(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._numbered(inner) for inner in value]
        return self._numbers.get(value, value) if isinstance(value, str) else value


def _told(route: Route, document: JsonObject) -> str:
    kind = find(document, "command", "kind") or document.get("frameType") or document.get("type")
    return f"{route}: {kind}"


def _canonical(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _without_stamps(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {
            name: "" if name in STAMPS else _without_stamps(inner) for name, inner in value.items()
        }
    return [_without_stamps(inner) for inner in value] if isinstance(value, list) else value


# --- comparing ------------------------------------------------------------------------


def compare(plain: Sequence[Glimpse], varied: Sequence[Glimpse]) -> Difference | None:
    """How the views of two worlds differ, or None where they are the same bytes."""
    if plain == varied:
        return None
    contents = [Counter(one.timeless for one in view) for view in (plain, varied)]
    kind = Kind.ORDER if contents[0] == contents[1] else Kind.CONTENT
    rows = list(zip_longest(plain, varied))
    first = next(place for place, (one, other) in enumerate(rows) if not _same(one, other, kind))
    one, other = rows[first]
    shown = one or other
    differing = [row for row in rows[first:] if not _same(*row, kind)]
    return Difference(
        kind,
        shown.what if shown else "",
        tuple(_side_by_side(rows, first, kind)),
        tuple(_view_pair(*row) for row in differing[:SHOWN_DIFFERENCES]),
    )


def _same(one: Glimpse | None, other: Glimpse | None, kind: Kind) -> bool:
    if one is None or other is None:
        return False
    return one == other if kind is Kind.ORDER else one.timeless == other.timeless


Row = tuple[Glimpse | None, Glimpse | None]


def _side_by_side(rows: Sequence[Row], first: int, kind: Kind) -> Iterator[str]:
    skipped = max(0, first - SHOWN_BEFORE)
    if skipped:
        yield f"{'':>11}  …       {skipped} equal entries left out"
    for one, _ in rows[skipped:first]:
        if one is not None:
            yield f"{elapsed(one.at):>11}  both    {one.what}"
    differing = [row for row in rows[first:] if not _same(*row, kind)]
    for one, other in differing[:SHOWN_DIFFERENCES]:
        yield from _pair(one, other)
    left = len(differing) - SHOWN_DIFFERENCES
    if left > 0:
        yield f"{'':>11}  …       {left} more that differ"


def _pair(one: Glimpse | None, other: Glimpse | None) -> Iterator[str]:
    """Both worlds' entries, cut to where they differ, and a line that marks the bytes."""
    texts = [glimpse.text if glimpse else "" for glimpse in (one, other)]
    place = _first_difference(*texts)
    start, end = max(0, place - AROUND), place + AROUND
    cut = [text[start:end] for text in texts]
    whens = [elapsed(glimpse.at) if glimpse else "" for glimpse in (one, other)]
    width = max(TIME_WIDTH, *map(len, whens))
    for name, glimpse, when, text in zip(
        ("plain", "varied"), (one, other), whens, cut, strict=True
    ):
        what = f"{glimpse.what}  …{text}…" if glimpse else "nothing"
        yield f"{when:>{width}}  {name:<6}  {what}"
    if one is not None and other is not None and one.what == other.what:
        marks = "".join(" " if a == b else "^" for a, b in zip_longest(*cut, fillvalue=""))
        yield f"{'':{width}}  {'':<6}  {'':{len(one.what)}}   {marks}".rstrip()


def _view_pair(one: Glimpse | None, other: Glimpse | None) -> ViewPair:
    """Both worlds' entries for a table."""
    texts = [glimpse.text if glimpse else "" for glimpse in (one, other)]
    place = _first_difference(*texts)
    start, end = max(0, place - AROUND_IN_A_TABLE), place + AROUND_IN_A_TABLE
    return ViewPair(
        what=" / ".join(dict.fromkeys(glimpse.what for glimpse in (one, other) if glimpse)),
        at=(one.at / SECOND if one else None, other.at / SECOND if other else None),
        plain=texts[0][start:end] if one else None,
        varied=texts[1][start:end] if other else None,
        before=start,
        after=max(0, max(map(len, texts)) - end),
    )


def _first_difference(one: str, other: str) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
