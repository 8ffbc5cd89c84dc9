"""Vectors: a YAML file in, a Scenario out.

Puts the parts together and decides which WorkItems exist: those listed under `work`, then those
that the logs and `publish` steps name. Never judges whether a vector is a good one (`lint` does).
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Literal

from attrs import frozen

from worker_conformance.scenario.acts import PREREQUISITES, read_act, work_place
from worker_conformance.scenario.conditions import Names
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    AgentPlan,
    CrashDuring,
    Deliver,
    Delivery,
    GroupPlan,
    Level,
    Profile,
    Scenario,
    Step,
    WorkPlan,
)
from worker_conformance.scenario.needs import NEEDS
from worker_conformance.scenario.plans import (
    build_work,
    read_agent,
    read_groups,
    read_work_members,
)
from worker_conformance.scenario.steps import read_delivery_mode, read_step
from worker_conformance.scenario.values import (
    checked_name,
    did_you_mean,
    entries,
    items,
    matching,
    one_of,
    one_or_many,
    only,
    text,
)
from worker_conformance.scenario.yaml_reader import (
    Place,
    YamlMapping,
    YamlNode,
    read_bytes,
    read_text,
    refusal,
)

MEMBERS = (
    "id",
    "title",
    "stake",
    "requirement",
    "level",
    "profile",
    "also",
    "twin",
    "case",
    "needs",
    "agent",
    "groups",
    "work",
    "log",
    "delivery",
    "steps",
)
"""The members of a vector, in the order in which they are written."""
REQUIRED = ("id", "title", "stake", "requirement", "level", "steps")

_ID = matching(r"[A-Z][A-Z0-9]{0,15}(-[A-Za-z0-9]{1,64}){1,3}", "an ID", "such as REPLAY-0007")
_REFERENCE = matching(r"[!-~]{1,64}", "a reference", "an ID without spaces, such as WRK-029.c")


def load(path: Path) -> Scenario:
    """Load one vector; raise VectorError with file, line and column if it cannot be read."""
    where = path.as_posix()
    try:
        data = path.read_bytes()
    except OSError as error:
        cause = f"cannot be read: {error.strerror}"
        raise refusal(Place(where, 1, 1), cause, "check the path") from error
    return _scenario(read_bytes(data, where), where)


def load_text(text: str, where: str) -> Scenario:
    """Load a vector from text; `where` names it in messages, and its folder gives the profile."""
    return _scenario(read_text(text, where), where)


def load_all(folder: Path) -> tuple[Scenario, ...]:
    """Load every vector of `folder` (`<profile>/<id>.yaml`), sorted by ID."""
    return tuple(sorted(map(load, vector_files(folder)), key=lambda scenario: scenario.id))


def vector_files(folder: Path) -> tuple[Path, ...]:
    """The files that `load_all` loads: those in the folders below, not the catalogues beside."""
    return tuple(sorted(folder.glob("*/*.yaml")))


@frozen
class _ToldAct:
    """An act, the Group it happens in, and where it and its WorkItem's name stand."""

    group: str
    act: Act
    place: Place
    work_place: Place


def _scenario(node: YamlNode, where: str) -> Scenario:
    parts = _members(node)
    groups = read_groups(parts["groups"]) if "groups" in parts else ()
    told = tuple(_told_acts(parts, frozenset(plan.name for plan in groups)))
    homes = _homes(told)
    _check_order(told)
    work = _work_plans(parts.get("work"), homes, groups)
    step_nodes = items(parts["steps"], "steps")
    names = Names(
        frozenset(plan.name for plan in groups),
        frozenset(plan.name for plan in work),
        open_ended=any(_step_word(step) == "drive" for step in step_nodes),
    )
    steps = tuple(read_step(step, names) for step in step_nodes)
    return Scenario(
        id=str(_ID.read(parts["id"])),
        title=text(parts["title"]).strip(),
        stake=text(parts["stake"]).strip(),
        requirement=str(_REFERENCE.read(parts["requirement"])),
        level=_level(parts["level"]),
        profile=_profile(parts.get("profile"), node.place, where),
        steps=steps,
        also=_also(parts.get("also")),
        twin=str(_ID.read(parts["twin"])) if "twin" in parts else None,
        case=str(_REFERENCE.read(parts["case"])) if "case" in parts else None,
        needs=_needs(parts.get("needs")),
        agent=read_agent(parts["agent"]) if "agent" in parts else AgentPlan(),
        groups=groups,
        work=work,
        log=_log(parts.get("log")),
        delivery=read_delivery_mode(parts["delivery"])
        if "delivery" in parts
        else told_delivery(steps),
        source=where,
    )


