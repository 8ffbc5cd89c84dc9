"""Checks over processes: a sweep's worlds are played in one of them only."""

from __future__ import annotations

from worker_conformance.suite.comparisons.catalogue import SWEPT
from worker_conformance.suite.comparisons.registry import JUDGES
from worker_conformance.suite.sharing_out import scope_of


def node_id(check_id: str) -> str:
    return f"collected/test_worker.py::test_check[{check_id}]"


def test_a_sweep_stays_together_and_everything_else_goes_alone() -> None:
    checks = [*sorted(SWEPT), "PRIV-0001", "SCHED-0003", "PROP-0013"]
    scopes = [scope_of(node_id(check)) for check in checks]
    assert len(set(scopes[: len(SWEPT)])) == 1
    assert len(set(scopes)) == 1 + len(checks) - len(SWEPT)


def test_those_of_a_sweep_are_those_that_play_its_worlds() -> None:
    swept = set()
    for check_id, judge in JUDGES.items():
        names = getattr(judge, "__code__", None)
        if names is not None and {"sweep", "of"} <= set(names.co_names):
            swept.add(check_id)
    assert swept == SWEPT
