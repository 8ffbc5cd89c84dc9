"""Verdicts: what a check comes to, and what a whole run may say of a Worker.

Holds the values that every report is made from, and the two answers that must be the same in all of
them: the exit code and the claim. Never runs a check, never prints, never reads a clock.

Two runs of the same suite over the same Worker with the same seed give equal values. The one thing
that may differ, how long a check took in real time, takes no part in equality.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from math import isfinite

from attrs import field, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.evidence import EstimateWindow, Timeline, ViewPair
from worker_conformance.judge.excuses import BaselineRecord, Excuse
from worker_conformance.scenario.model import CORE_PROFILES, Level, Profile

SCHEMA_VERSION = "2"
PROTOCOL_VERSION = "0.1"

EXIT_PASSED = 0
EXIT_NOT_PASSED = 1
EXIT_ADAPTER = 3
EXIT_SUITE = 4

SHORT_DIGEST_CHARACTERS = 19  # "sha256:" and twelve hexadecimal digits: enough to tell sets apart


class Verdict(StrEnum):
    """What one check came to, worst first: reports show them in this order."""

    SUITE_ERROR = "suite-error"
    """A fault of the suite; says nothing of the Worker."""
    ADAPTER_ERROR = "adapter-error"
    """The adapter broke the Worker Port, so that nothing could be judged."""
    FAIL = "fail"
    """A MUST is broken."""
    INCONCLUSIVE = "inconclusive"
    """The precondition was not reached. Not green."""
    ADVICE = "advice"
    """A SHOULD is not followed."""
    EXPECTED_FAIL = "expected-fail"
    """Fails as the baseline says it does."""
    PASS = "pass"  # noqa: S105 - a verdict, no secret
    ABSTAINED = "abstained"
    """A conditional duty whose trigger the Worker declares it never produces."""
    NOT_CLAIMED = "not-claimed"
    """The Worker does not claim the profile. Never counted as passed."""

    @property
    def executed(self) -> bool:
        """Whether the Worker was judged: it was run, and the check came to an answer about it."""
        return self in _EXECUTED

    @property
    def breaks_the_run(self) -> bool:
        """Whether one such verdict alone keeps the exit code from being 0."""
        return self in _BREAKING


class CheckKind(StrEnum):
    """Where a check comes from."""

    VECTOR = "vector"
    MONITOR = "monitor"
    FAIRNESS = "fairness"
    PROPERTY = "property"


class Standing(StrEnum):
    """How a Worker stands in one area (profile)."""

    PASSED = "passed"
    NOT_PASSED = "not passed"
    KNOWN_FAILURES = "known failures"
    """Nothing unexpected, but the baseline excuses a broken MUST: no claim is made of the area."""
    NOTHING_PASSED = "nothing passed"
    """No check failed, and none passed either."""
    NOT_CLAIMED = "not claimed"


@frozen
class Failure:
    """What a failure prints: facts, and the shortest history that shows them.

    A line of `transcript` is virtual time, who speaks, and what is said:
    `00:05:00  suite   EVENT A/4 work.offer.created a1`. `timeline` is the same history in more
    detail, for a picture; `views` are two views that had to be the same; `vector` is the text of
    the scenario that was played, where it has one.
    """

    expected: str
    observed: str
    transcript: tuple[str, ...] = ()
    stderr: str = ""
    step: str | None = None
    timeline: Timeline | None = None
    views: tuple[ViewPair, ...] = ()
    vector: str = ""


@frozen
class Measurement:
    """A figure that a check measured, beside the bound it was held to, if there is one.

    `series` is how it came about: pairs of virtual time in seconds and the share of the bound.
    """

    name: str
    value: float = field()
    bound: float | None
    unit: str
    note: str = ""
    series: tuple[tuple[float, float], ...] = ()

    @value.validator
    def _is_a_number(self, _: object, value: float) -> None:
        if not isfinite(value):
            raise ValueError(f"{self.name}: {value} is no measurement; say in words what was seen")

    @property
    def share_of_bound(self) -> float | None:
        """`value / bound`: above 1 the bound is broken. None without a bound above 0."""
        return self.value / self.bound if self.bound else None


@frozen
class CheckResult:
    """One check's verdict on one Worker, with all that a reader needs to understand and repeat it.

    `reason` says why there is no pass where nothing failed either (inconclusive, not claimed, …).
    `witness` counts how often the precondition occurred. `rerun` is a command line. `seconds` is
    real time. `scenario` names the scenario in which a monitor saw what it reports. `estimates` are
    windows that the Worker published in it, beside what then happened. `excuse` is the baseline's
    entry behind an expected failure.
    """

    check_id: str
    title: str
    summary: str
    requirement: str
    clauses: tuple[str, ...]
    level: Level = field(converter=Level)
    profile: str
    kind: CheckKind = field(converter=CheckKind)
    verdict: Verdict
    reason: str = ""
    failure: Failure | None = None
    witness: int = 0
    measurements: tuple[Measurement, ...] = ()
    rerun: str = ""
    seconds: float = field(default=0.0, eq=False)
    scenario: str | None = None
    estimates: tuple[EstimateWindow, ...] = ()
    excuse: Excuse | None = None

    def __attrs_post_init__(self) -> None:
        """Refuse a verdict without its evidence."""
        if self.verdict is Verdict.PASS and self.witness < 1:
            raise ValueError(f"{self.check_id}: a pass without a witness; silence is never green")
        if self.verdict in _NEED_FAILURE and self.failure is None:
            raise ValueError(f"{self.check_id}: {self.verdict} does not say what was observed")
        if self.verdict in _NEED_REASON and not self.reason:
            raise ValueError(f"{self.check_id}: {self.verdict} without a reason")


@frozen
class SuiteIdentity:
    """Which suite judged."""

    name: str
    version: str


@frozen
class WorkerIdentity:
    """Which Worker was judged, in its own words, and how it was reached.

    `adapter` is the `--worker` text; `transport` is `in-process`, `stdio` or `tcp`.
    `adapter_digest` is over the files that `adapter` names; None where it names none.
    """

    name: str
    version: str
    language: str
    homepage: str | None
    adapter: str
    transport: str
    adapter_digest: str | None = None


@frozen
class DeclarationRecord:
    """What the Worker declared and what it was held to; parameters by their wire names."""

    profiles: tuple[str, ...]
    declared: JsonObject = field(factory=dict)
    effective: JsonObject = field(factory=dict)
    notes: tuple[str, ...] = ()


@frozen
class Selection:
    """What the run was asked to judge. Empty `profiles` and `checks`: everything."""

    profiles: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    quick: bool = False
    thorough: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether less than everything was asked for."""
        return bool(self.profiles or self.checks or self.quick)


