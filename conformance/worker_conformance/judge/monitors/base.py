"""What every monitor is: a watcher of Traces with an ID, a requirement and a witness.

A monitor sees each entry after the facts in it were taken in. It counts how often its precondition
occurred (its witness) and collects breaches; it never influences the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.facts import Facts
from worker_conformance.judge.privacy.watch import PrivacyWatch
from worker_conformance.judge.trace import Entry
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import Level, Profile

BREACHES_MAX = 20
"""Breaches kept of one monitor in one Trace; the first is what a person needs."""


@frozen
class MonitorInfo:
    """A monitor's permanent identity.

    `reached` says in words what its witness counts, `needs` which trigger has to be produced, in
    the words of a vector's `needs`, `also` further requirements that it judges: a Worker that
    breaks one of them alone fails it.
    """

    check_id: str
    title: str
    requirement: str
    level: Level
    profile: Profile
    reached: str
    needs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@frozen
class Breach:
    """One place where the requirement was broken."""

    index: int
    expected: str
    observed: str


@frozen
class Context:
    """What a monitor may know besides the Trace: declared parameters, names, markers.

    `name_of` turns a URI into its short name, `markers` maps each Group to the texts that belong
    to it alone, `secrets` to those of them that are credentials. `privacy` watches the same Trace;
    a Context is made for one Trace.
    """

    parameters: Parameters
    name_of: Callable[[str], str | None]
    markers: Mapping[str, tuple[str, ...]]
    secrets: Mapping[str, tuple[str, ...]]
    privacy: PrivacyWatch = field(init=False, eq=False, repr=False)

    @privacy.default
    def _privacy(self) -> PrivacyWatch:
        return PrivacyWatch(self.markers, self.secrets, self.name_of)

    def short(self, uri: str | None) -> str:
        """The short name of a URI, or the URI."""
        return (self.name_of(uri) or uri) if uri else "?"


@define
class Monitor:
    """Base of all monitors; a subclass overrides the hooks it needs.

    `facts` is what has been delivered, the entry at hand included.
    """

    info: MonitorInfo
    context: Context
    facts: Facts
    witness: int = 0
    breaches: list[Breach] = field(factory=list)

    def stimulus(self, entry: Entry) -> None:
        """A message to the Worker; its facts are already known."""

    def effect(self, entry: Entry) -> None:
        """Something that the Worker did."""

    def note(self, entry: Entry) -> None:
        """A note of the suite."""

    def finish(self) -> None:
        """The Trace has ended."""

    def granted(self, effect: JsonObject) -> bool:
        """Whether a `run` names a lease that was granted for its WorkItem.

        Anything else is no work that runs, whatever it calls itself, and no witness.
        """
        lease = self.facts.leases.now(text(effect, "leaseId"))
        return lease is not None and lease.work_item_id == text(effect, "workItemId")

    def breach(self, entry: Entry, expected: str, observed: str) -> None:
        """Record a breach at this entry."""
        if len(self.breaches) < BREACHES_MAX:
            self.breaches.append(Breach(entry.index, expected, observed))


def text(message: JsonObject, member: str) -> str:
    """A string member, or an empty text."""
    value = message.get(member)
    return value if isinstance(value, str) else ""
