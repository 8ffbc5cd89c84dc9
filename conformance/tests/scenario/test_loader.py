"""Vectors in, Scenarios out: the vocabulary, the derived WorkItems, and the refusals."""

from pathlib import Path

import pytest

from worker_conformance.errors import VectorError
from worker_conformance.scenario.loader import load, load_all, load_text
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    Advance,
    Check,
    Condition,
    ConditionKind,
    Deliver,
    Level,
    Mood,
    Profile,
    Scenario,
    Start,
    Step,
    WorkPlan,
)

DATA = Path(__file__).parent / "data"
HEAD = """\
id: REPLAY-0001
title: A title
stake: What is at stake.
requirement: WRK-029.c
level: MUST
groups: {A: {}, B: {}}
log:
  A: [created, member, {authorize: a1}, {offer: a1}]
  B: [created, member]
"""
HEAD_LINES = HEAD.count("\n")
WHERE = "vectors/replay/REPLAY-0001.yaml"


def scenario_of(*steps: str, head: str = HEAD) -> Scenario:
    lines = "".join(f"  - {step}\n" for step in steps)
    return load_text(f"{head}steps:{' []' if not steps else ''}\n{lines}", WHERE)


def action_of(step: str) -> object:
    return scenario_of(step).steps[0].action


def refusal_of(text: str) -> VectorError:
    with pytest.raises(VectorError) as caught:
        load_text(text, WHERE)
    return caught.value


def test_the_example_of_the_design_loads_as_it_is_written() -> None:
    check = ConditionKind
    loaded = load(DATA / "replay" / "REPLAY-0007.yaml")
    assert loaded == Scenario(
        id="REPLAY-0007",
        title="A gap holds the Cursor for as long as it lasts",
        stake="A Worker that lets time carry its Cursor over a missing Event never learns what"
        " that Event said. Here the missing Event is the offer itself.",
        requirement="WRK-029.c",
        level=Level.MUST,
        profile=Profile.REPLAY,
        twin="REPLAY-0008",
        groups=loaded.groups,
        work=(WorkPlan("a1", "A"),),
        log={
            "A": (
                Act(ActKind.CREATED),
                Act(ActKind.MEMBER),
                Act(ActKind.AUTHORIZE, "a1"),
                Act(ActKind.OFFER, "a1"),
                Act(ActKind.MESSAGE, args={"text": "hello"}),
            )
        },
        delivery="manual",
        steps=(
            Step(Start()),
            Step(Deliver({"A": (1, 2, 3)})),
            Step(Deliver({"A": (5,)})),
            Step(Advance(600)),
            Step(Check(Mood.EXPECT, (Condition(check.ACK, {"A": 3}),))),
            Step(Check(Mood.NEVER, (Condition(check.ACCEPT, ("a1",)),))),
            Step(Deliver({"A": (4, 5)})),
            Step(Advance(120)),
            Step(
                Check(
                    Mood.EXPECT,
                    (Condition(check.ACK, {"A": 5}), Condition(check.ACCEPT, ("a1",))),
                )
            ),
        ),
    )
    assert [step.line for step in loaded.steps] == list(range(13, 22))
    assert loaded.source == (DATA / "replay" / "REPLAY-0007.yaml").as_posix()


def test_all_vectors_of_a_folder_come_sorted_by_id() -> None:
    assert [scenario.id for scenario in load_all(DATA)] == ["REPLAY-0007", "WORDS-0001"]


DURATIONS = {"90s": 90, "10m": 600, "2h": 7_200, "3d": 259_200, "45": 45, "0s": 0}


@pytest.mark.parametrize(("written", "seconds"), DURATIONS.items())
def test_a_duration_is_seconds(written: str, seconds: int) -> None:
    assert action_of(f"advance: {written}") == Advance(seconds)


SEQUENCES = {
    "4": (4,),
    "1-3": (1, 2, 3),
    "[5, 4]": (5, 4),
    "[5, 1-2]": (5, 1, 2),
    "all": (-1,),
}


@pytest.mark.parametrize(("written", "numbers"), SEQUENCES.items())
def test_sequences_are_delivered_in_the_order_written(
    written: str, numbers: tuple[int, ...]
) -> None:
    assert action_of(f"deliver: {{A: {written}}}") == Deliver({"A": numbers})


def test_without_a_word_on_delivery_a_deliver_step_makes_it_manual() -> None:
    assert scenario_of("start", "advance: 1m").delivery == "auto"
    assert scenario_of("start", "deliver: {A: 1}").delivery == "manual"
    assert scenario_of("start", "delivery: manual", "deliver: {A: 1}").delivery == "auto"
    head = f"{HEAD}delivery: auto\n"
    assert scenario_of("start", "deliver: {A: 1}", head=head).delivery == "auto"


