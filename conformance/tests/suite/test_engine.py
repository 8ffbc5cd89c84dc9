"""A run as a whole: selection, transports, processes, saved Traces."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from attrs import evolve

from worker_conformance.cli.entry import call
from worker_conformance.errors import AdapterError, SuiteError, UsageError
from worker_conformance.judge.trace import EntryKind, Trace
from worker_conformance.judge.verdicts import CheckKind, CheckResult, RunResult, Verdict
from worker_conformance.port.locate import locate
from worker_conformance.suite import checks, engine
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import catalogue, scenarios, select
from worker_conformance.suite.engine import RunOptions, rejudge, run

CHOSEN = ("REPLAY-0001", "REPLAY-0005", "LEASE-0003", "MON-0001", "MON-0010")
OPTIONS = RunOptions(worker="reference_worker:factory", select=CHOSEN, seed=11)


class Listener:
    def __init__(self) -> None:
        self.total = 0
        self.begun: list[str] = []
        self.ended: list[str] = []

    def planned(self, total: int) -> None:
        self.total = total

    def started(self, check_id: str, title: str) -> None:
        assert title
        self.begun.append(check_id)

    def finished(self, result: CheckResult) -> None:
        self.ended.append(result.check_id)


def verdicts(result: RunResult) -> dict[str, Verdict]:
    return {check.check_id: check.verdict for check in result.checks}


def test_chosen_checks_are_run_and_told_about() -> None:
    listener = Listener()
    result = run(OPTIONS, listener)
    assert verdicts(result) == dict.fromkeys(CHOSEN, Verdict.PASS) | {}
    assert listener.total == len(CHOSEN)
    assert set(listener.begun) == {"REPLAY-0001", "REPLAY-0005", "LEASE-0003"}
    assert sorted(listener.ended) == sorted(CHOSEN)


def test_a_counterexample_is_named_from_where_the_run_was_started(
    monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    fault = "worker_conformance.selftest.world_faults:approvals_lost_by_a_crash"
    options = RunOptions(worker=fault, select=("PROP-0013", "PROP-0016"), seed=1, jobs=2)
    result = run(evolve(options, failures=Path("report/counterexamples")), Listener())
    found = next(check for check in result.checks if check.check_id == "PROP-0013")
    assert found.failure is not None
    assert found.failure.step == "report/counterexamples/PROP-0013.yaml"
    assert found.rerun.endswith(" report/counterexamples/PROP-0013.yaml")
    assert (tmp_path / found.failure.step).is_file()


def test_two_processes_find_what_one_finds(monkeypatch) -> None:
    monkeypatch.setattr(engine, "PROCESS_WORTH", 1)  # else three short checks share one
    assert run(evolve(OPTIONS, jobs=2), Listener()) == run(OPTIONS, Listener())


def test_few_checks_bring_up_no_processes() -> None:
    everything = list(catalogue())
    one, few = checks.select(["SCHED-0003"], []), checks.select(["ISOL-00*"], [])
    assert engine.worthwhile_jobs(one) == engine.worthwhile_jobs(few) == 1
    assert engine.worthwhile_jobs(checks.select(["PROP-0001", "PROP-0004"], [])) == 2
    assert engine.worthwhile_jobs(everything) >= 16


def test_a_process_on_stdio_gets_the_same_verdicts() -> None:
    spec = f"stdio:{sys.executable} -m reference_worker"
    result = run(evolve(OPTIONS, worker=spec), Listener())
    assert verdicts(result) == verdicts(run(OPTIONS, Listener()))
    assert result.worker.transport == "stdio"


def test_a_monitor_alone_is_judged_over_all_claimed_scenarios(a_worker) -> None:
    listener = Listener()
    mute = evolve(OPTIONS, worker=a_worker("mute_in_replay", ""), select=("MON-0001",), quick=True)
    result = run(mute, listener)
    assert verdicts(result) == {"MON-0001": Verdict.INCONCLUSIVE}
    claimed = {info.check_id for info in catalogue() if info.profile == "replay"}
    assert len(listener.begun) > 20
    assert set(listener.begun) <= claimed


def test_a_quick_run_leaves_out_what_takes_long_and_no_monitor() -> None:
    quick = evolve(OPTIONS, select=(), quick=True)
    played = [info for info in catalogue() if not engine.left_out(info, quick)]
    kinds = {info.kind for info in played}
    assert kinds == {CheckKind.VECTOR, CheckKind.MONITOR}
    monitors = {info.check_id for info in catalogue() if info.kind is CheckKind.MONITOR}
    assert monitors <= {info.check_id for info in played}
    assert {info.profile for info in played} == {info.profile for info in catalogue()}
    assert not any(checks.ORDINARY in info.needs for info in played)
    named = evolve(quick, select=("SCHED-0001",))
    assert not engine.left_out(checks.info_of("SCHED-0001"), named)


def test_an_area_alone_borrows_what_its_monitors_watch_for(monkeypatch) -> None:
    few = [one for one in catalogue() if one.check_id in {"MON-0032", "ISOL-0001", "BLOCK-0006"}]
    monkeypatch.setattr(engine, "catalogue", lambda: few)
    monkeypatch.setattr(checks, "select", lambda _, areas: [i for i in few if i.profile in areas])
    listener = Listener()
    alone = RunOptions(worker="reference_worker:factory", profiles=("isolation",), seed=11)
    assert verdicts(run(alone, listener)) == dict.fromkeys(("MON-0032", "ISOL-0001"), Verdict.PASS)
    assert set(listener.ended) == {"MON-0032", "ISOL-0001"}


def test_a_pattern_that_matches_nothing_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UsageError) as refused:
        select(["REPLAY-001"], [])
    assert "REPLAY-00" in refused.value.hint


def test_globs_and_profiles_choose_together() -> None:
    chosen = select(["LEASE-00*", "REPLAY-*"], ["leases"])
    assert {"LEASE-0001", "LEASE-0012"} <= {info.check_id for info in chosen}
    assert all(info.check_id.startswith("LEASE-00") for info in chosen)


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(UsageError, match="no profile 'repaly'"):
        run(evolve(OPTIONS, profiles=("repaly",)), Listener())


def test_a_worker_that_cannot_be_brought_up_ends_the_run_as_an_adapter_error() -> None:
    with pytest.raises(AdapterError):
        run(evolve(OPTIONS, worker=f"stdio:{sys.executable} -c pass"), Listener())


def test_check_ids_are_unique_and_every_requirement_is_known() -> None:
    ids = [info.check_id for info in catalogue()]
    assert len(ids) == len(set(ids))
    assert all(info.clauses and info.summary for info in catalogue())


def saved(tmp_path: Path) -> Path:
    """The Trace of one vector, saved."""
    with Bench(locate("reference_worker:factory")) as bench:
        trace = bench.play(scenarios()["REPLAY-0001"], 5).trace
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(f"{line}\n" for line in trace.to_lines()), "utf-8")
    return path


def test_a_saved_trace_is_judged_again_without_the_worker(tmp_path: Path) -> None:
    path = saved(tmp_path)
    result = rejudge(Trace.from_lines(path.read_text("utf-8").splitlines()), path)
    assert verdicts(result)["MON-0001"] is Verdict.PASS
    assert result.worker.name == "Reference Worker"


def test_a_breach_in_a_saved_trace_is_found_again(tmp_path: Path) -> None:
    path = saved(tmp_path)
    lines = path.read_text("utf-8").splitlines()
    for place, line in enumerate(lines):
        row = json.loads(line)
        if row.get("kind") == EntryKind.EFFECT and row["body"].get("frame", {}).get(
            "acknowledgements"
        ):
            row["body"]["frame"]["acknowledgements"][0]["sequence"] = 99
            lines[place] = json.dumps(row)
    path.write_text("\n".join(lines), "utf-8")
    assert verdicts(rejudge(Trace.from_lines(lines), path))["MON-0001"] is Verdict.FAIL
    assert call(["replay", str(path)]) == 1


def test_a_trace_that_says_nothing_of_its_vector_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bare.jsonl"
    path.write_text("\n".join(Trace("X-0001", 1).to_lines()), "utf-8")
    assert call(["replay", str(path)]) == 2


def test_one_vector_is_the_same_alone_and_among_all() -> None:
    assert checks.scenario_of("ISOL-0026") == checks.scenarios()["ISOL-0026"]
    with pytest.raises(SuiteError, match="there is no vector ISOL-0000"):
        checks.scenario_of("ISOL-0000")
