"""The rules that turn verdicts into an exit code and a claim."""

from collections.abc import Callable

import pytest
from attrs import evolve

from worker_conformance.judge.verdicts import (
    CheckResult,
    DeclarationRecord,
    Measurement,
    RunResult,
    Selection,
    Standing,
    Verdict,
)
from worker_conformance.scenario.model import Profile

MakeCheck = Callable[..., CheckResult]
MakeRun = Callable[..., RunResult]

EXIT_CODES = {
    Verdict.PASS: 0,
    Verdict.FAIL: 1,
    Verdict.INCONCLUSIVE: 1,
    Verdict.ADVICE: 0,
    Verdict.EXPECTED_FAIL: 0,
    Verdict.ABSTAINED: 0,
    Verdict.NOT_CLAIMED: 0,
    Verdict.ADAPTER_ERROR: 3,
    Verdict.SUITE_ERROR: 4,
}


@pytest.mark.parametrize("verdict", list(Verdict), ids=str)
def test_one_verdict_beside_a_passing_core_decides_the_exit_code(
    verdict: Verdict, a_check: MakeCheck, a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    run = a_run(*core_checks, a_check("replay", 2, verdict))
    assert run.exit_code() == EXIT_CODES[verdict]


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ((Verdict.FAIL, Verdict.ADAPTER_ERROR), 3),
        ((Verdict.FAIL, Verdict.ADAPTER_ERROR, Verdict.SUITE_ERROR), 4),
        ((Verdict.ADVICE, Verdict.FAIL), 1),
    ],
    ids=["adapter over fail", "suite over adapter", "fail over advice"],
)
def test_the_gravest_verdict_takes_precedence(
    verdicts: tuple[Verdict, ...],
    code: int,
    a_check: MakeCheck,
    a_run: MakeRun,
    core_checks: list[CheckResult],
) -> None:
    extra = [a_check("leases", 10 + n, verdict) for n, verdict in enumerate(verdicts)]
    assert a_run(*core_checks, *extra).exit_code() == code


def test_nothing_executed_is_not_conforming(a_check: MakeCheck, a_run: MakeRun) -> None:
    empty = a_run()
    unclaimed = a_run(a_check("replay", 1, Verdict.NOT_CLAIMED))
    abstained = a_run(
        a_check("preemption", 1, Verdict.ABSTAINED),
        selection=Selection(checks=("PREEMPTION-0001",)),
    )
    assert [run.exit_code() for run in (empty, unclaimed, abstained)] == [1, 1, 1]
    assert "no check was executed" in empty.claim()


