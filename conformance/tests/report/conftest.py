"""Results to report on: a passing Worker, a failing one, one that claims little, a silent one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from worker_conformance.judge.evidence import (
    EstimateWindow,
    Mark,
    MarkKind,
    Timeline,
    ViewPair,
)
from worker_conformance.judge.verdicts import (
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
from worker_conformance.scenario.model import CORE_PROFILES, Level, Profile

REQUIREMENTS = "sha256:" + "3f2a" * 16
VECTORS = "sha256:" + "b07c" * 16

GAP = CheckResult(
    check_id="REPLAY-0007",
    title="A gap holds the Cursor for as long as it lasts",
    summary="The durable Cursor never passes a gap, whatever time passes.",
    requirement="WRK-029.c",
    clauses=("MWP-WRK-029",),
    level=Level.MUST,
    profile="replay",
    kind=CheckKind.VECTOR,
    verdict=Verdict.PASS,
    witness=2,
    rerun='worker-conformance run --worker "stdio:./worker --port" --seed 1 REPLAY-0007',
    seconds=0.1234,
)
SHARE = CheckResult(
    check_id="SCHEDULING-0002",
    title="Weights 3:1 share the slots within the bound",
    summary="Backlogged Groups of one class share service by their weights.",
    requirement="WRK-010.a",
    clauses=("MWP-WRK-009", "MWP-WRK-010"),
    level=Level.MUST,
    profile="scheduling",
    kind=CheckKind.FAIRNESS,
    verdict=Verdict.PASS,
    witness=240,
    measurements=(
        Measurement("lag A over B", 3.3333333, 8.0, "service units", "240 dispatches"),
        Measurement("smallest error this run detects", 0.25, None, "share"),
    ),
    rerun='worker-conformance run --worker "stdio:./worker --port" --seed 1 SCHEDULING-0002',
    seconds=2.5,
)
GAP_FAILURE = Failure(
    expected="ACK {A: 3} for as long as A/4 is missing",
    observed="ACK {A: 5} at 00:10:00, over the missing A/4",
    transcript=(
        "00:00:00  suite   start",
        "00:00:00  worker  frame SUBSCRIBE {A: 0}",
        "00:00:00  suite   EVENT A/1 mission.created, A/2 membership.changed, A/3 work.authorized",
        "00:00:00  worker  ACK {A: 3}",
        "00:00:00  suite   EVENT A/5 message.posted",
        "00:10:00  suite   tick",
        "00:10:00  worker  ACK {A: 5}",
    ),
    stderr="worker: gap at 4, waited 600 s, going on\n\x1b[31mworker: cursor is now 5\x1b[0m\n",
    step="expect: {ack: {A: 3}} (vectors/replay/REPLAY-0007.yaml:22)",
)
LAG_FAILURE = Failure(
    expected="a backlogged lag of at most 8 service units between any two Groups",
    observed="61.5 service units: A was served 180 times while B waited",
    transcript=(
        "00:00:10  worker  COMMAND work.start a17",
        "00:00:20  worker  COMMAND work.start a18",
    ),
)

GAP_TIMELINE = Timeline(
    groups=("A", "B"),
    slots=("s1",),
    marks=(
        Mark(0, MarkKind.START, "suite", "start, Session Epoch 1, 1 slot(s), Groups A B"),
        Mark(0, MarkKind.POSITION, "Worker", "SUBSCRIBE A:0", "A"),
        Mark(0, MarkKind.EVENT, "suite", "EVENT A/1 k, EVENT A/2 k, EVENT A/3 k", "A", times=3),
        Mark(0, MarkKind.ESTIMATE, "Worker", "disclose A a1", "A"),
        Mark(0, MarkKind.COMMAND, "Worker", "COMMAND work.start a1", "A", times=3, until=60.0),
        Mark(60, MarkKind.GRANTED, "suite", "Execution Lease of a1", "A", until=60.0),
        Mark(60, MarkKind.RUN, "Worker", "run s1 A a1", "A", "s1", until=60.0),
        Mark(90, MarkKind.SLOT, "suite", "execution s1 a1 progress", "", "s1", until=90.0),
        Mark(120, MarkKind.REFUSED, "suite", "(refused: work.submit a1)", "A", until=120.0),
        Mark(130, MarkKind.CUT, "suite", "link down B", "B", until=130.0),
        Mark(140, MarkKind.CRASH, "suite", "SIGKILL", until=140.0),
        Mark(150, MarkKind.ENDED, "suite", "Execution Lease of a1", "A", until=150.0),
        Mark(600, MarkKind.POSITION, "Worker", "ACK A:5", "A", until=600.0),
    ),
    ends_at=600.0,
    left_out=12,
    left_out_after=4,
    last_breaks=True,
)
VECTOR_TEXT = """id: REPLAY-0007
title: A gap holds the Cursor for as long as it lasts
steps:
  - start
  - expect: {ack: {A: 3}}
