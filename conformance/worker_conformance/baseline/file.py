"""Baselines as files: YAML in and out, with the place of whatever is wrong.

Reads the strict YAML of vectors in the layout of `schemas/baseline.schema.json`, and lays an
updated file out anew; comments in it are not kept. Never knows what a run found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import cast

import yaml
from attrs import evolve

from worker_conformance.baseline.entries import (
    BASELINE_VERSION,
    EXCUSABLE,
    PLACEHOLDER,
    Baseline,
    Entry,
    observed,
)
from worker_conformance.documents.json_types import JsonValue
from worker_conformance.errors import UsageError, VectorError
from worker_conformance.judge.excuses import Excuse
from worker_conformance.judge.verdicts import CheckResult, RunResult, Verdict
from worker_conformance.report.validity import first_problem
from worker_conformance.scenario.yaml_reader import (
    Place,
    YamlList,
    YamlMapping,
    YamlNode,
    plain,
    read_bytes,
)

HEAD = """\
# Known failures of a Worker, for 'worker-conformance run --baseline'. Each entry needs a reason
# and either 'expires' (the last day on which it counts) or 'issue' (an address). '*' in
# 'observed' stands for any text. An entry that does not hold any more breaks the run.
"""

NO_REASON = f"{PLACEHOLDER}: say why this failure is known"
NO_LIMIT = '# write here: expires: "YYYY-MM-DD", or issue: "https://…"'


def load(path: Path) -> Baseline:
    """Read a baseline in which every entry is filled. Raises `UsageError` for anything else."""
    baseline = read(path)
    for entry in baseline.entries.values():
        if not entry.is_filled:
            raise UsageError("baseline", *_unfilled(entry), entry.where)
    return baseline


def read(path: Path) -> Baseline:
    """Read a baseline, filled or not. Raises `UsageError` for what is none."""
    try:
        content = path.read_bytes()
    except OSError as error:
        cause = f"a baseline cannot be read: {error.strerror or error}"
        hint = "'worker-conformance baseline RESULT' writes one"
        raise UsageError("baseline", cause, hint, str(path)) from None
    try:
        tree = read_bytes(content, path.as_posix())
    except VectorError as error:
        raise UsageError("baseline", error.cause, error.hint, error.where) from None
    document = cast(JsonValue, plain(tree))
    problem = first_problem("baseline", document)
    if problem:
        where, cause = _placed(tree, problem, path)
        raise UsageError("baseline", cause, "docs/results.md tells what an entry holds", where)
    failures = cast("dict[str, dict[str, str]]", cast("dict[str, JsonValue]", document)["failures"])
    places = dict(_places(tree))
    entries = {name: _entry(name, told, places[name]) for name, told in failures.items()}
    return Baseline(path.as_posix(), f"sha256:{sha256(content).hexdigest()}", entries)


def is_baseline(path: Path) -> bool:
    """Whether a file says of itself that it is a baseline, readable or not."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return False
    return any(line.startswith((b"baseline:", b"failures:")) for line in lines)


def unfilled(baseline: Baseline) -> Iterator[tuple[str, str, str]]:
    """Where, why and what to do, for every entry that still holds a placeholder or no limit."""
    for entry in baseline.entries.values():
        if not entry.is_filled:
            yield (entry.where, *_unfilled(entry))