def test_work_items_come_listed_first_then_as_they_are_first_named() -> None:
    head = HEAD + "work: {b9: {group: B, duration: 5m}}\n"
    loaded = scenario_of("publish: {B: [{authorize: b1}], A: [{authorize: a2}]}", head=head)
    assert [(plan.name, plan.group) for plan in loaded.work] == [
        ("b9", "B"),
        ("a1", "A"),
        ("b1", "B"),
        ("a2", "A"),
    ]
    assert loaded.work[0].duration_seconds == 300


def test_a_listed_work_item_takes_its_group_from_the_log() -> None:
    head = HEAD + "work: {a1: {safe_point: manual}}\n"
    assert scenario_of(head=head).work == (WorkPlan("a1", "A", safe_point_seconds=None),)


def test_a_driver_may_be_asked_about_work_items_of_its_own() -> None:
    loaded = scenario_of("drive: starve", "expect: {served_within: {victim: horizon}}")
    assert isinstance(loaded.steps[1].action, Check)


def test_the_profile_stands_in_the_vector_or_is_its_folder() -> None:
    assert scenario_of().profile is Profile.REPLAY
    assert scenario_of(head=f"{HEAD}profile: offline\n").profile is Profile.OFFLINE
    with pytest.raises(VectorError, match="no profile"):
        load_text(f"{HEAD}steps: []\n", "somewhere/else.yaml")


STEPS_REFUSED = {
    "a word nobody knows": ("advence: 10m", 5, "unknown step 'advence'", "'advance'"),
    "a bare word nobody knows": ("strat", 5, "unknown step 'strat'", "'start'"),
    "a bare word that takes something": ("advance", 5, "says nothing yet", "advance: …"),
    "something for a bare word": ("start: now", 5, "takes nothing", "- start"),
    "two words in a step": ("{start: 1, stop: 2}", 5, "2 words", "one word"),
    "an unknown Group": ("deliver: {C: 1}", 15, "no Group is called 'C'", "known: A, B"),
    "an unknown WorkItem": ("never: {accept: a2}", 21, "no WorkItem is called 'a2'", "known: a1"),
    "an unknown condition": ("expect: {acept: a1}", 14, "unknown condition", "'accept'"),
    "nothing looked for": ("expect: {}", 13, "nothing is looked for", "accept: a1"),
    "false": ("expect: {pong: false}", 20, "false says nothing", "never"),
    "an order without a WorkItem": ("expect: {order: [run]}", 22, "names no WorkItem", "run a1"),
    "an order of an unknown deed": ("expect: {order: [rum a1]}", 22, "no Command", "'run'"),
    "a reason nobody gives": ("expect: {decline: {a1: lazy}}", 28, "unknown reason", "known"),
    "a falling range": ("deliver: {A: 3-1}", 18, "does not rise", "[3, 1]"),
    "sequence zero": ("deliver: {A: 0}", 18, "less than 1", "at least 1"),
    "no duration": ("advance: soon", 14, "not a duration", "90s"),
    "a forgery without a way": ("forge: {A: 5}", 12, "how it is forged", "how: payload"),
    "an unknown forgery": ("forge: {A: 5, how: paylod}", 24, "unknown word", "'payload'"),
    "an unknown act": ("publish: {A: [{ofer: a1}]}", 19, "unknown act", "'offer'"),
    "an act without its WorkItem": ("publish: {A: [offer]}", 19, "no WorkItem", "{offer: a1}"),
    "a code nobody sends": ("answer: {work.start: NOPE}", 26, "unknown error code", "known"),
    "a Command no Worker sends": ("answer: {work.offer: silence}", 14, "no Worker", "work"),
    "an unknown report": ("report: {a1: complete}", 18, "unknown report", "'completed'"),
    "an unknown policy": ("policy: {group: {}}", 14, "unknown member 'group'", "groups"),
    "a quota of text": ("policy: {groups: {A: {quota: x}}}", 34, "not a whole number", "digits"),
    "an unknown link state": ("link: dwon", 11, "unknown word 'dwon'", "up, down"),
}


@pytest.mark.parametrize(
    ("step", "column", "cause", "hint"), STEPS_REFUSED.values(), ids=STEPS_REFUSED
)
def test_a_step_is_refused_at_its_place_with_a_hint(
    step: str, column: int, cause: str, hint: str
) -> None:
    refused = refusal_of(f"{HEAD}steps:\n  - {step}\n")
    assert refused.where == f"{WHERE}:{HEAD_LINES + 2}:{column}"
    assert cause in refused.cause
    assert hint in refused.hint


