"""One check's result as plain text: for JUnit, pytest, and whatever else lays nothing out.

Never decides a verdict; all of it is harmless text.
"""

from worker_conformance.judge.verdicts import CheckResult
from worker_conformance.report.telling import clause_line, figure, measured, visible


def story(check: CheckResult) -> str:
    """Tell everything a failure prints on a terminal, without a layout."""
    lines = [f"{check.verdict.value}: {check.title}", clause_line(check), check.summary]
    if check.reason:
        lines.append(f"reason: {check.reason}")
    if check.failure is not None:
        failure = check.failure
        lines += [f"expected: {failure.expected}", f"observed: {failure.observed}"]
        lines += [f"step: {failure.step}"] if failure.step else []
        lines += ["transcript:", *(f"  {line}" for line in failure.transcript)]
    lines += list(filter(None, [figures(check)]))
    lines += [f"again: {check.rerun}"] if check.rerun else []
    return visible("\n".join(lines))


def figures(check: CheckResult) -> str:
    """Tell what a check measured, a figure a line."""
    rows = []
    for each in measured(check):
        bound = "" if each.bound is None else f" (bound {figure(each.bound)})"
        rows.append(f"{each.name}: {figure(each.value)}{bound} {each.unit}".rstrip())
    return visible("\n".join(rows))
