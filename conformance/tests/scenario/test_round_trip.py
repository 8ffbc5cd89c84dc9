"""Any Scenario, written as a vector and loaded again, is the same Scenario, and fits the schema."""

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from worker_conformance.errors import SuiteError
from worker_conformance.resources import schemas_path
from worker_conformance.scenario import around, conditions, plans, reports, steps
from worker_conformance.scenario import settings as vector_settings
from worker_conformance.scenario.acts import GROUP_ACTS, PREREQUISITES
from worker_conformance.scenario.dump import LINE_WIDTH, to_yaml
from worker_conformance.scenario.loader import load, load_text
from worker_conformance.scenario.model import (
    ACKED,
    ASIDES,
    END,
    FALSE_APPROVALS,
    MISFILED,
    Act,
    Action,
    ActKind,
    Advance,
    AgentPlan,
    Answer,
    Check,
    Condition,
    ConditionKind,
    CrashDuring,
    Deliver,
    Delivery,
    Drive,
    Forge,
    GroupPlan,
    Level,
    Link,
    Mood,
    Profile,
    Publish,
    Report,
    Scenario,
    SetPolicy,
    Step,
    Truncate,
    WorkPlan,
)
from worker_conformance.scenario.surroundings import (
    AnnounceSession,
    Backpressure,
    ChangeKeys,
    ChangeToken,
    Disturbance,
    Join,
    Leave,
    Network,
    Raw,
    RegisterCard,
    SetClock,
    SetFreshness,
)
from worker_conformance.scenario.values import RESERVED
from worker_conformance.scenario.yaml_reader import plain, read_text

DATA = Path(__file__).parent / "data"
VALIDATOR = jsonschema.Draft202012Validator(
    json.loads((schemas_path() / "vector.schema.json").read_text())
)

# --- strategies over the model --------------------------------------------------------------

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,5}", fullmatch=True).filter(
    lambda name: name.isascii() and name not in RESERVED
)
AWKWARD = st.sampled_from(
    ["no", "null", "012", "1:30", "a: b", "# x", "- x", "{", "'", "é", "x\n y"]
)
TEXTS = (
    AWKWARD | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
).filter(lambda text: text == text.strip())
CODES = st.from_regex(r"[A-Z][A-Z0-9_]{1,9}", fullmatch=True).filter(str.isascii)
SECONDS = st.integers(0, 400) | st.sampled_from([3_600, 86_400, 315_360_000])
WHOLES = st.integers(0, 9)
ORDINALS = st.integers(1, 9)
WEIGHTS = ORDINALS | st.floats(1e-9, 1e9)
BUDGETS = st.fixed_dictionaries(
    {}, optional={member.attribute: WHOLES for member in plans.BUDGET_LIMITS}
)
SOME_BUDGETS = st.fixed_dictionaries({"tool_calls": WHOLES}, optional={"financial": WHOLES})
CLASSES = st.sampled_from(["background", "standard", "urgent"])


def some(values: st.SearchStrategy[str], most: int = 3) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, min_size=1, max_size=most).map(tuple)