MINIMAL = (
    "id: R-1\ntitle: t\nstake: s\nrequirement: r\nlevel: MUST\nsteps: []\ngroups: {A: {}, B: {}}\n"
)
WHOLES_REFUSED = {
    "a member nobody knows": ("titel: x", "8:1", "unknown member 'titel'", "'title'"),
    "an offer before its WorkItem": (
        "log:\n  A: [created, {offer: a1}, {authorize: a1}]",
        "9:16",
        "'offer' comes before a1 exists",
        "{authorize: a1}",
    ),
    "anything before the Group": ("log: {A: [member]}", "8:11", "before the Group", "created"),
    "a Group created twice": ("log: {A: [created, created]}", "8:20", "created twice", "delete"),
    "a WorkItem authorized twice": (
        "log: {A: [created, {authorize: a1}, {authorize: a1}]}",
        "8:37",
        "authorized twice",
        "revise",
    ),
    "taking what nobody else was offered": (
        "log: {A: [created, {authorize: a1}, {taken: a1}]}",
        "8:37",
        "'taken' comes before any offer_both or offer_other or withdraw",
        "{offer_both: a1}",
    ),
    "the Checkpoint of no WorkItem": (
        "log: {A: [created, {authorize: a1}, {offer: {work: a1, checkpoint: a0}}]}",
        "8:37",
        "no WorkItem 'a0' yet whose Checkpoint",
        "{authorize: a0}",
    ),
    "a WorkItem in two Groups": (
        "log: {A: [created, {authorize: a1}], B: [created, {authorize: a1}]}",
        "8:63",
        "a1 is in Group A and in Group B",
        "another name",
    ),
    "a WorkItem without a Group": ("work: {a1: {}}", "8:8", "its Group is unknown", "group"),
    "a plan for another Group": (
        "work: {a1: {group: B}}\nlog: {A: [created, {authorize: a1}]}",
        "8:8",
        "a1 is in Group B and in Group A",
        "one Group",
    ),
    "a dependency on nothing": (
        "work: {a1: {group: A, depends_on: a2}}",
        "8:8",
        "'a2', which is no WorkItem",
        "a1",
    ),
    "a dependency on itself": (
        "work: {a1: {group: A, depends_on: a2}, a2: {group: A, depends_on: a1}}",
        "8:8",
        "a1 depends on itself",
        "circle",
    ),
    "a dependency on another Mission": (
        "work: {a1: {group: A, depends_on: b1}, b1: {group: B}}",
        "8:8",
        "b1 of another Group",
        "one Mission",
    ),
    "a word as a name": ("work: {lease: {group: A}}", "8:8", "a word of the steps", "another"),
    "a name that is none": ("work: {a 1: {group: A}}", "8:8", "'a 1' is not a name", "letter"),
    "an unknown plan member": (
        "work: {a1: {group: A, durration: 5m}}",
        "8:23",
        "unknown member 'durration'",
        "'duration'",
    ),
    "a misspelt need": (
        "agent: {slots: 2}\nneeds: [ordinary, preemptt]",
        "9:19",
        "unknown need 'preemptt'",
        "did you mean 'preempt'?",
    ),
    "a need that names no attribute": (
        "needs: considers.quotas",
        "8:8",
        "unknown need 'considers.quotas'",
        "did you mean 'considers.quota'?",
    ),
    "an unknown profile": ("profile: replai", "8:10", "unknown profile", "'replay'"),
}


@pytest.mark.parametrize(
    ("lines", "place", "cause", "hint"), WHOLES_REFUSED.values(), ids=WHOLES_REFUSED
)
def test_a_world_is_refused_at_its_place_with_a_hint(
    lines: str, place: str, cause: str, hint: str
) -> None:
    refused = refusal_of(f"{MINIMAL}{lines}\n")
    assert refused.where == f"{WHERE}:{place}"
    assert cause in refused.cause
    assert hint in refused.hint


@pytest.mark.parametrize("word", ["id", "title", "stake", "requirement", "level", "steps"])
def test_what_every_vector_needs_is_missed(word: str) -> None:
    text = "".join(
        line for line in MINIMAL.splitlines(keepends=True) if not line.startswith(f"{word}:")
    )
    assert f"'{word}' is missing" in refusal_of(text).cause


def test_a_quota_is_given_under_one_word_only() -> None:
    text = MINIMAL.replace("A: {}", "A: {quota: 1, slot_quota: 1}")
    assert "'slot_quota' is given twice" in refusal_of(text).cause


def test_a_file_that_is_not_there_is_a_vector_error() -> None:
    with pytest.raises(VectorError, match="cannot be read"):
        load(Path("no/such/vector.yaml"))
