"""The claim document: what a result allows to be said of a Worker, and no more than that.

Makes one from a result, or a refusal with its reason, in the layout of `schemas/claim.schema.json`;
reads one that any suite has written. Never judges and never runs anything.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import cast

from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.errors import SuiteError, UsageError
from worker_conformance.judge.verdicts import (
    EXIT_ADAPTER,
    EXIT_SUITE,
    CheckResult,
    RunResult,
    Standing,
    SuiteIdentity,
    Verdict,
    named_areas,
)
from worker_conformance.report import json_report
from worker_conformance.report.telling import visible
from worker_conformance.report.validity import first_problem
from worker_conformance.scenario.model import CORE_PROFILES, Profile

CLAIM_VERSION = "1"

DISCLAIMER = (
    "This is no statement that the Worker conforms to MissionWeaveProtocol 0.1: section 22 of the "
    "specification asks for more than behaviour at the Worker Port."
)


@frozen
class Refusal:
    """Why a result allows no claim, and what would."""

    reason: str
    hint: str


@frozen
class Knowledge:
    """What this suite knows of itself: a claim is made and verified by the suite that judged.

    `checks` maps each check that an ordinary run over everything judges to its area.
    """

    suite: SuiteIdentity
    requirement_digest: str
    vector_digest: str
    checks: dict[str, str]


def claim_of(result: RunResult, known: Knowledge) -> JsonObject | Refusal:
    """Return the claim that `result` allows, or why it allows none.

    A run that did not pass as a whole allows the narrower claim of those areas that did.
    """
    refusal = _refusal(result, known)
    if refusal is not None:
        return refusal
    areas = [area.profile for area in result.areas() if area.standing is Standing.PASSED]
    return {
        "claimVersion": CLAIM_VERSION,
        "protocolVersion": result.protocol,
        "words": words_of(result, set(areas)),
        "scope": _scope(set(areas)),
        "areas": list(areas),
        **_what_repeats_it(result),
        "deviations": _deviations(result),
        "qualifications": [visible(each) for each in result.qualifications()],
        "requirements": {name: verdict.value for name, verdict in result.requirements().items()},
        "checks": {check.check_id: check.verdict.value for check in result.checks},
        "figures": _figures(result),
    }


def words_of(result: RunResult, areas: set[str]) -> str:
    """The sentence that may be used: the areas by name, the suite and the requirement set."""
    who = visible(f"{result.worker.name} {result.worker.version}")
    suite = f"{result.suite.name} {result.suite.version}"
    failed = [area.profile for area in result.areas() if area.standing is Standing.NOT_PASSED]
    rest = f" Judged and not passed: {', '.join(failed)}." if failed else ""
    return (
        f"{who} passes {named_areas(areas)} of suite {suite}, "
        f"requirement set {result.requirement_digest}.{rest}"
    )


def to_bytes(document: JsonObject) -> bytes:
    """Spell a claim; raises `SuiteError` if it is not what the schema allows."""
    problem = first_problem("claim", document)
    if problem:
        raise SuiteError("claim-schema", f"the claim does not fit its schema: {problem}")
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def read(path: Path) -> JsonObject:
    """Read a claim. Raises `UsageError` for anything else."""
    try:
        document: JsonValue = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        told = error.strerror if isinstance(error, OSError) else error
        cause, hint = f"cannot read a claim: {told}", "'worker-conformance claim RESULT' writes one"
        if isinstance(error, IsADirectoryError):
            hint = f"name the file: {path / 'claim.json'}"
        raise UsageError("not-a-claim", cause, hint, str(path)) from None
    version = document.get("claimVersion") if isinstance(document, dict) else None
    if version != CLAIM_VERSION:
        cause = f"a claim of version {version!r} is unknown to this suite"
        hint = f"known: {CLAIM_VERSION}; a result.json is no claim, and a newer suite writes others"
        raise UsageError("claim-version", cause, hint, str(path))
    problem = first_problem("claim", document)
    if problem:
        hint = "this is no claim, or it was changed by hand"
        raise UsageError("not-a-claim", problem, hint, str(path))
    return cast(JsonObject, document)


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON")


# --- what allows no claim -----------------------------------------------------------------


def _refusal(result: RunResult, known: Knowledge) -> Refusal | None:
    again = "run it again without check IDs, and without --quick"
    if result.exit_code() == EXIT_SUITE:
        return Refusal("the suite itself failed in this run", "report the fault, and run it again")
    if result.exit_code() == EXIT_ADAPTER:
        return Refusal("the adapter broke the Worker Port", "'worker-conformance doctor' helps")
    if result.selection.checks:
        return Refusal("single checks were judged, which is no claim about an area", again)
    if result.selection.quick:
        return Refusal("it was a quick run, which leaves checks out", again)
    stranger = _stranger(result, known)
    if stranger is not None:
        return stranger
    missing = _missing(result, known.checks)
    if missing:
        shown = ", ".join(missing[:4]) + (", …" if len(missing) > 4 else "")
        return Refusal(f"{len(missing)} checks of the areas have no verdict: {shown}", again)
    if not result.passed_areas():
        return Refusal(f"no area passed as a whole. {visible(result.claim())}", "mend the Worker")
    return None


def _stranger(result: RunResult, known: Knowledge) -> Refusal | None:
    """Refuse what another suite judged: only that one knows which checks belong to an area."""
    theirs = (result.suite, result.requirement_digest, result.vector_digest)
    if theirs == (known.suite, known.requirement_digest, known.vector_digest):
        return None
    return Refusal(
        f"the run was judged by suite {result.suite.version}, requirement set "
        f"{result.requirement_digest}, vectors {result.vector_digest}; this is suite "
        f"{known.suite.version}, {known.requirement_digest}, {known.vector_digest}",
        "let the suite that judged make the claim, or run it again with this one",
    )


def _missing(result: RunResult, expected: dict[str, str]) -> list[str]:
    """The checks of judged areas that the result does not hold: it broke off, or was cut."""
    judged: Collection[str] = {check.check_id for check in result.checks}
    areas = set(result.selection.profiles) or set(expected.values())
    return [one for one, area in expected.items() if area in areas and one not in judged]


# --- its parts ----------------------------------------------------------------------------


def _scope(areas: set[str]) -> str:
    if areas >= set(Profile):
        return "all-areas"
    return "core-areas" if areas >= CORE_PROFILES else "narrower-areas"


def _what_repeats_it(result: RunResult) -> JsonObject:
    document = json_report.to_document(result, timing=False)
    declaration = cast(JsonObject, document["declaration"])
    run = cast(JsonObject, document["run"])
    selection = cast(JsonObject, run["selection"])
    return {
        "suite": document["suite"],
        "worker": document["worker"],
        "claimedProfiles": declaration["profiles"],
        "parameters": {
            **cast(JsonObject, declaration["parameters"]),
            "notes": declaration["notes"],
        },
        "run": {
            "seed": run["seed"],
            "timeoutSeconds": run["timeoutSeconds"],
            "profiles": selection["profiles"],
            "thorough": selection["thorough"],
            "baselineDigest": result.baseline.digest if result.baseline else None,
        },
    }


def _deviations(result: RunResult) -> JsonObject:
    not_passed: list[JsonValue] = [
        {"area": area.profile, "checks": list(_breaking(result, area.profile))}
        for area in result.areas()
        if area.standing is Standing.NOT_PASSED
    ]
    return {
        "notPassed": not_passed,
        "notClaimed": [a.profile for a in result.areas() if a.standing is Standing.NOT_CLAIMED],
        "knownFailures": [_known(check) for check in _with(result, Verdict.EXPECTED_FAIL)],
        "advice": [_deviation(check) for check in _with(result, Verdict.ADVICE)],
        "abstained": [_deviation(check) for check in _with(result, Verdict.ABSTAINED)],
    }


def _breaking(result: RunResult, area: str) -> list[str]:
    return [c.check_id for c in result.checks if c.profile == area and c.verdict.breaks_the_run]


def _with(result: RunResult, verdict: Verdict) -> list[CheckResult]:
    return [check for check in result.checks if check.verdict is verdict]


def _deviation(check: CheckResult) -> JsonObject:
    told = check.failure.observed if check.failure else check.reason
    return {"checkId": check.check_id, "requirement": check.requirement, "told": visible(told)}


def _known(check: CheckResult) -> JsonObject:
    excuse = check.excuse
    return {
        **_deviation(check),
        "reason": excuse.reason if excuse else check.reason,
        "expires": excuse.expires if excuse else None,
        "issue": excuse.issue if excuse else None,
        "verdict": excuse.verdict if excuse else "fail",
    }


def _figures(result: RunResult) -> list[JsonValue]:
    return [
        {
            "checkId": check.check_id,
            "name": each.name,
            "value": each.value,
            "bound": each.bound,
            "unit": each.unit,
        }
        for check in result.checks
        for each in check.measurements
    ]
