"""What came of a world in the end, and when two ends have to be the same.

The specification fixes what a Worker owes each Group, and leaves it free how to get there. So two
courses of the same world may differ in

* the order in which Groups and WorkItems were served (MWP-WRK-010 gives a bound, no order), and so
  in time, in preemptions, in the number of starts, leases and renewals;
* identifiers, nonces, signatures, times, the grouping of frames, and when ACKs are sent;
* the estimates that were disclosed;
* whether an offer was declined: commitment is the Worker's judgement of that moment (MWP-WRK-005);
* whether work is still under way whose Execution Lease ran out while the Worker could not hear of
  its renewal (MWP-WRK-013): it had to stop, and what then becomes of the work is not its to say.

They may not differ in what became of work that was given to the Worker under the same
circumstances, once nothing is left to be waited for: its state in the Group's own record, who owns
it, and whether it is being worked on. A WorkItem is compared if everything that was done to it was
done in the same state and under the same owner in both courses, if it was declined in neither, and
if all that it depends on can be compared too.

Never plays and never judges one course alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from worker_conformance.judge.trace import EntryKind, Trace
from worker_conformance.suite.properties.stagehand import Circumstance, Stagehand


@frozen
class WorkEnd:
    """What became of one WorkItem.

    `taken`: this Worker owned it at some time; `lapsed`: its lease ran out in a silent time.
    """

    state: str
    ours: bool
    works: bool
    taken: bool
    declined: bool
    circumstances: tuple[Circumstance, ...]
    lapsed: bool = False
    depends_on: tuple[str, ...] = ()

    def same_as(self, other: WorkEnd) -> bool:
        """Whether both courses led to the same."""
        return (self.state, self.ours, self.works) == (other.state, other.ours, other.works)

    def comparable_with(self, other: WorkEnd) -> bool:
        """Whether both courses owe the same."""
        free = self.declined or other.declined or self.lapsed or other.lapsed
        return self.circumstances == other.circumstances and not free

    def __str__(self) -> str:
        """As a report says it."""
        owner = "" if not self.ours else ", owned by the Worker"
        return f"{self.state}{owner}{', in a slot' if self.works else ''}"


@frozen
class Difference:
    """A WorkItem that ended otherwise than in the course it is compared with."""

    work: str
    wanted: WorkEnd
    seen: WorkEnd


Ends = Mapping[str, WorkEnd]


def ends_of(hand: Stagehand) -> Ends:
    """What became of every WorkItem that came into being."""
    stage, trace = hand.stage(), hand.world.trace
    declined = set(_declined(trace, hand))
    taken = {
        str(entry.body["work"])
        for entry in trace
        if entry.kind is EntryKind.NOTE and entry.body.get("ours") is True
    }
    return {
        name: WorkEnd(
            state=work.state,
            ours=work.ours,
            works=work.works,
            taken=name in taken,
            declined=name in declined,
            circumstances=tuple(hand.circumstances.get(name, ())),
            depends_on=work.plan.depends_on,
            lapsed=work.group in hand.silent and work.state == "active" and not work.running,
        )
        for name, work in stage.work.items()
        if work.state != "none"
    }


def compared(wanted: Ends, seen: Ends) -> tuple[str, ...]:
    """The WorkItems whose ends have to be the same, and that the Worker had to do with."""
    return tuple(
        name
        for name, end in wanted.items()
        if name in seen and end.taken and _is_comparable(name, wanted, seen)
    )


def _is_comparable(name: str, wanted: Ends, seen: Ends) -> bool:
    """Whether both courses owe the same, also of everything that this work waits for."""
    if name not in wanted or name not in seen:
        return name not in wanted and name not in seen
    if not wanted[name].comparable_with(seen[name]):
        return False
    return all(_is_comparable(one, wanted, seen) for one in wanted[name].depends_on)


def differences(wanted: Ends, seen: Ends) -> tuple[Difference, ...]:
    """The WorkItems among them that ended otherwise."""
    return tuple(
        Difference(name, wanted[name], seen[name])
        for name in compared(wanted, seen)
        if not wanted[name].same_as(seen[name])
    )


def _declined(trace: Trace, hand: Stagehand) -> Iterator[str]:
    name_of = hand.world.organization.names.name_of
    for entry in trace:
        if entry.kind is EntryKind.EFFECT and entry.body.get("type") == "decline":
            name = name_of(str(entry.body.get("workItemId")))
            if name is not None:
                yield name
