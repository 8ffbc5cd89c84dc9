"""A campaign of generated worlds, without a cluster: numbers, outcomes, the store, the result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from worker_conformance.errors import UsageError
from worker_conformance.judge.verdicts import Failure, RunResult, Verdict
from worker_conformance.port.locate import locate
from worker_conformance.report import html, json_report, junit
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.engine import RunOptions, introduced
from worker_conformance.suite.properties import reduction
from worker_conformance.suite.properties.catalogue import PROPERTIES
from worker_conformance.suite.properties.judging import judge_world
from worker_conformance.suite.properties.theatre import Theatre
from worker_conformance.suite.soak import world
from worker_conformance.suite.soak.campaign import Campaign
from worker_conformance.suite.soak.merging import merged
from worker_conformance.suite.soak.outcome import Flaw, Outcome
from worker_conformance.suite.soak.store import OUTCOMES, Store, campaign_in
from worker_conformance.suite.soak.tally import Numbers, Tally

REFERENCE = "reference_worker:factory"
FAULTY = "worker_conformance.selftest.mutants.replay:no_dedupe"
SEED_THAT_SHOWS_IT = 21
TWO = ("PROP-0001", "PROP-0013")
CAMPAIGN = Campaign("x:y", "X", "1", 7, TWO)


def outcome(number: int, verdict: Verdict = Verdict.PASS, **members: object) -> Outcome:
    made = Outcome(number, TWO[number % 2], Verdict.PASS, 1, coverage={"state:running": 1})
    return evolve(made, verdict=verdict, **members)


def failed(number: int, signature: str, steps: int, text: str = "vector") -> Outcome:
    flaw = Flaw(signature, Failure("this", "that", ("a line",)), steps, len(text), text)
    return outcome(number, Verdict.FAIL, flaw=flaw)


# --- a world ------------------------------------------------------------------------------


def test_a_number_is_a_property_and_a_seed_and_stays_so() -> None:
    assert [CAMPAIGN.property_of(number).check_id for number in range(4)] == [*TWO, *TWO]
    assert [CAMPAIGN.seed_of(number) for number in (0, 1)] == [175671273453774, 116758891860786]
    assert evolve(CAMPAIGN, seed=8).seed_of(0) != CAMPAIGN.seed_of(0)


def test_a_campaign_judges_what_the_worker_claims() -> None:
    declaration, _ = introduced(RunOptions(REFERENCE))
    assert Campaign.of(REFERENCE, declaration, 1).checks == tuple(i.check_id for i in PROPERTIES)
    narrow = evolve(declaration, profiles=frozenset({"retries"}))
    assert Campaign.of(REFERENCE, narrow, 1).checks == ("PROP-0008",)
    with pytest.raises(UsageError, match="claims no area"):
        Campaign.of(REFERENCE, evolve(declaration, profiles=frozenset()), 1)


@pytest.mark.parametrize("place", [0, 12])
def test_a_world_is_one_course_or_one_pair(place: int) -> None:
    with Bench(locate(REFERENCE)) as bench:
        theatre = Theatre(bench, 3)
        judged = judge_world(PROPERTIES[place], theatre)
    (worlds,) = [one.value for one in judged.measurements if one.name == "worlds"]
    assert worlds == 1
    assert theatre.played <= (1 if place == 0 else 3)


def test_a_world_played_again_comes_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "PLAYS_MAX", 6)
    campaign = Campaign(FAULTY, "X", "1", SEED_THAT_SHOWS_IT, ("PROP-0001",))
    first = world.play_world(campaign, 0)
    world.close_benches()
    assert world.play_world(campaign, 1).verdict is not Verdict.FAIL
    again = world.play_world(campaign, 0)  # after another world, in another Worker
    world.close_benches()
    assert first == again
    assert first.flaw is not None
    assert again.flaw is not None
    assert first.flaw.text == again.flaw.text
    assert first.flaw.signature.startswith("MON-0013")


def test_a_broken_adapter_and_another_suite_are_told_apart(
    a_worker,
) -> None:
    broken = a_worker(
        "falls_over", "class Own(Worker):\n    def answer(self, _):\n        return 1"
    )
    campaign = Campaign(broken, "X", "1", 1, ("PROP-0002",))
    told = world.play_world(campaign, 0)
    world.close_benches()
    assert told.verdict is Verdict.ADAPTER_ERROR
    assert told.reason
    with pytest.raises(UsageError, match="the campaign is of suite 0"):
        world.play_world(evolve(campaign, suite="0"), 0)


# --- its line -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "one",
    [
        outcome(0),
        outcome(3, Verdict.INCONCLUSIVE, witness=0, reason="never reached: ä \ud800"),
        failed(2, "MON-0001 a b c", 4),
    ],
    ids=lambda one: str(one.verdict),
)
def test_an_outcome_is_one_line_and_back(one: Outcome) -> None:
    line = one.to_line()
    assert line.isascii()
    assert "\n" not in line
    assert Outcome.from_line(line) == one


# --- the store ----------------------------------------------------------------------------


def test_a_store_goes_on_where_it_ended(tmp_path: Path) -> None:
    with Store(tmp_path, CAMPAIGN) as store:
        assert store.take(outcome(0))
        assert store.take(outcome(4))
        assert not store.take(outcome(4, witness=9))  # played twice: the first answer counts
    with Store(tmp_path, CAMPAIGN) as store:
        assert store.tally.worlds == 2
        assert [number in store.tally.numbers for number in range(5)] == [1, 0, 0, 0, 1]
        assert not store.take(outcome(0))
        assert store.take(outcome(1))
    assert len((tmp_path / OUTCOMES).read_text().splitlines()) == 3
    assert campaign_in(tmp_path) == CAMPAIGN


def test_half_a_line_at_the_end_is_removed_and_its_world_played_again(tmp_path: Path) -> None:
    with Store(tmp_path, CAMPAIGN) as store:
        store.take(outcome(0))
    whole = (tmp_path / OUTCOMES).read_bytes()
    (tmp_path / OUTCOMES).write_bytes(whole + outcome(1).to_line().encode()[:40])
    with Store(tmp_path, CAMPAIGN) as store:
        assert store.tally.worlds == 1
        assert store.take(outcome(1))
    assert (tmp_path / OUTCOMES).read_text().splitlines() == [
        outcome(0).to_line(),
        outcome(1).to_line(),
    ]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_shortest_counterexample_of_a_failure_is_kept(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    found = [failed(0, "one", 5, "long"), failed(2, "one", 3, "short"), failed(4, "other", 9)]
    for place in order:
        with Store(tmp_path, CAMPAIGN) as store:  # each in a campaign that was gone on with
            store.take(found[place])
    kept = sorted(path.read_text() for path in (tmp_path / "counterexamples").iterdir())
    assert kept == ["short", "vector"]
    with Store(tmp_path, CAMPAIGN) as store:
        assert store.counterexample("PROP-0001", "one").read_text() == "short"


HOSTILE = {
    "no JSON": b"{nonsense\n",
    "binary": b"\xff\x00\xfe\n",
    "an empty line": b"\n",
    "no object": b"[1]\n",
    "nested": b"[" * 100_000 + b"\n",
    "a huge number": b'{"world":' + b"9" * 5_000 + b"}\n",
    "too long": b" " * (16 * 1024 * 1024 + 2) + b"\n",
    "negative": outcome(0).to_line().replace('"world":0', '"world":-2').encode() + b"\n",
    "a count that is none": outcome(0).to_line().replace('"witness":1', '"witness":"1"').encode()
    + b"\n",
    "endless": outcome(0).to_line().replace('"seconds":0', '"seconds":1e999').encode() + b"\n",
    "a verdict that is none": outcome(0).to_line().replace("pass", "fine").encode() + b"\n",
    "a failure without evidence": outcome(0).to_line().replace("pass", "fail").encode() + b"\n",
    "another property's world": outcome(0).to_line().replace("PROP-0001", "PROP-0013").encode()
    + b"\n",
    "a path": outcome(0).to_line().replace("PROP-0001", "../../x").encode() + b"\n",
    "a world twice": 2 * (outcome(0).to_line().encode() + b"\n"),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_line_that_no_campaign_wrote_is_refused_and_left_alone(
    text: bytes, tmp_path: Path
) -> None:
    with Store(tmp_path, CAMPAIGN) as store:
        store.take(outcome(2))
    path = tmp_path / OUTCOMES
    path.write_bytes(path.read_bytes() + text + outcome(4).to_line().encode() + b"\n")
    before = path.read_bytes()
    with pytest.raises(UsageError) as refused:
        Store(tmp_path, CAMPAIGN)
    assert refused.value.where is not None
    assert refused.value.where.rpartition(":")[2] in ("2", "3")
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"format": 1}', "[" * 100_000])
def test_a_campaign_file_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "campaign.json").write_text(text)
    with pytest.raises(UsageError, match="no store of a campaign"):
        Store(tmp_path, CAMPAIGN)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 8}, "seed 7, not 8"),
        ({"worker": "a:b"}, "Worker x:y, not a:b"),
        ({"version": "2"}, "version 1, not 2"),
        ({"checks": ("PROP-0001",)}, "other areas"),
        ({"suite": "9"}, "not 9"),
    ],
)
def test_the_store_of_another_campaign_is_refused(
    change: dict[str, object], told: str, tmp_path: Path
) -> None:
    Store(tmp_path, CAMPAIGN).close()
    with pytest.raises(UsageError, match=told):
        Store(tmp_path, evolve(CAMPAIGN, **change))
    Store(tmp_path, evolve(CAMPAIGN, timeout_seconds=1.0)).close()


def test_nobody_else_writes_into_an_open_store(tmp_path: Path) -> None:
    with Store(tmp_path, CAMPAIGN), pytest.raises(UsageError, match="another campaign writes"):
        Store(tmp_path, CAMPAIGN)


def test_outcomes_that_nobody_answers_for_are_refused(tmp_path: Path) -> None:
    (tmp_path / OUTCOMES).write_text(outcome(0).to_line() + "\n")
    with pytest.raises(UsageError, match=r"no campaign\.json"):
        Store(tmp_path, CAMPAIGN)


def test_numbers_that_are_all_played_take_no_room() -> None:
    numbers = Numbers()
    for number in (3, 1, 0, 2, 7):
        numbers.add(number)
    assert len(numbers) == 5
    assert numbers.above == {7}


# --- the result ---------------------------------------------------------------------------


def result_of(*outcomes: Outcome) -> RunResult:
    declaration, transport = introduced(RunOptions(REFERENCE))
    tally = Tally()
    for one in outcomes:
        tally.add(one)
    return merged(CAMPAIGN, tally, declaration, transport, Path("store"))


def test_worlds_are_summed_up_into_one_check_for_each_property() -> None:
    shown = outcome(0, Verdict.INCONCLUSIVE, witness=0, reason="never reached: x")
    result = result_of(shown, outcome(2, witness=3), outcome(1), failed(3, "one", 2))
    first, second = result.checks
    assert (first.verdict, first.witness) == (Verdict.PASS, 3)
    assert (second.verdict, second.witness) == (Verdict.FAIL, 2)
    assert second.failure is not None
    assert second.rerun.startswith("worker-conformance replay --worker x:y --seed ")
    assert result.coverage == {"state:running": 4}
    assert [one.value for one in second.measurements] == [2, 1, 1]
    assert result.exit_code() == 1


def test_a_soak_is_no_claim_about_an_area() -> None:
    result = result_of(outcome(0), outcome(1))
    assert result.exit_code() == 0
    assert "no claim about an area" in result.claim()
    assert result.selection.checks == TWO


@pytest.mark.parametrize(
    ("verdict", "code"),
    [(Verdict.INCONCLUSIVE, 1), (Verdict.ADAPTER_ERROR, 3), (Verdict.SUITE_ERROR, 4)],
)
def test_the_exit_code_is_that_of_the_worst_world(verdict: Verdict, code: int) -> None:
    result = result_of(outcome(0, verdict, witness=0, reason="because"), outcome(1))
    assert result.exit_code() == code
    assert "because" in result.checks[0].reason


def test_a_campaign_without_a_world_passes_nothing() -> None:
    assert result_of().exit_code() == 1


def test_the_ordinary_reports_can_be_written(tmp_path: Path) -> None:
    result = result_of(outcome(0), failed(1, "one", 2))
    json_report.write(result, tmp_path / "result.json")
    junit.write(result, tmp_path / "junit.xml", timing=True)
    html.write(result, tmp_path / "report.html", timing=True)
    assert json.loads((tmp_path / "result.json").read_text())["run"]["selection"]["checks"]
    assert "PROP-0013" in (tmp_path / "report.html").read_text("utf-8")