def by(names: list[str], values: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.dictionaries(st.sampled_from(names), values, min_size=1, max_size=3)


def group_plans(name: str) -> st.SearchStrategy[GroupPlan]:
    return st.builds(
        GroupPlan,
        st.just(name),
        weight=WEIGHTS,
        slot_quota=st.none() | WHOLES,
        priority_class=CLASSES,
        scopes=st.sampled_from([(), ("work.accept_offer",), ("a.b", "c")]),
        visibility_start=WHOLES,
        provisional_seconds=st.none() | SECONDS,
        external_side_effect_limit=st.none() | WHOLES,
        budget=BUDGETS,
        joined=st.booleans(),
    )


def work_plans(name: str, group: str, before: list[str]) -> st.SearchStrategy[WorkPlan]:
    needed = st.lists(st.sampled_from(before), unique=True) if before else st.just([])
    changed = st.builds(
        WorkPlan,
        st.just(name),
        st.just(group),
        duration_seconds=SECONDS,
        completes=st.booleans(),
        safe_point_seconds=st.none() | SECONDS,
        goal=st.none() | TEXTS,
        deadline_seconds=SECONDS,
        urgency=st.sampled_from(plans.URGENCIES),
        approval=st.sampled_from(plans.APPROVALS),
        risk=st.sampled_from(plans.RISKS),
        depends_on=needed.map(tuple),
        authorization_eligible=st.booleans(),
        attempts=ORDINALS,
        backoff=st.sampled_from(plans.BACKOFFS),
        retryable=st.lists(CODES, max_size=2).map(tuple),
        lease_seconds=SECONDS,
        lease_delay_seconds=SECONDS,
        running_time_seconds=st.none() | SECONDS,
        budget=BUDGETS,
        lacks=st.none() | st.sampled_from(plans.PARTS),
        extension=st.none() | st.sampled_from(["critical", "optional"]),
        token=st.sampled_from(["auto", "manual"]),
    )
    return st.just(WorkPlan(name, group)) | changed


def arguments(kind: ActKind) -> st.SearchStrategy[dict[str, object]]:
    own: dict[ActKind, dict[str, st.SearchStrategy[object]]] = {
        ActKind.MESSAGE: {"text": TEXTS},
        ActKind.GRANT: {
            "expires_seconds": SECONDS,
            "epoch": ORDINALS,
            "how": st.sampled_from(FALSE_APPROVALS),
        },
        ActKind.ASIDE: {"kind": st.sampled_from(ASIDES)},
        ActKind.MISFILED: {"what": st.sampled_from(MISFILED)},
        ActKind.CHILD_FAILED: {"indispensable": st.booleans()},
    }
    needed = own.pop(ActKind.ASIDE) if kind is ActKind.ASIDE else {}
    optional = {"critical": st.booleans(), **own.get(kind, {})}
    if kind is not ActKind.REVISE:
        return st.fixed_dictionaries(needed, optional=optional)
    changes = {"deadline_seconds": SECONDS, "goal": TEXTS, "safe_point_seconds": st.none()}
    return st.fixed_dictionaries(
        {"changes": st.fixed_dictionaries({}, optional=changes)}, optional=optional
    )


@st.composite
def histories(draw: st.DrawFn, work: list[str]) -> list[Act]:
    """Acts of one Group in a possible order: each WorkItem authorized and offered to both first."""
    acts = [Act(ActKind.CREATED, args=draw(arguments(ActKind.CREATED)))]
    for name in work:
        acts += [Act(ActKind.AUTHORIZE, name), Act(ActKind.OFFER_BOTH, name)]
    rest = [k for k in ActKind if k not in (ActKind.CREATED, ActKind.AUTHORIZE)]
    for kind in draw(st.lists(st.sampled_from(rest), max_size=5)):
        named = draw(st.sampled_from(work)) if work and kind not in GROUP_ACTS else None
        if kind in (ActKind.CHILD_APPROVED, ActKind.CHILD_FAILED) and named is not None:
            acts.append(Act(ActKind.PROMOTE, named))
        if kind in GROUP_ACTS or named is not None:
            acts.append(Act(kind, named, draw(arguments(kind))))
    return acts


def condition_of(
    kind: ConditionKind, groups: list[str], work: list[str]
) -> st.SearchStrategy[object]:
    names = some(st.sampled_from(work))
    deeds = st.builds("{} {}".format, st.sampled_from(conditions.DEEDS), st.sampled_from(work))
    special: dict[str, st.SearchStrategy[object]] = {
        "ack": by(groups, st.integers(ACKED, 9)),
        "subscribe": by(groups, st.integers(ACKED, 9)),
        "leaks": by(groups, some(st.sampled_from(groups))),
        "order": some(deeds),
        "count": st.dictionaries(deeds, WHOLES, min_size=1, max_size=3),
        "names_lease": by(work, ORDINALS),
        "state": by(work, st.sampled_from(conditions.WORK_STATES)),
        "holds": some(st.sampled_from(["MON-0001", "MON-0010"])),
        "pong": st.just(True),  # noqa: FBT003 - the condition's value
        "one_key": by(work, TEXTS),
        "fair": st.just(True),  # noqa: FBT003 - the condition's value
        "served_within": by(work, SECONDS | st.just("horizon")),
        "decline": names | by(work, st.sampled_from(conditions.DECLINE_REASONS)),
    }
    return special.get(kind, names)


@st.composite
def checks(draw: st.DrawFn, groups: list[str], work: list[str]) -> Check:
    kinds = draw(st.lists(st.sampled_from(list(ConditionKind)), min_size=1, max_size=4))
    looked_for = [Condition(kind, draw(condition_of(kind, groups, work))) for kind in kinds]
    return Check(draw(st.sampled_from(list(Mood))), tuple(looked_for))


@st.composite
def reported(draw: st.DrawFn, work: list[str]) -> Report:
    text_members = ["checkpointId", "requiredResolution", "operationId", "currentPhase"]
    kind = draw(st.sampled_from(list(reports.REPORT_MEMBERS)))
    known = [member.attribute for member in reports.REPORT_MEMBERS[kind]]
    values: dict[str, st.SearchStrategy[object]] = {
        **{name: TEXTS for name in text_members if name in known},
        "usage": st.dictionaries(st.sampled_from(["modelTokens", "toolCalls"]), WHOLES, min_size=1),
    }
    values |= {"code": CODES} if "code" in known else {}
    values |= {"effect": st.sampled_from(plans.RISKS[1:])} if "effect" in known else {}
    members = draw(st.fixed_dictionaries({}, optional=values))
    return Report(draw(st.sampled_from(work)), kind, members, draw(st.none() | ORDINALS))


def policies(groups: list[str], work: list[str]) -> st.SearchStrategy[SetPolicy]:
    of_group = {"weight": WEIGHTS, "slot_quota": st.none() | WHOLES, "priority_class": CLASSES}
    of_work = {"priority_class": st.none() | CLASSES, "approval": st.just("required")}
    limits = {"max_queued_items": WHOLES, "offline_grace_seconds": SECONDS}
    return st.builds(
        SetPolicy,
        st.just({}) | by(groups, st.fixed_dictionaries({}, optional=of_group).filter(bool)),
        st.just({}) | by(work, st.fixed_dictionaries({}, optional=of_work).filter(bool)),
        st.fixed_dictionaries({}, optional=limits),
        st.just({}) | by(["4", "17"], st.sampled_from(vector_settings.CARD_UPGRADES)),
        st.just({})
        | st.fixed_dictionaries({"acme.build": st.sampled_from(vector_settings.AVAILABILITY)}),
        st.just({}) | by(groups, SOME_BUDGETS),
    )


def disturbances() -> st.SearchStrategy[Disturbance]:
    shares = st.integers(0, around.PERCENT_MAX)
    cuts = st.sampled_from([(0, 0), (30, 300)])
    return st.builds(
        lambda cut, **members: Disturbance(**members, cut_seconds=cut[0], every_seconds=cut[1]),
        cuts,
        delay_seconds=SECONDS,
        reorder_seconds=SECONDS,
        duplicate=shares,
        drop=shares,
        lose=shares,
    )


def surroundings(groups: list[str]) -> st.SearchStrategy[Action]:
    group = st.sampled_from(groups)
    some_groups = some(group)
    return (
        st.builds(Join, some_groups)
        | st.builds(Leave, some_groups)
        | st.builds(SetClock, SECONDS | SECONDS.map(lambda seconds: -seconds))
        | st.builds(
            ChangeKeys,
            st.sampled_from([one for one in around.KEY_CHANGES if one != "bind"]),
            st.sampled_from(around.AUTHORIZED_ROLES),
        )
        | st.builds(
            ChangeKeys,
            st.just("bind"),
            st.sampled_from(around.ORGANIZATION_ROLES),
            st.sampled_from(around.POINTS),
        )
        | st.builds(RegisterCard, ORDINALS, st.sampled_from(around.CARD_SIGNERS))
        | st.builds(AnnounceSession, st.booleans())
        | st.builds(Backpressure, by(groups, SECONDS))
        | st.builds(SetFreshness, SECONDS)
        | st.builds(Raw, group, ORDINALS, st.sampled_from(around.SPELLINGS))
        | st.builds(Network, by(groups, disturbances()))
    )


def tokens(work: list[str]) -> st.SearchStrategy[ChangeToken]:
    named = st.sampled_from(work)
    operations = st.lists(st.sampled_from(plans.RISKS[1:]), max_size=2).map(tuple)
    wrong = st.none() | st.sampled_from(around.WRONG_BINDINGS)
    issued = st.builds(
        ChangeToken,
        named,
        operations=operations,
        expires_seconds=st.none() | SECONDS,
        wrong=wrong,
    )
    return issued | st.builds(ChangeToken, named, revoked=st.just(True))  # noqa: FBT003 - a value


def actions(groups: list[str], work: list[str]) -> st.SearchStrategy[Action]:
    group = st.sampled_from(groups)
    sequences = by(groups, st.lists(ORDINALS | st.just(-1), min_size=1, max_size=5).map(tuple))
    settings_of = st.dictionaries(NAMES, WHOLES | TEXTS | st.booleans() | some(TEXTS), max_size=3)
    without_work = (
        st.sampled_from(list(steps.BARE.values()))
        | st.builds(Deliver, sequences, st.booleans())
        | st.builds(CrashDuring, sequences)
        | st.builds(Forge, group, ORDINALS | st.just(END), st.sampled_from(steps.FORGERIES))
        | st.builds(Truncate, group, ORDINALS, st.sampled_from(["true", *steps.FORGED_SNAPSHOTS]))
        | st.builds(Advance, SECONDS)
        | st.builds(Delivery, st.sampled_from(["auto", "manual"]))
        | st.builds(Link, st.sampled_from(["up", "down"]), st.lists(group, max_size=2).map(tuple))
        | st.builds(
            Answer,
            st.sampled_from(vector_settings.WORKER_COMMANDS),
            st.sampled_from([*vector_settings.ERROR_CODES, "silence"]),
            st.booleans(),
            st.none() | SECONDS,
        )
        | st.builds(Drive, NAMES, settings_of)
        | surroundings(groups)
    )
    if not work:
        return without_work
    with_work = policies(groups, work) | reported(work) | checks(groups, work) | tokens(work)
    return without_work | with_work


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    groups = draw(st.lists(NAMES, unique=True, min_size=1, max_size=3))
    work = draw(st.lists(NAMES, unique=True, max_size=4))
    homes = {name: groups[index % len(groups)] for index, name in enumerate(work)}
    log: dict[str, tuple[Act, ...]] = {}
    published: list[Step] = []
    for group in groups:
        told = draw(histories([name for name in work if homes[name] == group]))
        split = draw(st.integers(0, len(told)))
        log[group] = tuple(told[:split])
        if told[split:]:
            published.append(Step(Publish({group: tuple(told[split:])})))
    plans_of = [
        draw(work_plans(name, homes[name], [w for w in work[:i] if homes[w] == homes[name]]))
        for i, name in enumerate(work)
    ]
    others = draw(st.lists(actions(groups, work).map(Step), max_size=6))
    return Scenario(
        id=draw(st.from_regex(r"[A-Z]{2,6}-[0-9]{4}", fullmatch=True).filter(str.isascii)),
        title=draw(TEXTS),
        stake=draw(
            TEXTS | st.lists(st.sampled_from(["word", "a:", "#b", "c"])).map(" ".join).filter(bool)
        ),
        requirement="WRK-029.c",
        level=draw(st.sampled_from(list(Level))),
        profile=draw(st.sampled_from(list(Profile))),
        steps=tuple(others[:3] + published + others[3:]),
        also=draw(st.just(()) | st.just(("WRK-030.a", "FND-008.b"))),
        twin=draw(st.none() | st.just("REPLAY-0008")),
        needs=draw(st.sampled_from([(), ("stdio",), ("preempt", "considers.quota")])),
        agent=draw(st.builds(AgentPlan, ORDINALS, st.just(("acme.build@2.1.0",)), ORDINALS)),
        groups=tuple(draw(group_plans(name)) for name in groups),
        work=tuple(draw(st.permutations(plans_of))),
        log=log,
        delivery=draw(st.sampled_from(["auto", "manual"])),
    )


# --- tests ----------------------------------------------------------------------------------


@settings(
    deadline=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
)
@given(scenarios())
def test_a_scenario_survives_the_way_through_a_vector(scenario: Scenario) -> None:
    written = to_yaml(scenario)
    assert load_text(written, "generated.yaml") == scenario
    VALIDATOR.validate(plain(read_text(written, "generated.yaml")))


@pytest.mark.parametrize("path", sorted(DATA.glob("*/*.yaml")), ids=lambda path: path.stem)
def test_a_written_vector_is_written_the_same_again(path: Path) -> None:
    scenario = load(path)
    written = to_yaml(scenario)
    assert load_text(written, "x.yaml") == scenario
    assert to_yaml(load_text(written, "x.yaml")) == written


def test_a_written_vector_reads_like_one_written_by_hand() -> None:
    path = DATA / "replay" / "REPLAY-0007.yaml"
    by_hand = [line.partition("  #")[0].rstrip() for line in path.read_text().splitlines()]
    written = to_yaml(load(path)).splitlines()
    assert [line for line in written if line.startswith(("log:", "  A:", "steps:", "  - "))] == [
        line for line in by_hand if line.startswith(("log:", "  A:", "steps:", "  - "))
    ]
    assert max(map(len, written)) <= LINE_WIDTH + 10


def test_a_scenario_beyond_the_words_of_a_vector_is_the_suites_own_fault() -> None:
    base = load(DATA / "replay" / "REPLAY-0007.yaml")
    odd = Scenario(
        id=base.id,
        title=base.title,
        stake=base.stake,
        requirement=base.requirement,
        level=base.level,
        profile=base.profile,
        steps=(Step(Report("a1", "safe_point", {"mood": "good"})),),
    )
    with pytest.raises(SuiteError, match="no word"):
        to_yaml(odd)


def test_every_act_that_has_a_prerequisite_has_one_that_can_be_met() -> None:
    assert all(ActKind.AUTHORIZE not in needed for needed in PREREQUISITES.values())
