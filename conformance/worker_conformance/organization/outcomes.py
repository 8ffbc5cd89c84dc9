"""What becomes of a Command: accepted, refused, repeated, or no answer at all.

Plain values for the runner to note and deliver. Never decides anything.
"""

from __future__ import annotations

from attrs import field, frozen

from worker_conformance.documents.json_types import JsonObject


@frozen
class About:
    """Which Command an outcome answers, as far as it could be read."""

    kind: str = ""
    action_id: str | None = None
    group: str | None = None
    work: str | None = None
    work_item_id: str | None = None


@frozen
class Appended:
    """One Event that was appended to a Group's log, with what a Trace notes about it.

    `by` is `worker` or `organization`; `state` and `ours` speak of the WorkItem after the Event;
    `lease` is the Execution Lease that the Event opened. `misfiled`: it tells of another Group,
    where alone it would hold, or of another Agent.
    """

    sequence: int
    kind: str
    work: str | None
    by: str
    state: str | None
    ours: bool
    lease: str | None
    action_id: str | None
    event: JsonObject = field(repr=False)
    misfiled: bool = False


@frozen
class Accepted:
    """The transition happened; these Events say so."""

    about: About
    appended: tuple[Appended, ...]


@frozen
class Refused:
    """Nothing happened; `error` is the normative error document."""

    about: About
    code: str
    error: JsonObject


@frozen
class Repeated:
    """The Command was accepted before, byte for byte; `events` are what it caused then."""

    about: About
    events: tuple[JsonObject, ...]


@frozen
class Silent:
    """The scenario wants this Command to stay unanswered; nothing happened."""

    about: About


Outcome = Accepted | Refused | Repeated | Silent
