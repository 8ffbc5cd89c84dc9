"""Programs: what is to happen in two courses of one world, and in which of them.

A property that compares two courses writes one program; an action stands in both courses or in one.
So whoever makes the program shorter makes both courses shorter. Never plays.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from attrs import frozen

from worker_conformance.scenario.generation import Stage
from worker_conformance.scenario.model import Action, ActKind, Publish, Truncate
from worker_conformance.suite.properties.stagehand import Cue


class Where(Enum):
    """In which course an action happens."""

    BOTH = "both"
    PLAIN = "plain"
    """Only in the course that the other is compared with."""
    VARIED = "varied"


@frozen
class BackFromTheEnd:
    """The cue of a `truncate` that leaves so many Events online, however long the log is then."""

    group: str
    left: int

    def __call__(self, stage: Stage) -> tuple[Action, ...]:
        """The action, where the log is long enough for it."""
        through = stage.groups[self.group].events - self.left
        return (Truncate(self.group, through),) if through > 0 else ()


@frozen
class Line:
    """One cue and the courses it belongs to."""

    cue: Cue
    where: Where = Where.BOTH


Program = tuple[Line, ...]


def lines(cues: Sequence[Cue], where: Where = Where.BOTH) -> Program:
    """Cues that all belong to the same courses."""
    return tuple(Line(cue, where) for cue in cues)


def course_of(program: Program, course: Where) -> Program:
    """What happens in one course."""
    return tuple(line for line in program if line.where in (Where.BOTH, course))


def unblocked_in(actions: Sequence[Action]) -> frozenset[str]:
    """The WorkItems that a program unblocks somewhere."""
    return frozenset(
        act.work
        for action in actions
        if isinstance(action, Publish)
        for acts in action.acts.values()
        for act in acts
        if act.kind is ActKind.UNBLOCK and act.work is not None
    )
