"""The result of a run as a JSON document, and back.

Writes `RunResult` in the layout of `schemas/report.schema.json`, refuses to write anything that the
schema refuses, and reads what any version of the suite has written. Never decides a verdict.

Real time stands in one member, `timing`, and nowhere else: without it, the same run gives the same
bytes, so two results can be compared with `cmp`.
"""

import json
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import cast

from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    integer_at,
    list_at,
    object_at,
    text_at,
)
from worker_conformance.errors import SuiteError, UsageError
from worker_conformance.judge.excuses import BaselineRecord, BaselineTrouble, Excuse, Trouble
from worker_conformance.judge.verdicts import (
    SCHEMA_VERSION,
    CheckKind,
    CheckResult,
    DeclarationRecord,
    Failure,
    Measurement,
    RunResult,
    Selection,
    SuiteIdentity,
    Verdict,
    WorkerIdentity,
)
from worker_conformance.report.evidence_json import (
    read_timeline,
    read_view,
    read_window,
    write_timeline,
    write_view,
    write_window,
)
from worker_conformance.report.validity import first_problem
from worker_conformance.scenario.model import Level

SECONDS_DIGITS = 3  # a check's time is worth knowing to the millisecond, no finer


def to_document(result: RunResult, *, timing: bool) -> JsonObject:
    """Return `result` as JSON members; `timing` adds the real time each check took."""
    document: JsonObject = {
        "schemaVersion": result.schema_version,
        "protocolVersion": result.protocol,
        "suite": {
            "name": result.suite.name,
            "version": result.suite.version,
            "requirementDigest": result.requirement_digest,
            "vectorDigest": result.vector_digest,
        },
        "worker": _worker(result.worker),
        "declaration": _declaration(result.declaration),
        "run": {
            "seed": result.seed,
            "timeoutSeconds": _finite(result.timeout_seconds),
            "selection": _selection(result.selection),
        },
        "baseline": None if result.baseline is None else _baseline(result.baseline),
        "outcome": _outcome(result),
        "checks": [_check(check) for check in result.checks],
    }
    if result.coverage:
        document["coverage"] = dict(result.coverage)
    if timing:
        document["timing"] = _timing(result)
    return document


def to_bytes(document: JsonObject) -> bytes:
    """Spell a report document: UTF-8, two spaces, a line break at the end.

    Raises `SuiteError` if the document is not what the schema of reports allows.
    """
    _refuse_invalid(document)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    # What Python cannot encode is a lone surrogate out of a Worker; JSON escapes it just so.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def write(result: RunResult, path: Path, *, timing: bool = True) -> None:
    """Write `result` to `path`."""
    path.write_bytes(to_bytes(to_document(result, timing=timing)))


def read(path: Path) -> RunResult:
    """Read a result that this or an older suite wrote. Raises `UsageError` for anything else."""
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        cause = f"cannot read a result: {error.strerror or error}"
        hint = "a run that was interrupted, or that broke off, leaves no result"
        if isinstance(error, IsADirectoryError):
            hint = f"name the file: {path / 'result.json'}"
        raise UsageError("not-a-result", cause, hint, str(path)) from None
    except (ValueError, RecursionError) as error:
        cause = f"cannot read a result: {error}"
        hint = "name a result.json that a run has written"
        raise UsageError("not-a-result", cause, hint, where=str(path)) from None
    return from_document(document, str(path))


def from_document(document: JsonValue, where: str) -> RunResult:
    """Read a result out of JSON members of any version; `where` names it in messages."""
    document = _upgraded(document, where)
    try:
        problem = first_problem("report", document)
        if not problem:
            return _read(document)
    except ValueError as error:  # such as two verdicts for one check: no schema can say that
        problem = str(error)
    hint = "this is no result, or it was changed by hand"
    raise UsageError("not-a-result", problem, hint, where)


def _upgraded(document: JsonValue, where: str) -> JsonObject:
    """Bring a document of an older version to the layout of today, a version at a time."""
    version = document.get("schemaVersion") if isinstance(document, dict) else None
    known = isinstance(version, str) and version in (*_UPGRADES, SCHEMA_VERSION)
    if not isinstance(document, dict) or not known:
        raise UsageError(
            "result-version",
            f"a result of version {version!r} is unknown to this suite",
            hint=f"known: {', '.join((*_UPGRADES, SCHEMA_VERSION))}; "
            "a newer suite may have written it",
            where=where,
        )
    while document["schemaVersion"] != SCHEMA_VERSION:
        document = _UPGRADES[cast(str, document["schemaVersion"])](document)
    return document


def _from_1_to_2(document: JsonObject) -> JsonObject:
    """Version 2 knows baselines, the digest of the adapter, and two more options of the run."""
    worker, run, checks = (document.get(name) for name in ("worker", "run", "checks"))
    if not (isinstance(worker, dict) and isinstance(run, dict) and isinstance(checks, list)):
        return {**document, "schemaVersion": "2"}  # the schema will say what is missing
    selection = find(run, "selection")
    chosen = {**selection, "thorough": False} if isinstance(selection, dict) else selection
    return {
        **document,
        "schemaVersion": "2",
        "worker": {**worker, "adapterDigest": None},
        "run": {**run, "timeoutSeconds": None, "selection": chosen},
        "baseline": None,
        "checks": [
            {**check, "excuse": None} if isinstance(check, dict) else check for check in checks
        ],
    }


