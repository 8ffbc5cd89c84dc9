"""Duties with a trigger that a Worker may declare it never produces.

Says whether a check falls away for a Worker by its declaration, and whether a declared abstention
was kept. Never judges anything else; a duty without a trigger cannot be abstained from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from worker_conformance.documents.json_types import JsonObject, find
from worker_conformance.judge.trace import EntryKind, Trace
from worker_conformance.port.declaration import Parameters
from worker_conformance.scenario.model import Act, ActKind, Publish, Scenario
from worker_conformance.scenario.needs import CONSIDERS, RENEWAL, UNDIVIDED


def fallen_away(needs: Iterable[str], parameters: Parameters) -> str | None:
    """Why a check is not judged at all by the Worker's declaration, or None."""
    for need in needs:
        attribute = need.removeprefix(CONSIDERS)
        if need.startswith(CONSIDERS) and attribute not in parameters.considers:
            return f"the Worker does not say that it considers {attribute}"
        if need == UNDIVIDED and parameters.time_slicing:
            return "the Worker says that it slices time"
        if need == RENEWAL and parameters.renewal != "worker":
            return "the Organization renews the Worker's leases"
    return None


def crowded_out(scenario: Scenario, parameters: Parameters) -> str | None:
    """Why a scenario offers more than the Worker says that it holds, or None.

    A Worker that holds little need not decline what is on top: it may let the offer lie. Nothing
    can be said of it then, and nothing is passed by declaring little.
    """
    offered = {act.work for act in _acts(scenario) if act.kind in OFFERS}
    if len(offered) <= parameters.queue_capacity:
        return None
    return f"the Worker says that it holds {parameters.queue_capacity} of {len(offered)} WorkItems"


def _acts(scenario: Scenario) -> Iterable[Act]:
    for acts in scenario.log.values():
        yield from acts
    for step in scenario.steps:
        if isinstance(step.action, Publish):
            for acts in step.action.acts.values():
                yield from acts


OFFERS = frozenset({ActKind.OFFER, ActKind.OFFER_BOTH})


def abstained(needs: Iterable[str], parameters: Parameters) -> tuple[str, ...]:
    """The triggers a check needs and the Worker declares it never produces."""
    return tuple(need for need in needs if need in parameters.abstains)


def broken_abstention(triggers: Iterable[str], trace: Trace) -> str | None:
    """The trigger that the Worker produced although it declares that it never does, or None."""
    effects = [entry.body for entry in trace if entry.kind is EntryKind.EFFECT]
    return next((one for one in triggers if one in _SEEN and any(map(_SEEN[one], effects))), None)


_SEEN: Mapping[str, Callable[[JsonObject], bool]] = {
    "preempt": lambda effect: effect.get("type") == "preempt",
    "estimates": lambda effect: effect.get("type") == "disclose",
    "presence": lambda effect: find(effect, "frame", "presence") is not None,
}
"""How each trigger shows in one effect; those that show only in a history are not here."""