@frozen
class Area:
    """One profile of a run, with its checks counted by verdict."""

    profile: str
    standing: Standing
    counts: Mapping[Verdict, int]

    @property
    def executed(self) -> int:
        """How many checks came to an answer about the Worker: the denominator of any share."""
        return sum(count for verdict, count in self.counts.items() if verdict.executed)


@frozen
class RunResult:
    """Everything one run found out, and what may be said of the Worker because of it.

    `checks` stand in the order of their IDs, however many processes ran them. `coverage` counts
    what generated worlds reached: WorkItem states, transitions, error codes, moves, monitors.
    `timeout_seconds` is the longest wait for one answer, in real time. `baseline` is what the run
    was held against, if anything.
    """

    suite: SuiteIdentity
    worker: WorkerIdentity
    declaration: DeclarationRecord
    seed: int
    selection: Selection
    requirement_digest: str
    vector_digest: str
    checks: tuple[CheckResult, ...] = field()
    coverage: Mapping[str, int] = field(factory=dict)
    timeout_seconds: float | None = None
    baseline: BaselineRecord | None = None
    protocol: str = PROTOCOL_VERSION
    schema_version: str = SCHEMA_VERSION

    @checks.validator
    def _each_check_stands_once(self, _: object, checks: tuple[CheckResult, ...]) -> None:
        repeated = [
            name for name, times in Counter(c.check_id for c in checks).items() if times > 1
        ]
        if repeated:
            raise ValueError(f"more than one verdict for {', '.join(sorted(repeated))}")

    def areas(self) -> tuple[Area, ...]:
        """Every profile that a check of this run belongs to, in the protocol's order."""
        names = {check.profile for check in self.checks}
        return tuple(self._area(name) for name in sorted(names, key=_area_order))

    def counts(self) -> Mapping[Verdict, int]:
        """How many checks came to each verdict."""
        return Counter(check.verdict for check in self.checks)

    def executed(self) -> int:
        """How many checks came to an answer about the Worker."""
        return sum(check.verdict.executed for check in self.checks)

    def requirements(self) -> Mapping[str, Verdict]:
        """The worst verdict on each requirement, by requirement ID."""
        worst: dict[str, Verdict] = {}
        for check in self.checks:
            other = worst.get(check.requirement, check.verdict)
            worst[check.requirement] = min(other, check.verdict, key=_severity)
        return dict(sorted(worst.items()))

    def exit_code(self) -> int:
        """0 passed, 1 not passed, 3 adapter broken, 4 suite error; the highest that applies.

        Passed means: at least one check executed, none breaks the run, the baseline holds, and
        every area that was asked for passed. Asked for are the profiles of `--profile`; with
        chosen checks just those; else the core and each other claimed profile that has checks.
        """
        verdicts = self.counts()
        if verdicts[Verdict.SUITE_ERROR]:
            return EXIT_SUITE
        if verdicts[Verdict.ADAPTER_ERROR]:
            return EXIT_ADAPTER
        if not self.executed() or any(verdict.breaks_the_run for verdict in verdicts):
            return EXIT_NOT_PASSED
        if self._baseline_lines():
            return EXIT_NOT_PASSED
        return EXIT_NOT_PASSED if self.missing_areas() else EXIT_PASSED

    def missing_areas(self) -> tuple[str, ...]:
        """The areas this run was asked to judge and that neither passed nor are excused."""
        standing = {area.profile: area.standing for area in self.areas()}
        good = (Standing.PASSED, Standing.KNOWN_FAILURES)
        asked = sorted(self._asked_areas(standing), key=_area_order)
        return tuple(name for name in asked if standing.get(name) not in good)

    def claim(self) -> str:
        """Say in one sentence what this run allows to be said of the Worker. Never more."""
        who = f"{self.worker.name} {self.worker.version}"
        code = self.exit_code()
        if code == EXIT_SUITE:
            return f"Nothing can be said of {who}: the suite itself failed."
        if code == EXIT_ADAPTER:
            return f"Nothing can be said of {who}: its adapter breaks the Worker Port."
        if code == EXIT_NOT_PASSED:
            return f"Nothing is claimed for {who}: {self._what_is_missing()}."
        return f"{who} {self._what_is_passed()}."

    def qualifications(self) -> tuple[str, ...]:
        """What has to be said together with the claim: excuses, abstentions, ceilings, gaps."""
        notes = [
            _listed("The baseline excuses", self._ids(Verdict.EXPECTED_FAIL)),
            _listed("Advice not followed", self._ids(Verdict.ADVICE)),
            _listed("Abstained from", self._ids(Verdict.ABSTAINED)),
            _listed("Not claimed", [a.profile for a in self._areas_with(Standing.NOT_CLAIMED)]),
            _listed("Claimed, but no check of this run judges", self._claimed_without_checks()),
        ]
        judged = {area.profile for area in self.areas() if area.executed}
        schedules = Profile.SCHEDULING in judged
        declared = _said_of_parameters(self.declaration.effective) if schedules else ()
        known = (note for note in notes if note)
        return (*self._baseline_lines(), *known, *declared, *self.declaration.notes)

    def _area(self, profile: str) -> Area:
        counts = Counter(check.verdict for check in self.checks if check.profile == profile)
        return Area(profile, _standing(counts), dict(sorted(counts.items(), key=_by_severity)))

    def _areas_with(self, standing: Standing) -> list[Area]:
        return [area for area in self.areas() if area.standing is standing]

    def _asked_areas(self, present: Mapping[str, Standing]) -> set[str]:
        if self.selection.profiles:
            return set(self.selection.profiles)
        if self.selection.checks:
            return set()
        claimed = {name for name, standing in present.items() if standing != Standing.NOT_CLAIMED}
        return claimed | CORE_PROFILES

    def _baseline_lines(self) -> list[str]:
        return [trouble.line() for trouble in self.baseline.troubles] if self.baseline else []

    def _ids(self, verdict: Verdict) -> list[str]:
        return [check.check_id for check in self.checks if check.verdict is verdict]

    def _claimed_without_checks(self) -> list[str]:
        if self.selection.profiles or self.selection.checks:
            return []
        judged = {check.profile for check in self.checks}
        return [name for name in self.declaration.profiles if name not in judged]

    def _what_is_missing(self) -> str:
        if not self.executed():
            return "no check was executed"
        bad = [check for check in self.checks if check.verdict.breaks_the_run]
        parts = []
        if bad:
            where = sorted({check.profile for check in bad}, key=_area_order)
            counted = f"{len(bad)} of {self.executed()} executed checks did not pass"
            parts.append(f"{counted} ({', '.join(where)})")
        if self._baseline_lines():
            troubles = len(self._baseline_lines())
            parts.append(f"the baseline does not hold in {troubles} of its entries")
        silent = set(self.missing_areas()) - {check.profile for check in bad}
        if silent:
            parts.append(f"not passed because not judged: {_joined(silent)}")
        if self.passed_areas() and not self.selection.checks:
            parts.append(f"areas that pass on their own: {_joined(self.passed_areas())}")
        return "; ".join(parts)

    def _what_is_passed(self) -> str:
        suite = f"suite {self.suite.version}"
        digest = self.requirement_digest[:SHORT_DIGEST_CHARACTERS]
        if self.selection.checks:
            known = len(self._ids(Verdict.EXPECTED_FAIL))
            but_for = f", but for {known} known to fail," if known else ""
            return (
                f"passes the chosen checks{but_for} ({self.executed()} executed) of {suite}; "
                "that is no claim about an area"
            )
        passed = self.passed_areas()
        if not passed:
            return f"does nothing unexpected in {suite}, and passes no area as a whole"
        if self.selection.quick:
            return (
                f"passes the quick run of {suite} over {_joined(passed)}; "
                "a claim needs the run without --quick"
            )
        return f"passes {named_areas(passed)} of {suite}, requirement set {digest}"

    def passed_areas(self) -> set[str]:
        """The areas that passed as a whole."""
        return {area.profile for area in self._areas_with(Standing.PASSED)}