_UPGRADES: Mapping[str, Callable[[JsonObject], JsonObject]] = {"1": _from_1_to_2}
"""From each older version of the layout to the next one. None is ever taken away."""


def _finite(seconds: float | None) -> float | None:
    """Seconds as JSON can say them: whoever waits for ever has no limit to name."""
    return seconds if seconds is not None and isfinite(seconds) else None


def _worker(worker: WorkerIdentity) -> JsonObject:
    return {
        "name": worker.name,
        "version": worker.version,
        "language": worker.language,
        "homepage": worker.homepage,
        "adapter": worker.adapter,
        "adapterDigest": worker.adapter_digest,
        "transport": worker.transport,
    }


def _declaration(declaration: DeclarationRecord) -> JsonObject:
    return {
        "profiles": list(declaration.profiles),
        "parameters": {"declared": declaration.declared, "effective": declaration.effective},
        "notes": list(declaration.notes),
    }


def _selection(selection: Selection) -> JsonObject:
    return {
        "profiles": list(selection.profiles),
        "checks": list(selection.checks),
        "quick": selection.quick,
        "thorough": selection.thorough,
    }


def _baseline(record: BaselineRecord) -> JsonObject:
    return {
        "file": record.file,
        "digest": record.digest,
        "entries": record.entries,
        "troubles": [
            {"kind": one.kind.value, "checkId": one.check_id, "told": one.told}
            for one in record.troubles
        ],
    }


def _outcome(result: RunResult) -> JsonObject:
    areas: list[JsonValue] = [
        {
            "profile": area.profile,
            "standing": area.standing.value,
            "executed": area.executed,
            "counts": _counts(area.counts),
        }
        for area in result.areas()
    ]
    return {
        "exitCode": result.exit_code(),
        "claim": result.claim(),
        "qualifications": list(result.qualifications()),
        "executed": result.executed(),
        "counts": _counts(result.counts()),
        "areas": areas,
        "requirements": {name: v.value for name, v in result.requirements().items()},
    }


def _counts(counts: Mapping[Verdict, int]) -> JsonObject:
    return {verdict.value: counts[verdict] for verdict in Verdict if counts.get(verdict)}


def _check(check: CheckResult) -> JsonObject:
    told: JsonObject = {
        "checkId": check.check_id,
        "title": check.title,
        "summary": check.summary,
        "requirement": check.requirement,
        "clauses": list(check.clauses),
        "level": check.level.value,
        "profile": str(check.profile),
        "kind": check.kind.value,
        "verdict": check.verdict.value,
        "reason": check.reason,
        "failure": None if check.failure is None else _failure(check.failure),
        "witness": check.witness,
        "measurements": [_measurement(each) for each in check.measurements],
        "rerun": check.rerun,
        "scenario": check.scenario,
        "excuse": None if check.excuse is None else _excuse(check.excuse),
    }
    if check.estimates:
        told["estimates"] = [write_window(each) for each in check.estimates]
    return told


def _excuse(excuse: Excuse) -> JsonObject:
    return {
        "reason": excuse.reason,
        "expires": excuse.expires,
        "issue": excuse.issue,
        "verdict": excuse.verdict,
    }


def _failure(failure: Failure) -> JsonObject:
    told: JsonObject = {
        "expected": failure.expected,
        "observed": failure.observed,
        "transcript": list(failure.transcript),
        "stderr": failure.stderr,
        "step": failure.step,
    }
    if failure.timeline is not None:
        told["timeline"] = write_timeline(failure.timeline)
    if failure.views:
        told["views"] = [write_view(each) for each in failure.views]
    if failure.vector:
        told["vector"] = failure.vector
    return told


def _measurement(measurement: Measurement) -> JsonObject:
    told: JsonObject = {
        "name": measurement.name,
        "value": measurement.value,
        "bound": measurement.bound,
        "unit": measurement.unit,
        "note": measurement.note,
    }
    if measurement.series:
        told["series"] = [[at, share] for at, share in measurement.series]
    return told


def _timing(result: RunResult) -> JsonObject:
    seconds = {check.check_id: round(check.seconds, SECONDS_DIGITS) for check in result.checks}
    total = round(sum(check.seconds for check in result.checks), SECONDS_DIGITS)
    return {"totalSeconds": total, "checkSeconds": cast(JsonObject, seconds)}


def _refuse_invalid(document: JsonObject) -> None:
    problem = first_problem("report", document)
    if problem:
        raise SuiteError(
            "report-schema", f"the result does not fit the schema of reports: {problem}"
        )


