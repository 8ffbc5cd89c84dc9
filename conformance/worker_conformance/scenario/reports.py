"""Reports of the executor, as a vector writes them.

`{a1: completed}`, `{a1: {failed: CODE}}`,
`{a1: {operation: {operation_id: o1, effect: external}}}`:
The words are the Worker Port's member names in snake case; the model keeps the Port's own.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from worker_conformance.scenario.conditions import Names
from worker_conformance.scenario.model import Report
from worker_conformance.scenario.plans import RISKS
from worker_conformance.scenario.values import (
    ERROR_CODE,
    TEXT,
    WHOLE,
    Form,
    Member,
    choice,
    did_you_mean,
    entries,
    many,
    only,
    positive,
    read_members,
    text,
    write_members,
)
from worker_conformance.scenario.yaml_reader import (
    Plain,
    YamlMapping,
    YamlNode,
    YamlScalar,
    refusal,
)

_USAGE_MEMBERS = (
    Member("financial", "financial", WHOLE),
    Member("model_tokens", "modelTokens", WHOLE),
    Member("tool_calls", "toolCalls", WHOLE),
    Member("compute_seconds", "computeSeconds", WHOLE),
    Member("wall_clock_seconds", "wallClockSeconds", WHOLE),
    Member("external_side_effects", "externalSideEffects", WHOLE),
)


def _read_usage(node: YamlNode) -> dict[str, object]:
    return read_members(node, _USAGE_MEMBERS, "usage")


def _write_usage(value: object) -> Plain:
    return write_members(value if isinstance(value, Mapping) else {"": value}, _USAGE_MEMBERS)


_USAGE = Member("usage", "usage", Form(_read_usage, _write_usage))
_CHECKPOINT = (
    Member("checkpoint_id", "checkpointId", TEXT),
    Member("checkpoint_hash", "checkpointHash", TEXT),
)

REPORT_MEMBERS: Mapping[str, tuple[Member, ...]] = MappingProxyType(
    {
        "safe_point": (*_CHECKPOINT, _USAGE),
        "progress": (
            Member("current_phase", "currentPhase", TEXT),
            Member("completed_milestones", "completedMilestones", many(TEXT)),
            Member("next_checkpoint", "nextCheckpoint", TEXT),
            Member("blockers", "blockers", many(TEXT)),
            Member("updated_completion_estimate", "updatedCompletionEstimate", TEXT),
            Member("evidence_ids", "evidenceIds", many(TEXT)),
            _USAGE,
        ),
        "blocked": (
            Member("required_resolution", "requiredResolution", TEXT),
            *_CHECKPOINT,
            _USAGE,
        ),
        "completed": (_USAGE,),
        "failed": (Member("code", "code", ERROR_CODE), _USAGE),
        "operation": (
            Member("operation_id", "operationId", TEXT),
            Member("effect", "effect", choice(*RISKS[1:])),
            _USAGE,
        ),
    }
)
"""The kinds of report. A member that can stand alone is the first: `{failed: CODE}`."""


def read_report(node: YamlNode, names: Names) -> Report:
    """Read a `report` step."""
    about = [entry for entry in entries(node, "report") if entry[0] != "lease"]
    if len(about) != 1:
        raise refusal(
            node.place, f"{len(about)} WorkItems are named, not one", "write {a1: completed}"
        )
    key, place, value = about[0]
    kind, members = _read_kind(value)
    lease = next((found for k, _, found in entries(node, "report") if k == "lease"), None)
    ordinal = None if lease is None else positive(lease)
    return Report(names.work_item(key, place), kind, members, ordinal)


def write_report(step: Report) -> Plain:
    """Write a `report` step in its shortest form."""
    lease: dict[str, Plain] = {} if step.lease is None else {"lease": step.lease}
    return {"report": {step.work: _write_kind(step), **lease}}


def _read_kind(node: YamlNode) -> tuple[str, dict[str, object]]:
    if isinstance(node, YamlScalar):
        kind = text(node)
        _members_of(kind, node)
        return kind, {}
    kind, _, value = only(node, "a report")
    table = _members_of(kind, node)
    if isinstance(value, YamlMapping):
        return kind, read_members(value, table, f"the report '{kind}'")
    if table[0] is _USAGE:
        raise refusal(value.place, f"'{kind}' takes nothing", f"write {{a1: {kind}}}")
    return kind, {table[0].attribute: table[0].form.read(value)}


def _write_kind(step: Report) -> Plain:
    table = REPORT_MEMBERS.get(step.kind, ())
    if not step.members and table:
        return step.kind
    members = write_members(step.members, table)
    if set(members) == {table[0].word} and table[0] is not _USAGE:
        return {step.kind: members[table[0].word]}
    return {step.kind: members}


def _members_of(kind: str, node: YamlNode) -> Sequence[Member]:
    if kind not in REPORT_MEMBERS:
        raise refusal(node.place, f"unknown report '{kind}'", did_you_mean(kind, REPORT_MEMBERS))
    return REPORT_MEMBERS[kind]
