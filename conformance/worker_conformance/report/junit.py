"""The result of a run as JUnit XML, the way CI systems read it.

One `testsuite` for each area, one `testcase` for each check. JUnit knows four outcomes, so the
verdicts are folded into them here, and the suite's own word stands in `type`. Never decides one.
"""

from pathlib import Path

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from worker_conformance.judge.verdicts import CheckResult, RunResult, Verdict
from worker_conformance.report.story import figures, story
from worker_conformance.report.telling import visible

JunitOutcome = Failure | Error | Skipped

OUTCOMES: dict[Verdict, type[JunitOutcome] | None] = {
    Verdict.SUITE_ERROR: Error,
    Verdict.ADAPTER_ERROR: Error,
    Verdict.FAIL: Failure,
    Verdict.INCONCLUSIVE: Failure,  # a CI system shows skipped as green
    Verdict.ADVICE: None,
    Verdict.EXPECTED_FAIL: Skipped,  # as pytest writes an expected failure
    Verdict.PASS: None,
    Verdict.ABSTAINED: Skipped,
    Verdict.NOT_CLAIMED: Skipped,
}


def write(result: RunResult, path: Path, *, timing: bool = True) -> None:
    """Write `result` to `path`; without `timing` every duration is 0, so equal runs match."""
    path.write_bytes(to_bytes(result, timing=timing))


def to_bytes(result: RunResult, *, timing: bool) -> bytes:
    """Spell `result` as JUnit XML."""
    document = JUnitXml(f"{result.suite.name} {result.suite.version}")
    for area in result.areas():
        suite = TestSuite(str(area.profile))
        for name, value in _properties(result):
            suite.add_property(name, value)
        for check in result.checks:
            if check.profile == area.profile:
                suite.add_testcase(_test_case(check, timing=timing))
        document.add_testsuite(suite)
    document.update_statistics()  # type: ignore[no-untyped-call]  # junitparser types only part
    text: bytes = document.tostring()  # type: ignore[no-untyped-call]  # of its own API
    return text


def _test_case(check: CheckResult, *, timing: bool) -> TestCase:
    case = TestCase(
        f"{check.check_id} {visible(check.title)}",
        classname=f"worker-conformance.{check.profile}",
        time=round(check.seconds, 3) if timing else 0.0,
    )
    outcome = OUTCOMES[check.verdict]
    if outcome is not None:
        # The constructor takes the message and the type; the text is what a CI system folds out.
        entry = outcome(_headline(check), check.verdict.value)
        entry.text = story(check)
        case.result = [entry]
    case.system_out = story(check) if check.verdict is not Verdict.PASS else figures(check)
    if check.failure is not None and check.failure.stderr.strip():
        case.system_err = visible(check.failure.stderr)
    return case


def _properties(result: RunResult) -> list[tuple[str, str]]:
    return [
        ("worker", visible(f"{result.worker.name} {result.worker.version}")),
        ("adapter", visible(result.worker.adapter)),
        ("seed", str(result.seed)),
        ("requirementDigest", result.requirement_digest),
        ("vectorDigest", result.vector_digest),
    ]


def _headline(check: CheckResult) -> str:
    if check.failure is not None and not check.reason:
        return visible(f"{check.requirement}: expected {check.failure.expected}")
    return visible(check.reason)