def updated(old: Baseline | None, result: RunResult, known_ids: Iterable[str]) -> list[Entry]:
    """The entries that `result` calls for: kept reasons, new signatures, placeholders for new ones.

    Entries of checks that a narrowed run did not judge stay; those of checks that pass go.
    """
    before = old.entries if old else {}
    judged = {check.check_id: check for check in result.checks}
    known = set(known_ids)
    kept = [
        entry
        for entry in before.values()
        if entry.check_id not in judged and result.selection.narrowed and entry.check_id in known
    ]
    entries = [_entry_of(check, before) for check in result.checks if _fails(check)]
    return sorted([*kept, *entries], key=lambda entry: entry.check_id)


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write a baseline. Raises `UsageError` where the file cannot be written."""
    text = HEAD + f"baseline: {BASELINE_VERSION}\n" + _failures(list(entries))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        cause = f"the baseline cannot be written: {error.strerror or error}"
        raise UsageError("baseline", cause, "choose another place", str(path)) from None


# --- reading ------------------------------------------------------------------------------


def _entry(name: str, told: Mapping[str, str], place: Place) -> Entry:
    expires = told.get("expires")
    if expires is not None:
        _refuse_no_date(expires, place)
    verdict = told.get("verdict", Verdict.FAIL.value)
    excuse = Excuse(told["reason"], expires, told.get("issue"), verdict)
    return Entry(name, Verdict(verdict), told["observed"], excuse, str(place))


def _refuse_no_date(text: str, place: Place) -> None:
    try:
        date.fromisoformat(text)
    except ValueError:
        cause = f"'{text}' is no day of the calendar"
        raise UsageError("baseline", cause, "write YYYY-MM-DD", str(place)) from None


def _unfilled(entry: Entry) -> tuple[str, str]:
    if entry.excuse.reason.startswith(PLACEHOLDER):
        return (
            f"{entry.check_id} has no reason yet",
            "write why the failure is known, in place of the placeholder",
        )
    return (
        f"{entry.check_id} counts for ever",
        'add expires: "YYYY-MM-DD" or issue: "https://…"',
    )


def _places(tree: YamlNode) -> Iterator[tuple[str, Place]]:
    """Where each check's entry stands."""
    if isinstance(tree, YamlMapping):
        failures = dict(tree.entries)["failures"]
        if isinstance(failures, YamlMapping):
            names = (name for name, _ in failures.entries)
            yield from zip(names, failures.keys, strict=True)


def _placed(tree: YamlNode, problem: str, path: Path) -> tuple[str, str]:
    """Turn `/failures/X: cause` into a place of the file and what is wrong there."""
    pointer, _, cause = problem.partition(": ")
    place = Place(path.as_posix(), 1, 1)
    node: YamlNode | None = tree
    for word in pointer.split("/")[1:]:
        if isinstance(node, YamlMapping):
            at = [name for name, _ in node.entries].index(word)
            place, node = node.keys[at], node.entries[at][1]
        elif isinstance(node, YamlList):
            node = node.items[int(word)]
            place = node.place
    return str(place), f"{pointer.strip('/') or 'the file'}: {cause}"


# --- writing ------------------------------------------------------------------------------


def _fails(check: CheckResult) -> bool:
    return check.verdict in (*EXCUSABLE, Verdict.EXPECTED_FAIL)


def _entry_of(check: CheckResult, before: Mapping[str, Entry]) -> Entry:
    known = check.excuse is not None
    silent = check.verdict is Verdict.INCONCLUSIVE
    verdict = Verdict.INCONCLUSIVE if silent else Verdict.FAIL
    verdict = Verdict(check.excuse.verdict) if check.excuse else verdict
    old = before.get(check.check_id)
    if old is not None and (known or old.fits(check)):
        return old
    excuse = old.excuse if old else check.excuse or Excuse(NO_REASON)
    return Entry(check.check_id, verdict, observed(check), evolve(excuse, verdict=verdict.value))


def _failures(entries: list[Entry]) -> str:
    if not entries:
        return "failures: {}\n"
    return "failures:\n" + "\n".join("\n".join(_lines(entry)) + "\n" for entry in entries)


def _lines(entry: Entry) -> Iterator[str]:
    yield f"  {entry.check_id}:"
    yield f"    reason: {_quoted(entry.excuse.reason)}"
    if entry.excuse.expires:
        yield f"    expires: {_quoted(entry.excuse.expires)}"
    if entry.excuse.issue:
        yield f"    issue: {_quoted(entry.excuse.issue)}"
    if not (entry.excuse.expires or entry.excuse.issue):
        yield f"    {NO_LIMIT}"
    if entry.verdict is not Verdict.FAIL:
        yield f"    verdict: {entry.verdict.value}"
    yield f"    observed: {_quoted(entry.observed)}"


def _quoted(text: str) -> str:
    """Text in double quotes, in ASCII; what no file can hold becomes `*`."""
    text = re.sub("[\ud800-\udfff]", "*", text)
    dumped: str = yaml.safe_dump(text, default_style='"', width=1 << 20)
    return dumped.strip()