def _read(document: JsonObject) -> RunResult:
    seconds = cast("dict[str, float]", find(document, "timing", "checkSeconds") or {})
    return RunResult(
        suite=SuiteIdentity(
            text_at(document, "suite", "name"), text_at(document, "suite", "version")
        ),
        worker=_read_worker(object_at(document, "worker")),
        declaration=DeclarationRecord(
            profiles=_texts(document, "declaration", "profiles"),
            declared=object_at(document, "declaration", "parameters", "declared"),
            effective=object_at(document, "declaration", "parameters", "effective"),
            notes=_texts(document, "declaration", "notes"),
        ),
        seed=integer_at(document, "run", "seed"),
        selection=Selection(
            profiles=_texts(document, "run", "selection", "profiles"),
            checks=_texts(document, "run", "selection", "checks"),
            quick=bool(find(document, "run", "selection", "quick")),
            thorough=bool(find(document, "run", "selection", "thorough")),
        ),
        requirement_digest=text_at(document, "suite", "requirementDigest"),
        vector_digest=text_at(document, "suite", "vectorDigest"),
        checks=tuple(_read_check(each, seconds) for each in list_at(document, "checks")),
        coverage=cast("dict[str, int]", find(document, "coverage") or {}),
        timeout_seconds=_finite(cast("float | None", find(document, "run", "timeoutSeconds"))),
        baseline=_read_baseline(find(document, "baseline")),
        protocol=text_at(document, "protocolVersion"),
        schema_version=text_at(document, "schemaVersion"),
    )


def _read_worker(document: JsonObject) -> WorkerIdentity:
    return WorkerIdentity(
        name=text_at(document, "name"),
        version=text_at(document, "version"),
        language=text_at(document, "language"),
        homepage=_optional_text(document, "homepage"),
        adapter=text_at(document, "adapter"),
        transport=text_at(document, "transport"),
        adapter_digest=_optional_text(document, "adapterDigest"),
    )


def _read_baseline(document: JsonValue) -> BaselineRecord | None:
    if document is None:
        return None
    troubles = tuple(
        BaselineTrouble(
            Trouble(text_at(each, "kind")), text_at(each, "checkId"), text_at(each, "told")
        )
        for each in list_at(document, "troubles")
    )
    return BaselineRecord(
        text_at(document, "file"),
        text_at(document, "digest"),
        integer_at(document, "entries"),
        troubles,
    )


def _read_excuse(document: JsonValue) -> Excuse | None:
    if document is None:
        return None
    return Excuse(
        text_at(document, "reason"),
        _optional_text(document, "expires"),
        _optional_text(document, "issue"),
        text_at(document, "verdict"),
    )


def _read_check(document: JsonValue, seconds: Mapping[str, float]) -> CheckResult:
    failure = find(document, "failure")
    check_id = text_at(document, "checkId")
    return CheckResult(
        check_id=check_id,
        title=text_at(document, "title"),
        summary=text_at(document, "summary"),
        requirement=text_at(document, "requirement"),
        clauses=_texts(document, "clauses"),
        level=Level(text_at(document, "level")),
        profile=text_at(document, "profile"),
        kind=CheckKind(text_at(document, "kind")),
        verdict=Verdict(text_at(document, "verdict")),
        reason=text_at(document, "reason"),
        failure=None if failure is None else _read_failure(failure),
        witness=integer_at(document, "witness"),
        measurements=tuple(map(_read_measurement, list_at(document, "measurements"))),
        rerun=text_at(document, "rerun"),
        seconds=seconds.get(check_id, 0.0),
        scenario=_optional_text(document, "scenario"),
        estimates=tuple(map(read_window, _optional_list(document, "estimates"))),
        excuse=_read_excuse(find(document, "excuse")),
    )


def _read_failure(document: JsonValue) -> Failure:
    return Failure(
        expected=text_at(document, "expected"),
        observed=text_at(document, "observed"),
        transcript=_texts(document, "transcript"),
        stderr=text_at(document, "stderr"),
        step=_optional_text(document, "step"),
        timeline=read_timeline(find(document, "timeline")),
        views=tuple(map(read_view, _optional_list(document, "views"))),
        vector=_optional_text(document, "vector") or "",
    )


def _read_measurement(document: JsonValue) -> Measurement:
    return Measurement(
        name=text_at(document, "name"),
        value=cast(float, find(document, "value")),
        bound=cast("float | None", find(document, "bound")),
        unit=text_at(document, "unit"),
        note=text_at(document, "note"),
        series=_read_series(find(document, "series")),
    )


def _read_series(document: JsonValue) -> tuple[tuple[float, float], ...]:
    pairs = cast("list[list[float]]", document or [])
    return tuple((at, share) for at, share in pairs)


def _texts(document: JsonValue, *path: str) -> tuple[str, ...]:
    return tuple(str(each) for each in list_at(document, *path))


def _optional_text(document: JsonValue, member: str) -> str | None:
    return None if find(document, member) is None else text_at(document, member)


def _optional_list(document: JsonValue, member: str) -> list[JsonValue]:
    return [] if find(document, member) is None else list_at(document, member)
