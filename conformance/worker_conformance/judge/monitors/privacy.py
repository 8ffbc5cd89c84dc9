"""Monitors of privacy: nothing of one Group reaches another, and estimates are honest in form."""

from __future__ import annotations

import json

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.judge.markers import MarkerSearch, bound_for, in_a_slot
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import command_of
from worker_conformance.judge.trace import Entry
from worker_conformance.scenario.clock import moment_of
from worker_conformance.scenario.model import Level, Profile


@define
class _MarkerMonitor(Monitor):
    """A monitor that searches what one Group receives for the markers of the others."""

    _search: MarkerSearch = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Search for the markers of this run."""
        self._search = MarkerSearch(self.context.markers)

    def look(self, entry: Entry, received: tuple[str, str] | None, where: str) -> str | None:
        """Search what a Group receives; returns the Group's name if it has neighbours."""
        if received is None or len(self.context.markers) < 2:
            return None
        group = self.context.name_of(received[0])
        if group is None or group not in self.context.markers:
            return None
        self.witness += entry.body.get("type") != "run" or self.granted(entry.body)
        found = self._search.find_foreign(group, received[1])
        if found:
            self.breach(
                entry,
                f"nothing of another Group in {where} Group {group}",
                f"a marker of Group {found[0]} ({found[1]}) in a {entry.body.get('type')}",
            )
        return group


@define
class NothingOfAnotherGroup(_MarkerMonitor):
    """MWP-WRK-012: no name, content or assignment of another Group in anything sent to a Group."""

    def effect(self, entry: Entry) -> None:
        """Search Commands, estimates, declines and rejections bound for a Group."""
        self.look(entry, bound_for(entry.body), "what is bound for")


NOTHING_OF_ANOTHER_GROUP = MonitorInfo(
    check_id="MON-0015",
    title="Nothing of one Group in what another receives",
    requirement="WRK-012.d",
    level=Level.MUST,
    profile=Profile.DISCLOSURE,
    reached="something was sent to a Group while the Worker served another as well",
)


@define
class SlotsAreIsolated(_MarkerMonitor):
    """MWP-WRK-011: a slot's context holds only its own Group's material."""

    _scopes: dict[str, str] = field(factory=dict)

    def effect(self, entry: Entry) -> None:
        """Search the context of each `run`, and compare side-effect scopes between Groups."""
        group = self.look(entry, in_a_slot(entry.body), "the slot of")
        scope = find(entry.body, "context", "sideEffectScope")
        if group is None or not isinstance(scope, str):
            return
        other = self._scopes.setdefault(scope, group)
        if other != group:
            self.breach(
                entry,
                "side-effect scopes that differ between Groups",
                f"Groups {other} and {group} share the scope {scope}",
            )


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
    """MWP-AUT-002: no credential or token secret in any Command."""

    def effect(self, entry: Entry) -> None:
        """Search Commands for the credentials of every Group."""
        command = command_of(entry.body)
        if command is None:
            return
        self.witness += 1
        content = json.dumps(command, ensure_ascii=False)
        for group, secrets in self.context.secrets.items():
            if any(secret in content for secret in secrets):
                self.breach(
                    entry,
                    "no credential in a Command",
                    f"{text(command, 'kind')} carries a credential of Group {group}",
                )


NO_CREDENTIAL_LEAVES = MonitorInfo(
    check_id="MON-0017",
    title="No credential in a Command",
    requirement="AUT-002.a",
    level=Level.MUST,
    profile=Profile.ISOLATION,
    reached="the Worker sent a Command",
)


@define
class EstimatesAreSound(Monitor):
    """MWP-WRK-012: start before completion, window in order, not calculated in the future."""

    def effect(self, entry: Entry) -> None:
        """Check the form of each published estimate."""
        estimate = entry.body.get("estimate")
        if entry.body.get("type") != "disclose" or not isinstance(estimate, dict):
            return
        self.witness += 1
        start, end = _moment(estimate, "estimatedStart"), _moment(estimate, "estimatedCompletion")
        calculated = _moment(estimate, "lastCalculatedAt")
        latest = moment_of(text(entry.body, "estimatedStartLatest"))
        faults = (
            (start is not None and end is not None and calculated is not None, "valid timestamps"),
            ((start or 0) <= (end or 0), "an estimated start no later than the completion"),
            ((calculated or 0) <= entry.at, "a calculation time that is not in the future"),
            (latest is None or (start or 0) <= latest, "a start window that does not end early"),
        )
        for holds, expected in faults:
            if not holds:
                self.breach(entry, expected, json.dumps(entry.body, sort_keys=True))
                return


def _moment(estimate: JsonObject, member: str) -> int | None:
    return moment_of(text(estimate, member))


ESTIMATES_ARE_SOUND = MonitorInfo(
    check_id="MON-0018",
    title="Published estimates are sound",
    requirement="WRK-012.c",
    level=Level.MUST,
    profile=Profile.DISCLOSURE,
    reached="an estimate was published",
    needs=("estimates",),
)