@pytest.mark.parametrize("missing", ["replay", "scheduling", "disclosure", "leases"])
def test_without_a_core_area_a_full_run_does_not_pass(
    missing: str, a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    run = a_run(*(check for check in core_checks if check.profile != missing))
    assert run.exit_code() == 1
    assert f"not passed because not judged: {missing}" in run.claim()


def test_an_area_where_everything_is_abstained_from_does_not_pass(
    a_check: MakeCheck, a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    rest = [check for check in core_checks if check.profile != "preemption"]
    run = a_run(*rest, a_check("preemption", 1, Verdict.ABSTAINED))
    assert run.exit_code() == 1
    assert run.missing_areas() == ("preemption",)


def test_a_claimed_area_beyond_the_core_has_to_pass_too(
    a_check: MakeCheck, a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    run = a_run(*core_checks, a_check("blocking", 1, Verdict.ABSTAINED))
    assert run.exit_code() == 1


def test_profiles_judge_a_narrower_claim_that_can_pass(partial: RunResult) -> None:
    assert partial.exit_code() == 0
    assert partial.claim() == (
        "Example Worker 1.4.0 passes the narrower set of areas replay and leases of suite 0.1.0, "
        "requirement set sha256:3f2a3f2a3f2a."
    )


def test_a_profile_asked_for_and_not_claimed_does_not_pass(
    a_check: MakeCheck, a_run: MakeRun
) -> None:
    run = a_run(
        a_check("replay"),
        a_check("offline", 1, Verdict.NOT_CLAIMED),
        selection=Selection(profiles=("replay", "offline")),
    )
    assert run.exit_code() == 1
    assert "offline" in run.claim()


def test_chosen_checks_pass_without_a_claim_about_any_area(
    a_check: MakeCheck, a_run: MakeRun
) -> None:
    run = a_run(a_check("replay"), selection=Selection(checks=("REPLAY-0001",)))
    assert run.exit_code() == 0
    assert run.claim() == (
        "Example Worker 1.4.0 passes the chosen checks (1 executed) of suite 0.1.0; "
        "that is no claim about an area."
    )


def test_the_core_is_claimed_in_the_agreed_words(passing: RunResult) -> None:
    assert passing.claim() == (
        "Example Worker 1.4.0 passes the core Worker areas of suite 0.1.0, "
        "requirement set sha256:3f2a3f2a3f2a."
    )


def test_all_areas_are_claimed_only_when_all_passed(a_check: MakeCheck, a_run: MakeRun) -> None:
    everything = [a_check(profile.value) for profile in Profile]
    assert "passes all Worker areas of suite" in a_run(*everything).claim()
    assert "passes the core Worker areas and admission" in a_run(*everything[:7]).claim()


def test_no_claim_ever_says_that_a_worker_conforms(
    passing: RunResult, failing: RunResult, partial: RunResult, silent: RunResult
) -> None:
    for run in (passing, failing, partial, silent):
        assert "conform" not in run.claim()


def test_a_quick_run_says_that_it_is_no_claim(passing: RunResult) -> None:
    quick = evolve(passing, selection=Selection(quick=True))
    assert quick.exit_code() == 0
    assert "quick run" in quick.claim()
    assert "a claim needs the run without --quick" in quick.claim()


def test_an_excused_failure_keeps_its_area_out_of_the_claim(
    a_check: MakeCheck, a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    run = a_run(*core_checks, a_check("leases", 9, Verdict.EXPECTED_FAIL))
    assert run.exit_code() == 0
    assert "core Worker areas" not in run.claim()
    assert "leases" not in run.claim()
    assert "The baseline excuses: LEASES-0009." in run.qualifications()


def test_abstentions_advice_and_ceilings_are_said_with_the_claim(failing: RunResult) -> None:
    assert failing.qualifications() == (
        "The baseline excuses: LEASES-0005.",
        "Advice not followed: SCHEDULING-0004.",
        "Abstained from: PREEMPTION-0006.",
        "Not claimed: offline.",
        "lagQuanta: declared 50, held to the ceiling 8",
    )


def test_a_claimed_area_without_any_check_is_named_and_never_claimed(
    a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    profiles = (*(check.profile for check in core_checks), "offline")
    run = a_run(*core_checks, declaration=DeclarationRecord(profiles=profiles))
    assert run.exit_code() == 0
    assert "offline" not in run.claim()
    assert run.qualifications() == ("Claimed, but no check of this run judges: offline.",)


def test_declarations_that_narrow_a_pass_are_said_with_the_claim(
    a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    declaration = DeclarationRecord(
        profiles=tuple(check.profile for check in core_checks),
        effective={"reservedSlots": 1, "considers": []},
    )
    reserved, considered = a_run(*core_checks, declaration=declaration).qualifications()
    assert reserved == "Keeps 1 of its Capacity Slots in reserve."
    assert considered.endswith("checks of that influence do not apply.")


def test_a_silent_worker_passes_no_area(silent: RunResult) -> None:
    assert silent.exit_code() == 1
    assert {area.standing for area in silent.areas()} == {Standing.NOT_PASSED}
    assert "areas that pass" not in silent.claim()


def test_broken_tools_allow_no_statement_about_the_worker(
    a_check: MakeCheck, a_run: MakeRun, core_checks: list[CheckResult]
) -> None:
    for verdict in (Verdict.ADAPTER_ERROR, Verdict.SUITE_ERROR):
        run = a_run(*core_checks, a_check("replay", 2, verdict))
        assert run.claim().startswith("Nothing can be said of Example Worker 1.4.0")


def test_areas_stand_in_the_order_of_the_protocol(silent: RunResult) -> None:
    assert [area.profile for area in silent.areas()] == [profile.value for profile in Profile]


def test_a_requirement_takes_the_worst_verdict_of_its_checks(
    a_check: MakeCheck, a_run: MakeRun
) -> None:
    good, bad = a_check("replay", 1), a_check("leases", 1, Verdict.FAIL)
    assert a_run(good, bad).requirements() == {"WRK-001.a": Verdict.FAIL}


@pytest.mark.parametrize(
    "changes",
    [
        {"witness": 0},
        {"verdict": Verdict.FAIL},
        {"verdict": Verdict.ADVICE},
        {"verdict": Verdict.INCONCLUSIVE},
        {"verdict": Verdict.NOT_CLAIMED},
    ],
    ids=lambda changes: " ".join(map(str, *changes.items())),
)
def test_a_verdict_without_its_evidence_cannot_be_built(
    changes: dict[str, object], a_check: MakeCheck
) -> None:
    check = a_check("replay")
    with pytest.raises(ValueError, match="REPLAY-0001"):
        evolve(check, **changes)  # type: ignore[arg-type]  # the table names members


def test_two_verdicts_for_one_check_cannot_be_built(a_check: MakeCheck, a_run: MakeRun) -> None:
    with pytest.raises(ValueError, match="more than one verdict for REPLAY-0001"):
        a_run(a_check("replay"), a_check("replay"))


def test_real_time_takes_no_part_in_equality(a_check: MakeCheck) -> None:
    assert evolve(a_check("replay"), seconds=9.0) == a_check("replay")


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_figure_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="no measurement"):
        Measurement("lag", value, 8.0, "units")
