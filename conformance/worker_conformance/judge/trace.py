"""The Trace: one ordered list of everything that crossed the Port, with virtual time.

Records stimuli, effects and the suite's own notes (what the Authority accepted or refused,
crashes, moments of rest). Never interprets them: monitors and conditions do. A Trace can be
written to JSON lines and judged again without the Worker.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import cast

from attrs import field, frozen

from worker_conformance.documents.json_types import JsonObject


class EntryKind(StrEnum):
    """Who said it: the suite to the Worker, the Worker to the suite, the suite to the reader."""

    STIMULUS = "stimulus"
    EFFECT = "effect"
    NOTE = "note"


class NoteKind(StrEnum):
    """What the suite notes beside the messages (member `note` of the body)."""

    APPENDED = "appended"
    """The Authority appended an Event. Members: `group`, `sequence`, `kind`, `work` (or null),
    `by` (`worker` or `organization`), `state` (of the WorkItem, or null), `ours` (whether this
    Worker owns it now), `lease` (ID of the Execution Lease that the Event opened, or null),
    `actionId` (of the Worker's Command, or null); `misfiled` (the Event's ID) where it tells of
    another Group or of another Agent's Membership, and nothing follows from it."""
    REFUSED = "refused"
    """The Authority answered a Command with an ERROR. Members: `group`, `kind`, `work`,
    `actionId`, `code`."""
    SWALLOWED = "swallowed"
    """A frame of the Worker reached nobody. Members: `group` (or null), `reason`."""
    REPEATED = "repeated"
    """A byte-equal retry of an accepted Command. Members: `group`, `kind`, `actionId`."""
    CRASHED = "crashed"
    STOPPED = "stopped"
    WIPED = "wiped"
    LINK = "link"
    """Members: `state`, `groups`."""
    REST = "rest"
    """Everything of this instant has been said; the clock moves next."""
    FORGED = "forged"
    """The next frame is forged and states no fact. Members: `frameId`, `how`."""
    MARK = "mark"
    STDERR = "stderr"
    """Members: `text`."""


@frozen
class Entry:
    """One line of the Trace.

    `call` counts the suite's calls to the Worker: a stimulus and the effects that answered it
    share it. `at` is virtual time in microseconds since the scenario's epoch.
    """

    index: int
    call: int
    at: int
    kind: EntryKind
    body: JsonObject


@frozen(eq=False)
class Trace:
    """Everything that happened, in order; grows only at its end.

    `about` is what a later judging needs and a running one has at hand: the vector's text and the
    Worker's declaration.
    """

    scenario_id: str
    seed: int
    about: JsonObject = field(factory=dict)
    _entries: list[Entry] = field(factory=list)

    def __iter__(self) -> Iterator[Entry]:
        """Oldest first."""
        return iter(self._entries)

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def since(self, index: int) -> Sequence[Entry]:
        """The entries from `index` on."""
        return self._entries[index:]

    def append(self, call: int, at: int, kind: EntryKind, body: JsonObject) -> Entry:
        """Add one entry and return it."""
        entry = Entry(len(self._entries), call, at, kind, body)
        self._entries.append(entry)
        return entry

    def to_lines(self) -> Iterator[str]:
        """JSON lines: a header, then one line an entry."""
        yield json.dumps({"scenario": self.scenario_id, "seed": self.seed, "about": self.about})
        for entry in self._entries:
            yield json.dumps(
                {"call": entry.call, "at": entry.at, "kind": entry.kind.value, "body": entry.body}
            )

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> Trace:
        """Read what `to_lines` wrote. Raises ValueError or KeyError on anything else."""
        rows = iter(lines)
        header = json.loads(next(rows))
        trace = cls(str(header["scenario"]), int(header["seed"]), header.get("about", {}))
        for line in rows:
            row = json.loads(line)
            body = cast(JsonObject, row["body"])
            trace.append(int(row["call"]), int(row["at"]), EntryKind(row["kind"]), body)
        return trace
