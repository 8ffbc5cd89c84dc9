"""Judging a saved Trace again, without the Worker that made it.

A Trace carries its vector and the Worker's declaration, so that the monitors can watch it once
more: after a monitor was mended, or on a reviewer's machine. Conditions are not looked at again;
they belong to the moments of the run.
"""

from __future__ import annotations

from typing import cast

from attrs import fields

from worker_conformance.documents.json_types import JsonObject, JsonValue, find, text_at
from worker_conformance.errors import UsageError
from worker_conformance.judge.monitors import Monitor, watch
from worker_conformance.judge.monitors.base import Context
from worker_conformance.judge.trace import Trace
from worker_conformance.organization.organization import Organization
from worker_conformance.port.declaration import Declaration, Parameters, wire_name
from worker_conformance.scenario.dump import to_yaml
from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import Scenario


def about_of(scenario: Scenario, declaration: Declaration) -> JsonObject:
    """What a Trace carries beside its entries."""
    return {
        "vector": to_yaml(scenario),
        "worker": {
            "name": declaration.name,
            "version": declaration.version,
            "language": declaration.language,
            "profiles": cast("list[JsonValue]", sorted(declaration.profiles)),
            "parameters": wire_parameters(declaration.parameters),
        },
    }


def watch_again(trace: Trace) -> tuple[Scenario, Declaration, tuple[Monitor, ...]]:
    """Let every monitor watch a saved Trace; raises UsageError where it does not say of what."""
    worker = find(trace.about, "worker")
    if not isinstance(worker, dict) or "vector" not in trace.about:
        raise UsageError(
            "bare-trace",
            "this Trace does not say which vector and which Worker it is of",
            "save it with this version: worker-conformance replay VECTOR --save-trace FILE",
        )
    scenario = load_text(text_at(trace.about, "vector"), trace.scenario_id)
    declaration = Declaration.from_json(worker)
    parameters, _ = declaration.parameters.effective_for(scenario.agent.slots)
    return scenario, declaration, watch(trace, context_of(scenario, trace.seed, parameters))


def context_of(scenario: Scenario, seed: int, parameters: Parameters) -> Context:
    """What monitors may know of a world, made anew from its seed."""
    organization = Organization(scenario, seed)
    return Context(
        parameters=parameters,
        name_of=organization.names.name_of,
        markers=organization.markers(),
        secrets=organization.secrets(),
    )


def wire_parameters(parameters: Parameters) -> JsonObject:
    """Parameters by their wire names."""
    return {
        wire_name(one.name): _plain(getattr(parameters, one.name)) for one in fields(Parameters)
    }


def _plain(value: object) -> JsonValue:
    if isinstance(value, frozenset):
        return cast("list[JsonValue]", sorted(value))
    if isinstance(value, tuple):
        return {str(name): str(path) for name, path in value}
    return cast(JsonValue, value)
