"""What a report shows beside a verdict: marks on a timeline, two views, windows of estimates.

Plain values, small enough for every failure of a run to carry. Whoever plays fills them in, and
the reports draw them; neither what they mean nor a verdict is decided here.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class MarkKind(StrEnum):
    """What a mark on a timeline stands for."""

    START = "start"
    """A session was opened."""
    CRASH = "crash"
    """The Worker was killed, was stopped, or lost its disk."""
    CUT = "cut"
    """A link was cut."""
    HEALED = "healed"
    """A link was healed."""
    EVENT = "event"
    """Events were delivered to the Worker."""
    COMMAND = "command"
    """A Command of the Worker."""
    REFUSED = "refused"
    """The Group Authority refused a Command."""
    POSITION = "position"
    """ACK or SUBSCRIBE: what the Worker says of its Cursor."""
    ESTIMATE = "estimate"
    """An estimate was published."""
    GRANTED = "granted"
    """An Execution Lease was granted: a bar begins in the Group's lane."""
    ENDED = "ended"
    """An Execution Lease ended, or its session did: the bar ends."""
    RUN = "run"
    """Work began in a Capacity Slot: a bar begins in the slot's row."""
    RELEASED = "released"
    """The Capacity Slot was given back: the bar ends."""
    SLOT = "slot"
    """Anything else about a Capacity Slot: `preempt`, `pause`, reports of the executor."""
    OTHER = "other"


@frozen
class Mark:
    """One thing that happened, in the order of the Trace.

    `at` is virtual time in seconds since the scenario's epoch; `times` such things
    happened in a row, the last of them at `until`. `group` and `slot` name lane and row, and are
    empty where the mark is about neither. `who` is `suite` or `Worker`.
    """

    at: float
    kind: MarkKind
    who: str
    text: str
    group: str = ""
    slot: str = ""
    times: int = 1
    until: float = 0.0


@frozen
class Timeline:
    """A history up to the moment at which it went wrong.

    `groups` and `slots` are all that there are, in order. `ends_at` is in seconds of virtual time.
    `left_out` counts marks that were dropped after the first `left_out_after`; `last_breaks` says
    that the last mark is itself the violation, not only the last thing before it was noticed.
    """

    groups: tuple[str, ...]
    slots: tuple[str, ...]
    marks: tuple[Mark, ...]
    ends_at: float
    left_out: int = 0
    left_out_after: int = 0
    last_breaks: bool = False


@frozen
class ViewPair:
    """The same place in a Group's view of two worlds; None where one of them shows nothing.

    `at` is virtual time in seconds in the plain and in the varied world. The texts are cut to where
    they differ: `before` characters are left out in front, `after` behind.
    """

    what: str
    at: tuple[float | None, float | None]
    plain: str | None
    varied: str | None
    before: int = 0
    after: int = 0


@frozen
class EstimateWindow:
    """One published estimate of waiting work, and the start that followed.

    Seconds of virtual time. `started` is None where the work did not start while it was looked at;
    `scene` names the world where a check plays several.
    """

    work: str
    published: float
    earliest: float
    latest: float
    confidence: float | None
    started: float | None
    scene: str = ""

    @property
    def came_true(self) -> bool | None:
        """Whether the work started within the window; None where it never started."""
        return None if self.started is None else self.earliest <= self.started <= self.latest
