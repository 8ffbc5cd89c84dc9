"""Monitors of privacy: nothing of one Group reaches another, and estimates are honest in form.

Searches for the markers that belong to one Group alone, in the encodings a leak usually takes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.judge.monitors.base import Monitor, MonitorInfo, text
from worker_conformance.judge.reading import command_of
from worker_conformance.judge.trace import Entry
from worker_conformance.scenario.model import Level, Profile
from worker_conformance.suite.clock import moment_of


@define
class _MarkerSearch(Monitor):
    """Finds one Group's markers in what is bound for another."""

    _needles: dict[str, tuple[tuple[str, str], ...]] = field(factory=dict)
    _groups: dict[str, str] = field(factory=dict)

    def foreign_marker(self, haystack: str, group: str) -> tuple[str, str] | None:
        """`(owning Group, marker)` of the first foreign marker in `haystack`, or None."""
        folded = haystack.lower()
        for owner in self.context.markers:
            if owner == group:
                continue
            for marker, needle in self._needles_of(owner):
                if needle in folded:
                    return owner, marker
        return None

    def group_name(self, group_id: str) -> str | None:
        """The short name of a Group that the scenario has."""
        name = self.context.name_of(group_id)
        return name if name in self.context.markers else None

    def _needles_of(self, owner: str) -> tuple[tuple[str, str], ...]:
        if owner not in self._needles:
            self._needles[owner] = tuple(
                (marker, needle)
                for marker in self.context.markers[owner]
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


@define
class NothingOfAnotherGroup(_MarkerSearch):
    """MWP-WRK-012: no name, content or assignment of another Group in anything sent to a Group."""

    def effect(self, entry: Entry) -> None:
        """Search Commands, estimates, declines and rejections bound for a Group."""
        group_id, content = _bound_for(entry.body)
        group = self.group_name(group_id) if group_id else None
        if group is None or len(self.context.markers) < 2:
            return
        self.witness += 1
        found = self.foreign_marker(json.dumps(content, ensure_ascii=False), group)
        if found:
            self.breach(
                entry,
                f"nothing of another Group in what Group {group} receives",
                f"a marker of Group {found[0]} ({found[1]}) in a "
                f"{entry.body.get('type')} bound for {group}",
            )


def _bound_for(effect: JsonObject) -> tuple[str | None, JsonValue]:
    command = command_of(effect)
    if command is not None:
        return text(command, "groupId"), command
    if effect.get("type") in {"disclose", "decline", "reject"}:
        return text(effect, "groupId"), effect
    return None, None


NOTHING_OF_ANOTHER_GROUP = MonitorInfo(
    check_id="MON-0015",
    title="Nothing of one Group in what another receives",
    requirement="WRK-012.d",
    level=Level.MUST,
    profile=Profile.DISCLOSURE,
    reached="something was sent to a Group while the Worker served another as well",
)


@define
class SlotsAreIsolated(_MarkerSearch):
    """MWP-WRK-011: a slot's context holds only its own Group's material."""

    _scopes: dict[str, str] = field(factory=dict)

    def effect(self, entry: Entry) -> None:
        """Search the context of each `run`, and compare side-effect scopes between Groups."""
        if entry.body.get("type") != "run":
            return
        group = self.group_name(text(entry.body, "groupId"))
        if group is None or len(self.context.markers) < 2:
            return
        self.witness += 1
        found = self.foreign_marker(json.dumps(entry.body, ensure_ascii=False), group)
        if found:
            self.breach(
                entry,
                f"a context of Group {group} alone",
                f"a marker of Group {found[0]} ({found[1]}) in the context of a run of {group}",
            )
        scope = find(entry.body, "context", "sideEffectScope")
        if isinstance(scope, str) and self._scopes.setdefault(scope, group) != group:
            other = self._scopes[scope]
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
)