def _said_of_parameters(effective: JsonObject) -> Iterator[str]:
    """Say which declarations narrow what a pass means."""
    if effective.get("reservedSlots"):
        yield f"Keeps {effective['reservedSlots']} of its Capacity Slots in reserve."
    if effective.get("considers") == []:
        yield (
            "Declares that no class, deadline, waiting time, quota, gate or resource influences "
            "its order: checks of that influence do not apply."
        )


def _standing(counts: Mapping[Verdict, int]) -> Standing:
    if any(verdict.breaks_the_run for verdict in counts):
        return Standing.NOT_PASSED
    if counts.get(Verdict.EXPECTED_FAIL):
        return Standing.KNOWN_FAILURES
    if counts.get(Verdict.PASS):
        return Standing.PASSED
    if set(counts) == {Verdict.NOT_CLAIMED}:
        return Standing.NOT_CLAIMED
    return Standing.NOTHING_PASSED


def named_areas(passed: set[str]) -> str:
    """Name the passed areas as the design allows: all, the core (and more), or a narrower list."""
    if passed >= set(Profile):
        return "all Worker areas"
    if passed >= CORE_PROFILES:
        more = passed - CORE_PROFILES
        return "the core Worker areas" + (f" and {_joined(more)}" if more else "")
    return f"the narrower set of areas {_joined(passed)}"


