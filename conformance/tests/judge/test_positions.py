"""A position counts as reached only where the Worker can have come: MON-0001 and MON-0022."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from worker_conformance.judge.trace import EntryKind, Trace
from worker_conformance.port.locate import locate
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import scenarios
from worker_conformance.suite.rejudge import watch_again

ELSEWHERE = "urn:elsewhere:group:a"
ROWS = {"ACK": "acknowledgements", "SUBSCRIBE": "groups"}


def as_it_is(row: dict[str, Any]) -> None:
    """Leaves a position as it was named."""


def of_another_run(row: dict[str, Any]) -> None:
    """Names a Group that this Organization does not have, as a recording of another run does."""
    row["groupId"] = ELSEWHERE


def never_delivered(row: dict[str, Any]) -> None:
    """Names a position that no Event has yet."""
    row.update({name: 99 for name in ("sequence", "afterSequence") if name in row})


def witnesses(change: Callable[[dict[str, Any]], None]) -> dict[str, int]:
    """What the monitors saw in a Trace whose positions were changed."""
    with Bench(locate("reference_worker:factory")) as bench:
        lines = list(bench.play(scenarios()["REPLAY-0001"], 5).trace.to_lines())
    for place, line in enumerate(lines):
        entry = json.loads(line)
        frame = entry.get("body", {}).get("frame", {})
        if entry.get("kind") == EntryKind.EFFECT and frame.get("frameType") in ROWS:
            for row in frame[ROWS[frame["frameType"]]]:
                change(row)
            lines[place] = json.dumps(entry)
    _, _, monitors = watch_again(Trace.from_lines(lines))
    return {one.info.check_id: one.witness for one in monitors}


def test_what_was_delivered_and_is_named_counts() -> None:
    seen = witnesses(as_it_is)
    assert seen["MON-0001"] > 0
    assert seen["MON-0022"] > 0


@pytest.mark.parametrize(
    ("change", "silent"),
    [(of_another_run, {"MON-0001", "MON-0022"}), (never_delivered, {"MON-0022"})],
)
def test_what_nobody_can_have_processed_does_not(
    change: Callable[[dict[str, Any]], None], silent: set[str]
) -> None:
    seen = witnesses(change)
    assert {one for one in ("MON-0001", "MON-0022") if seen[one] == 0} == silent