def told_delivery(steps: tuple[Step, ...]) -> Literal["auto", "manual"]:
    """How Events reach the Worker where the vector does not say: by its `deliver` steps, if any.

    A scenario that delivers before it has turned delivery on is one that delivers everything.
    """
    for step in steps:
        if isinstance(step.action, Deliver | CrashDuring):
            return "manual"
        if isinstance(step.action, Delivery):
            return "auto"
    return "auto"


def _members(node: YamlNode) -> Mapping[str, YamlNode]:
    found = entries(node, "the vector")
    for key, place, _ in found:
        if key not in MEMBERS:
            raise refusal(
                place, f"unknown member '{key}' of the vector", did_you_mean(key, MEMBERS)
            )
    parts = {key: value for key, _, value in found}
    for word in REQUIRED:
        if word not in parts:
            raise refusal(
                node.place, f"'{word}' is missing", f"a vector needs {', '.join(REQUIRED)}"
            )
    return parts


def _level(node: YamlNode) -> Level:
    return one_of(Level, text(node), node.place, "level")


def _profile(node: YamlNode | None, place: Place, where: str) -> Profile:
    if node is not None:
        return one_of(Profile, text(node), node.place, "profile")
    folder = PurePath(where).parent.name
    if folder not in list(Profile):
        hint = "put the file in vectors/<profile>/, or name one"
        raise refusal(place, "no profile is given", hint)
    return Profile(folder)


def _also(node: YamlNode | None) -> tuple[str, ...]:
    if node is None:
        return ()
    return tuple(str(_REFERENCE.read(item)) for item in one_or_many(node))


def _needs(node: YamlNode | None) -> tuple[str, ...]:
    return () if node is None else tuple(_need(item) for item in one_or_many(node))


def _need(node: YamlNode) -> str:
    word = text(node)
    if word not in NEEDS:
        raise refusal(node.place, f"unknown need '{word}'", did_you_mean(word, NEEDS))
    return word


def _log(node: YamlNode | None) -> Mapping[str, tuple[Act, ...]]:
    if node is None:
        return {}
    return {
        group: tuple(read_act(item) for item in items(value, "a list of acts"))
        for group, _, value in entries(node, "log")
    }


def _told_acts(parts: Mapping[str, YamlNode], groups: frozenset[str]) -> Iterator[_ToldAct]:
    """All acts in the order in which they happen: the logs, then each `publish` step."""
    if "log" in parts:
        yield from _acts_of(parts["log"], groups)
    for step in items(parts["steps"], "steps"):
        if _step_word(step) == "publish":
            yield from _acts_of(only(step, "a step")[2], groups)


def _acts_of(node: YamlNode, groups: frozenset[str]) -> Iterator[_ToldAct]:
    for group, place, value in entries(node, "the acts by Group"):
        if group not in groups:
            hint = did_you_mean(group, groups) or f"declare it: groups: {{{group}: {{}}}}"
            raise refusal(place, f"no Group is called '{group}'", hint)
        for item in items(value, "a list of acts"):
            yield _ToldAct(group, read_act(item), item.place, work_place(item).place)


def _step_word(node: YamlNode) -> str | None:
    """The word of a step that takes something, where the step is well-formed so far."""
    return node.entries[0][0] if isinstance(node, YamlMapping) and node.entries else None


def _check_order(told: tuple[_ToldAct, ...]) -> None:
    """Refuse an act whose prerequisite has not come before it."""
    done: dict[str, set[ActKind]] = {}
    for one in told:
        kind, work = one.act.kind, one.act.work
        group_done = done.setdefault(f"Group {one.group}", set())
        work_done = group_done if work is None else done.setdefault(work, set())
        _check_repeated(one, group_done, work_done)
        if kind is not ActKind.CREATED and ActKind.CREATED not in group_done:
            raise refusal(
                one.place, f"'{kind}' comes before the Group exists", "begin with created"
            )
        exists = kind is ActKind.AUTHORIZE or ActKind.AUTHORIZE in work_done
        if work is not None and not exists:
            raise refusal(
                one.place, f"'{kind}' comes before {work} exists", f"{{authorize: {work}}}"
            )
        whose = one.act.args.get("checkpoint")
        if whose is not None and ActKind.AUTHORIZE not in done.get(str(whose), set()):
            cause = f"there is no WorkItem '{whose}' yet whose Checkpoint this could be"
            raise refusal(one.place, cause, f"{{authorize: {whose}}} in an earlier act")
        needed = PREREQUISITES.get(kind)
        if needed is not None and not needed & work_done:
            words = " or ".join(sorted(needed))
            raise refusal(
                one.place, f"'{kind}' comes before any {words}", f"add {{{min(needed)}: {work}}}"
            )
        work_done.add(kind)


