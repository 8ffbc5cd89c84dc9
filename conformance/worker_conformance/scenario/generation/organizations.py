"""Strategies for the still picture of a world: the Agent, its Groups, their WorkItems.

Values are few and telling rather than many: a boundary that matters to a Worker stands in a list
here, so that it comes up within a few dozen worlds. Never decides what happens in the world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from attrs import evolve
from hypothesis import strategies as st

from worker_conformance.scenario.generation.taste import Taste
from worker_conformance.scenario.model import (
    Act,
    ActKind,
    AgentPlan,
    GroupPlan,
    Level,
    Profile,
    Scenario,
    WorkPlan,
)

Value = TypeVar("Value")


class Draw(Protocol):
    """Hypothesis's `draw`, as a composite strategy hands it out."""

    def __call__(self, strategy: st.SearchStrategy[Value], /) -> Value:
        """Draw one value."""


SHORT_SECONDS = (20, 45, 60, 90)
LONG_SECONDS = (240, 400, 700)
SPARE_BITS = 3  # so that no value is more than an eighth likelier than another
_BIT = st.booleans()
RUNS_BEGUN_ANEW_MAX = 10  # many more than a course has sessions
GROUP_NAMES = ("A", "B", "C")
CLASSES = ("background", "standard", "urgent")
RETRYABLE_CODE = "TOOL_TIMEOUT"


def draw_organization(draw: Draw, taste: Taste) -> Scenario:
    """A Scenario without steps: what is there before anything happens."""
    names = GROUP_NAMES[: between(draw, *taste.groups)]
    groups = tuple(_group(draw, taste, name) for name in names)
    count = between(draw, *taste.items)
    work: list[WorkPlan] = []
    for number in range(count):
        group = names[number % len(names)]
        mine = [plan.name for plan in work if plan.group == group]
        work.append(_work(draw, taste, f"{group.lower()}{len(mine) + 1}", group, mine))
    told = (Act(ActKind.CREATED), Act(ActKind.MEMBER))
    return Scenario(
        id="GENERATED-0001",
        title="A generated world",
        stake="Nobody wrote this world by hand.",
        requirement="WRK-003.a",
        level=Level.MUST,
        profile=Profile.LEASES,
        steps=(),
        agent=AgentPlan(slots=between(draw, *taste.slots)),
        groups=groups,
        work=tuple(sorted(work, key=lambda plan: plan.group)),
        log=dict.fromkeys(names, told),
        delivery="manual" if taste.manual and pick(draw, (False, True)) else "auto",
    )


def pick(draw: Draw, values: Sequence[Value]) -> Value:
    """One of some values, each as likely as the others; a lone one costs no choice."""
    return values[between(draw, 0, len(values) - 1)]


def between(draw: Draw, low: int, high: int) -> int:
    """A whole number from `low` to `high`.

    Drawn as bits: where Hypothesis draws numbers it also tries constants that it finds in the code
    of whatever is imported, and then a seed would mean other worlds in another process.
    """
    size, number = high - low + 1, 0
    if size == 1:
        return low
    bits = size.bit_length() + SPARE_BITS
    for _ in range(bits):
        number = number << 1 | draw(_BIT)
    return low + (number * size >> bits)


def _group(draw: Draw, taste: Taste, name: str) -> GroupPlan:
    plan = GroupPlan(name, priority_class=pick(draw, CLASSES[:2] + CLASSES[1:]))
    if not taste.quotas:
        return plan
    weight, quota = pick(draw, ((1, None), (1, 1), (3, None), (2, 1)))
    return evolve(plan, weight=weight, slot_quota=quota)


def _work(draw: Draw, taste: Taste, name: str, group: str, earlier: Sequence[str]) -> WorkPlan:
    kinds = [kind for kind, weight in taste.work.items() for _ in range(weight)]
    kind = pick(draw, kinds)
    plan = WorkPlan(name, group, duration_seconds=pick(draw, SHORT_SECONDS))
    return _with_room(_KINDS[kind](draw, plan, earlier))


def _with_room(plan: WorkPlan) -> WorkPlan:
    """Sessions end, and what no Checkpoint has kept is done again: whoever counts has room for it.

    But not far into the time until the deadline, so that nobody has to decline what can be done.
    """
    if not plan.completes:
        return plan
    needed = plan.duration_seconds * plan.attempts
    room = min(needed * RUNS_BEGUN_ANEW_MAX, plan.deadline_seconds // 2)
    return evolve(plan, running_time_seconds=max(needed, room))


def _ordinary(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del draw, earlier
    return plan


def _long(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    """Longer than a lease or nearly so: it has to be renewed."""
    del earlier
    return evolve(plan, duration_seconds=pick(draw, LONG_SECONDS))


def _gated(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del draw, earlier
    return evolve(plan, approval="human_required")


def _gated_briefly_owned(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    """Its ownership can be over before its gate opens, and it is offered again."""
    del earlier
    seconds = pick(draw, (120, 300, 600))
    return evolve(plan, approval="human_required", start_by_seconds=seconds)


def _policy_gated(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del draw, earlier
    return evolve(plan, approval="policy_required")


def _dependent(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    """Waits for an earlier WorkItem of its Group, where there is one."""
    if not earlier:
        return plan
    return evolve(plan, depends_on=(pick(draw, earlier),))


def _slow_safe_point(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    """Its safe point may come after its end."""
    del earlier
    return evolve(plan, safe_point_seconds=pick(draw, (5, 90, 120, 600)))


def _manual_safe_point(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del draw, earlier
    return evolve(plan, safe_point_seconds=None)


def _endless(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    """Runs until it is ended from outside; a long lease, so that it is not renewed all day."""
    del draw, earlier
    return evolve(plan, completes=False, lease_seconds=3_600)


def _retrying(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del earlier
    attempts = between(draw, 1, 3)
    backoff = pick(draw, ("none", "fixed", "exponential"))
    return evolve(
        plan,
        duration_seconds=600,
        attempts=attempts,
        backoff=backoff,
        max_delay_seconds=0 if backoff == "none" else 5,
        retryable=(RETRYABLE_CODE,),
    )


def _short_offer(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del earlier
    return evolve(plan, offer_seconds=pick(draw, (1, 30)))


def _short_ownership(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del earlier
    seconds = pick(draw, (30, 120))
    return evolve(plan, ownership_seconds=seconds, start_by_seconds=seconds)


def _short_lease(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    del earlier
    return evolve(plan, lease_seconds=pick(draw, (20, 60)), duration_seconds=120)


def _unsuited(draw: Draw, plan: WorkPlan, earlier: Sequence[str]) -> WorkPlan:
    """No credible commitment is possible, for one reason or another."""
    del earlier
    reasons: tuple[dict[str, Any], ...] = (
        {"capability": "acme.paint@1.0.0"},
        {"authorization_eligible": False},
        {"deadline_seconds": 0},
        {"risk": "external"},
    )
    return evolve(plan, **pick(draw, reasons))


_KINDS: Mapping[str, Callable[[Draw, WorkPlan, Sequence[str]], WorkPlan]] = {
    "ordinary": _ordinary,
    "long": _long,
    "gated": _gated,
    "gated_briefly_owned": _gated_briefly_owned,
    "policy_gated": _policy_gated,
    "dependent": _dependent,
    "slow_safe_point": _slow_safe_point,
    "manual_safe_point": _manual_safe_point,
    "endless": _endless,
    "retrying": _retrying,
    "short_offer": _short_offer,
    "short_ownership": _short_ownership,
    "short_lease": _short_lease,
    "unsuited": _unsuited,
}
"""The kinds of WorkItems that a taste weighs."""