def _joined(names: set[str]) -> str:
    *most, last = sorted(names, key=_area_order)
    return f"{', '.join(most)} and {last}" if most else str(last)


def _listed(label: str, names: Sequence[str]) -> str:
    return f"{label}: {', '.join(names)}." if names else ""


def _area_order(profile: str) -> tuple[int, str]:
    return (_PROFILE_ORDER.get(profile, len(_PROFILE_ORDER)), profile)


def _severity(verdict: Verdict) -> int:
    return _VERDICT_ORDER[verdict]


def _by_severity(counted: tuple[Verdict, int]) -> int:
    return _VERDICT_ORDER[counted[0]]


_VERDICT_ORDER = {verdict: place for place, verdict in enumerate(Verdict)}
_PROFILE_ORDER: Mapping[str, int] = {str(name): place for place, name in enumerate(Profile)}

_BREAKING = frozenset(
    {Verdict.SUITE_ERROR, Verdict.ADAPTER_ERROR, Verdict.FAIL, Verdict.INCONCLUSIVE}
)
_EXECUTED = frozenset(
    {Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.ADVICE, Verdict.EXPECTED_FAIL, Verdict.PASS}
)
_NEED_FAILURE = frozenset({Verdict.FAIL, Verdict.ADVICE, Verdict.EXPECTED_FAIL})
_NEED_REASON = frozenset(
    {
        Verdict.SUITE_ERROR,
        Verdict.ADAPTER_ERROR,
        Verdict.INCONCLUSIVE,
        Verdict.ABSTAINED,
        Verdict.NOT_CLAIMED,
    }
)