def _check_repeated(one: _ToldAct, group_done: set[ActKind], work_done: set[ActKind]) -> None:
    if one.act.kind is ActKind.CREATED and ActKind.CREATED in group_done:
        raise refusal(one.place, f"Group {one.group} is created twice", "delete one")
    if one.act.kind is ActKind.AUTHORIZE and ActKind.AUTHORIZE in work_done:
        raise refusal(
            one.place, f"{one.act.work} is authorized twice", "use revise, or another name"
        )


def _work_plans(
    node: YamlNode | None, homes: Mapping[str, str], groups: tuple[GroupPlan, ...]
) -> tuple[WorkPlan, ...]:
    known = frozenset(plan.name for plan in groups)
    listed = () if node is None else entries(node, "work")
    plans = [_listed_work(key, place, value, homes, known) for key, place, value in listed]
    names = {plan.name for plan in plans}
    plans += [WorkPlan(work, group) for work, group in homes.items() if work not in names]
    if node is not None:
        _check_dependencies(node, plans)
    return tuple(plans)


def homes_of(acts: Iterable[tuple[str, Act]]) -> Mapping[str, str]:
    """The Group of each WorkItem that acts name, in order of first mention."""
    homes: dict[str, str] = {}
    for group, act in acts:
        if act.work is not None:
            homes.setdefault(act.work, group)
    return homes


def _homes(told: tuple[_ToldAct, ...]) -> Mapping[str, str]:
    homes = homes_of((one.group, one.act) for one in told)
    for one in told:
        if one.act.work is not None and homes[one.act.work] != one.group:
            cause = f"{one.act.work} is in Group {homes[one.act.work]} and in Group {one.group}"
            raise refusal(
                one.work_place, cause, "a WorkItem belongs to one Group: use another name"
            )
    return homes


def _listed_work(
    key: str, place: Place, node: YamlNode, homes: Mapping[str, str], groups: frozenset[str]
) -> WorkPlan:
    name = checked_name(key, place)
    members = read_work_members(node, name)
    home = homes.get(name)
    group = str(members.get("group") or home or "")
    if not group:
        hint = did_you_mean(name, homes) if homes else ""
        raise refusal(
            place, f"no log or publish names {name}, so its Group is unknown", hint or "add group"
        )
    if group not in groups:
        raise refusal(place, f"no Group is called '{group}'", did_you_mean(group, groups))
    if home is not None and home != group:
        raise refusal(
            place, f"{name} is in Group {group} and in Group {home}", "one Group for a WorkItem"
        )
    return build_work(name, group, members)


def _check_dependencies(node: YamlNode, plans: list[WorkPlan]) -> None:
    by_name = {plan.name: plan for plan in plans}
    for key, place, _ in entries(node, "work"):
        for needed in by_name[key].depends_on:
            if needed not in by_name:
                hint = did_you_mean(needed, by_name)
                raise refusal(place, f"{key} depends on '{needed}', which is no WorkItem", hint)
            if by_name[needed].group != by_name[key].group:
                raise refusal(
                    place, f"{key} depends on {needed} of another Group", "stay in one Mission"
                )
        if _reaches(key, key, by_name):
            raise refusal(place, f"{key} depends on itself", "break the circle")  # MWP-WRK-007


def _reaches(start: str, goal: str, by_name: Mapping[str, WorkPlan]) -> bool:
    seen: set[str] = set()
    ahead = list(by_name[start].depends_on)
    while ahead:
        name = ahead.pop()
        if name == goal:
            return True
        if name not in seen and name in by_name:
            seen.add(name)
            ahead += by_name[name].depends_on
    return False
