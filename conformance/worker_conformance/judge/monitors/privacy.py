"""Monitors of privacy: nothing of one Group reaches another, no credential leaves.

What is found where is the work of `judge.privacy`; here stands which requirement it breaks.
"""

from __future__ import annotations

from attrs import define, field

from worker_conformance.judge.monitors.base import Monitor, MonitorInfo
from worker_conformance.judge.privacy.routes import Route
from worker_conformance.judge.privacy.watch import Receipt
from worker_conformance.judge.trace import Entry
from worker_conformance.scenario.model import Level, Profile

_SAID = frozenset({Route.COMMAND, Route.ESTIMATE, Route.DECLINE, Route.REJECTION, Route.OPERATION})
_TO_A_GROUP = _SAID | {Route.POSITION}
_TO_A_SLOT = frozenset({Route.SLOT, Route.EXECUTOR})


@define
class _Receipts(Monitor):
    """A monitor of what Groups receive by some routes, while the Worker has several Groups."""

    def look(self, entry: Entry, routes: frozenset[Route], where: str) -> list[Receipt]:
        """Report every leak by these routes; returns what was received by them."""
        if len(self.context.markers) < 2:
            return []
        receipts = [one for one in self.context.privacy.receipts(entry) if one.route in routes]
        for receipt in receipts:
            for leak in receipt.leaks[:1]:
                self.breach(
                    entry,
                    f"nothing of another Group in {where} {self._receiver(receipt)}",
                    f"{receipt.route} holds {leak}",
                )
        return receipts

    def _receiver(self, receipt: Receipt) -> str:
        known = receipt.receiver in self.context.markers
        return f"Group {receipt.receiver}" if known else "every Group"


@define
class NothingOfAnotherGroup(_Receipts):
    """MWP-WRK-012: no name, content or assignment of another Group in anything sent to a Group."""

    def effect(self, entry: Entry) -> None:
        """Look at everything that is bound for a Group."""
        receipts = self.look(entry, _TO_A_GROUP, "what is bound for")
        self.witness += any(receipt.route in _SAID for receipt in receipts)


NOTHING_OF_ANOTHER_GROUP = MonitorInfo(
    check_id="MON-0015",
    title="Nothing of one Group in what another receives",
    requirement="WRK-012.d",
    level=Level.MUST,
    profile=Profile.DISCLOSURE,
    reached="something was sent to a Group while the Worker served another as well",
)


@define
class SlotsAreIsolated(_Receipts):
    """MWP-WRK-011, MWP-WRK-028: a slot holds only its own Group's material."""

    def effect(self, entry: Entry) -> None:
        """Look at the context of each `run` and at all else that a slot is told."""
        receipts = self.look(entry, _TO_A_SLOT, "the slot of")
        runs = any(receipt.route is Route.SLOT for receipt in receipts)
        self.witness += runs and self.granted(entry.body)


SLOTS_ARE_ISOLATED = MonitorInfo(
    check_id="MON-0016",
    title="A slot holds nothing of another Group",
    requirement="WRK-011.b",
    level=Level.MUST,
    profile=Profile.ISOLATION,
    reached="work ran while the Worker served another Group as well",
)


@define
class NoCredentialLeaves(Monitor):
    """MWP-AUT-002: no credential and no token's secret in anything but its own slot."""

    def effect(self, entry: Entry) -> None:
        """Look for the credentials of every Group, the receiver's own included."""
        for receipt in self.context.privacy.receipts(entry):
            self.witness += receipt.route is Route.COMMAND
            for leak in receipt.credentials[:1]:
                self.breach(
                    entry,
                    "no credential outside the context of a run",
                    f"{receipt.route} holds a credential of Group {leak.owner}, {leak.how}",
                )


NO_CREDENTIAL_LEAVES = MonitorInfo(
    check_id="MON-0017",
    title="No credential in anything but its own slot",
    requirement="AUT-002.a",
    level=Level.MUST,
    profile=Profile.ISOLATION,
    reached="the Worker sent a Command",
)


@define
class PresenceTellsNothing(_Receipts):
    """MWP-IDN-006: Presence, and whatever else a PING carries, names no Group."""

    def effect(self, entry: Entry) -> None:
        """Look at PING frames, which every Group may see."""
        receipts = self.look(entry, frozenset({Route.PRESENCE}), "a PING, which reaches")
        frame = entry.body.get("frame")
        self.witness += bool(receipts) and isinstance(frame, dict) and "presence" in frame


PRESENCE_TELLS_NOTHING = MonitorInfo(
    check_id="MON-0030",
    title="Presence names no Group and nothing of one",
    requirement="IDN-006.a",
    level=Level.MUST,
    profile=Profile.DISCLOSURE,
    reached="a Presence Record was sent while the Worker served two Groups",
    needs=("presence",),
)


@define
class LogsHoldNoContent(Monitor):
    """MWP-WRK-012, read strictly: a log holds neither content nor credentials of a Group."""

    _served: set[str] = field(factory=set)

    def effect(self, entry: Entry) -> None:
        """Count Groups that are told something: their work is what a log would be about."""
        for receipt in self.context.privacy.receipts(entry):
            if receipt.route is Route.COMMAND and receipt.receiver in self.context.markers:
                self._served.add(receipt.receiver)

    def note(self, entry: Entry) -> None:
        """Look at what the Worker wrote."""
        leak = self.context.privacy.in_log(entry)
        if leak is not None:
            self.breach(
                entry, "no content and no credential of a Group in a log", f"stderr holds {leak}"
            )

    def finish(self) -> None:
        """A log that holds nothing is one that holds nothing forbidden."""
        self.witness = len(self._served)


LOGS_HOLD_NO_CONTENT = MonitorInfo(
    check_id="MON-0031",
    title="The Worker's log holds no content and no credential",
    requirement="WRK-012.j",
    level=Level.READING,
    profile=Profile.DISCLOSURE,
    reached="the Worker sent Commands, so that there was something to log",
)
