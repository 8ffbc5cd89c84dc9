"""What pytest collects: one test for each check that plays a scenario."""

from __future__ import annotations

from worker_conformance.suite.plugin import Judge


def test_check(check_id: str, judge: Judge) -> None:
    """Play the check's scenario against the Worker; the plugin keeps what came of it."""
    judge(check_id)