"""
VIEWS = (
    ViewPair("an estimate: disclose", (0.0, 0.0), '{"confidence":0.42}', '{"confidence":0.57}'),
    ViewPair("a Command: work.start", (60.0, None), '{"kind":"work.start"}', None, 12, 7),
)
WINDOWS = (
    EstimateWindow("a1", 0.0, 60.0, 300.0, 0.5, 120.0),
    EstimateWindow("a2", 0.0, 60.0, 300.0, 0.9, 900.0),
    EstimateWindow("a3", 30.0, 60.0, 300.0, None, None),
    EstimateWindow("b1", 0.0, 60.0, 300.0, 0.5, 120.0, "two slots"),
)
LAG = Measurement(
    "backlogged lag", 9.0, 4.0, "dispatches", "", ((0, 0.1), (600, 0.9), (7200, 2.25), (9000, 1.5))
)


def check_of(profile: str, number: int = 1, verdict: Verdict = Verdict.PASS) -> CheckResult:
    """A check of `profile` with whatever its verdict needs."""
    excused = verdict in (Verdict.FAIL, Verdict.ADVICE, Verdict.EXPECTED_FAIL)
    return CheckResult(
        check_id=f"{profile.upper()}-{number:04}",
        title=f"Duty {number} of {profile} is kept",
        summary=f"What duty {number} of {profile} demands, in one sentence.",
        requirement=f"WRK-0{number:02}.a",
        clauses=(f"MWP-WRK-0{number:02}",),
        level=Level.SHOULD if verdict is Verdict.ADVICE else Level.MUST,
        profile=profile,
        kind=CheckKind.VECTOR,
        verdict=verdict,
        reason="" if verdict in (Verdict.PASS, Verdict.FAIL, Verdict.ADVICE) else "a reason",
        failure=Failure("what the clause says", "something else") if excused else None,
        witness=1 if verdict is Verdict.PASS else 0,
        rerun=f"worker-conformance run {profile.upper()}-{number:04}",
    )


def run_over(*checks: CheckResult, **changes: object) -> RunResult:
    """A run over `checks`, everything else as a full run of a core Worker has it."""
    run = RunResult(
        suite=SuiteIdentity("missionweaveprotocol-worker-conformance", "0.1.0"),
        worker=WorkerIdentity(
            name="Example Worker",
            version="1.4.0",
            language="Go",
            homepage="https://example.org/w",
            adapter="stdio:./worker --port",
            transport="stdio",
        ),
        declaration=DeclarationRecord(
            profiles=tuple(p.value for p in Profile if p in CORE_PROFILES),
            declared={"lagQuanta": 50, "considers": ["priorityClass"], "queueCapacity": 200},
            effective={"lagQuanta": 8, "considers": ["priorityClass"], "queueCapacity": 200},
            notes=("lagQuanta: declared 50, held to the ceiling 8",),
        ),
        seed=1,
        selection=Selection(),
        requirement_digest=REQUIREMENTS,
        vector_digest=VECTORS,
        checks=tuple(sorted(checks, key=lambda check: check.check_id)),
    )
    return evolve(run, **changes)  # type: ignore[arg-type]  # a test names the members it changes


def the_core() -> list[CheckResult]:
    """One passed check for every core area."""
    return [check_of(profile.value) for profile in Profile if profile in CORE_PROFILES]


@pytest.fixture
def a_check() -> Callable[..., CheckResult]:
    """Makes a check of a profile with a verdict."""
    return check_of


@pytest.fixture
def a_run() -> Callable[..., RunResult]:
    """Makes a run over some checks."""
    return run_over


@pytest.fixture
def core_checks() -> list[CheckResult]:
    """One passed check for every core area."""
    return the_core()


@pytest.fixture
def passing() -> RunResult:
    """Every core area passed; the others not claimed."""
    rest = [p.value for p in Profile if p not in CORE_PROFILES]
    unclaimed = [check_of(name, 1, Verdict.NOT_CLAIMED) for name in rest]
    return run_over(GAP, SHARE, *the_core(), *unclaimed)


@pytest.fixture
def failing() -> RunResult:
    """A bit of every verdict, with long and hostile text."""
    checks = (
        evolve(GAP, verdict=Verdict.FAIL, failure=GAP_FAILURE),
        evolve(
            SHARE,
            verdict=Verdict.FAIL,
            failure=LAG_FAILURE,
            measurements=(Measurement("lag A over B", 61.5, 8.0, "service units"),),
        ),
        *the_core(),
        check_of("replay", 3, Verdict.INCONCLUSIVE),
        check_of("scheduling", 4, Verdict.ADVICE),
        check_of("leases", 5, Verdict.EXPECTED_FAIL),
        check_of("preemption", 6, Verdict.ABSTAINED),
        check_of("offline", 1, Verdict.NOT_CLAIMED),
    )
    return run_over(*checks)


@pytest.fixture
def drawn() -> RunResult:
    """Failures and passes with everything that a report can draw."""
    gap = evolve(
        GAP_FAILURE,
        step="vectors/replay/REPLAY-0007.yaml:5",
        timeline=GAP_TIMELINE,
        vector=VECTOR_TEXT,
    )
    leak = Failure("the same bytes", "a difference", ("^^",), views=VIEWS, vector=VECTOR_TEXT)
    checks = (
        evolve(GAP, verdict=Verdict.FAIL, failure=gap, scenario="REPLAY-0007", estimates=WINDOWS),
        evolve(SHARE, measurements=(LAG,)),
        evolve(check_of("disclosure", 2, Verdict.FAIL), failure=leak),
        evolve(check_of("disclosure", 3), estimates=WINDOWS),
        *the_core(),
    )
    return run_over(*checks)


@pytest.fixture
def partial() -> RunResult:
    """Claims `replay` and `leases` only, asked for just these, and passes them."""
    return run_over(
        GAP,
        check_of("leases"),
        selection=Selection(profiles=("replay", "leases")),
        declaration=DeclarationRecord(profiles=("replay", "leases")),
    )


@pytest.fixture
def silent() -> RunResult:
    """Claims everything, says nothing: inconclusive everywhere."""
    checks = [check_of(p.value, 1, Verdict.INCONCLUSIVE) for p in Profile]
    return run_over(
        *checks, declaration=DeclarationRecord(profiles=tuple(p.value for p in Profile))
    )
