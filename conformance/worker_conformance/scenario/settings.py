"""Steps that set something: policy, the Authority's next answer, a load driver.

Reads and writes them. Never applies them (`organization` and `suite` do).
"""

from collections.abc import Callable, Mapping, Sequence

from worker_conformance.scenario.conditions import Names
from worker_conformance.scenario.model import Answer, Drive, SetPolicy
from worker_conformance.scenario.plans import PRIORITY_CLASS
from worker_conformance.scenario.values import (
    DURATION,
    WEIGHT,
    WHOLE,
    Member,
    choice,
    did_you_mean,
    entries,
    only,
    or_none,
    read_members,
    text,
    truth,
    unsayable,
    write_members,
)
from worker_conformance.scenario.yaml_reader import (
    Place,
    Plain,
    YamlList,
    YamlMapping,
    YamlNode,
    YamlScalar,
    refusal,
)

SILENCE = "silence"
RENEWAL = "renew"
"""Stands for the Command kind under which the Worker renews Execution Leases; it declares which."""
_OTHER_WORDS = {"renewal": RENEWAL}

WORKER_COMMANDS = (
    "work.accept_offer",
    "work.start",
    "work.checkpoint",
    "work.block",
    "work.submit",
    "work.fail",
    "artifact.publish",
    "message.post",
    "work.propose",
    "ext.missionweaveprotocol.core.resource_usage_record",
    RENEWAL,
)
"""Command kinds whose answer a vector can set: those a Worker may send."""

ERROR_CODES = (
    "UNSUPPORTED_VERSION",
    "AUTH_REQUIRED",
    "AUTH_INVALID_SIGNATURE",
    "AUTH_STALE_SESSION",
    "AUTH_STALE_COORDINATOR",
    "AUTH_FORBIDDEN",
    "GROUP_NOT_FOUND",
    "MEMBERSHIP_REQUIRED",
    "MEMBERSHIP_STALE",
    "SCHEMA_VALIDATION_FAILED",
    "INVALID_COMMAND",
    "INVALID_STATE_TRANSITION",
    "REVISION_CONFLICT",
    "ACTION_ID_COLLISION",
    "UNKNOWN_CRITICAL_EXTENSION",
    "WORK_CONTRACT_INCOMPLETE",
    "WORK_OFFER_EXPIRED",
    "WORK_ALREADY_OWNED",
    "WORK_LEASE_EXPIRED",
    "WORK_STALE_OWNERSHIP",
    "APPROVAL_REQUIRED",
    "BUDGET_EXCEEDED",
    "RATE_LIMITED",
    "BACKPRESSURE",
    "CURSOR_TOO_OLD",
    "PROTOCOL_VIOLATION",
    "INTERNAL_ERROR",
)
"""MWP-EXT-004: the core codes."""

GROUP_POLICY = (
    Member("weight", "weight", WEIGHT),
    Member("slot_quota", "slot_quota", or_none(WHOLE), alias="quota"),
    Member("priority_class", "priority_class", or_none(PRIORITY_CLASS), alias="class"),
)
WORK_POLICY = (
    Member("priority_class", "priority_class", or_none(PRIORITY_CLASS), alias="class"),
    Member("approval", "approval", or_none(choice("required", "not_required"))),
)
LIMITS = (
    Member("max_queued_items", "max_queued_items", WHOLE),
    Member("max_queued_items_per_group", "max_queued_items_per_group", WHOLE),
    Member("offline_grace", "offline_grace_seconds", DURATION),
)


def read_policy(node: YamlNode, names: Names) -> SetPolicy:
    """Read a `policy` step."""
    sections = {key: (place, value) for key, place, value in entries(node, "policy")}
    for word, (place, _) in sections.items():
        if word not in ("groups", "work", "limits"):
            raise refusal(
                place, f"unknown member '{word}' of policy", "known: groups, limits, work"
            )
    if not sections:
        raise refusal(node.place, "no policy is given", "write {groups: {A: {weight: 3}}}")
    groups, work, limits = (sections.get(word) for word in ("groups", "work", "limits"))
    return SetPolicy(
        {} if groups is None else _each(groups[1], GROUP_POLICY, names.group),
        {} if work is None else _each(work[1], WORK_POLICY, names.work_item),
        {} if limits is None else _whole_numbers(read_members(limits[1], LIMITS, "limits")),
    )


def write_policy(step: SetPolicy) -> Plain:
    """Write a `policy` step."""
    written: dict[str, Plain] = {}
    if step.groups:
        written["groups"] = {k: write_members(v, GROUP_POLICY) for k, v in step.groups.items()}
    if step.work:
        written["work"] = {k: write_members(v, WORK_POLICY) for k, v in step.work.items()}
    if step.limits or not written:
        written["limits"] = write_members(step.limits, LIMITS)
    return {"policy": written}


def read_answer(node: YamlNode, names: Names) -> Answer:
    """Read an `answer` step: `{work.start: APPROVAL_REQUIRED}`, maybe with `retryable: true`."""
    del names  # whichever Group the Command is for
    commands = [entry for entry in entries(node, "answer") if entry[0] != "retryable"]
    if len(commands) != 1:
        hint = "write {work.start: APPROVAL_REQUIRED}"
        raise refusal(node.place, f"{len(commands)} Commands are named, not one", hint)
    kind, place, value = commands[0]
    kind = _OTHER_WORDS.get(kind, kind)
    if kind not in WORKER_COMMANDS:
        raise refusal(place, f"no Worker sends '{kind}'", did_you_mean(kind, WORKER_COMMANDS))
    code = text(value)
    if code not in (*ERROR_CODES, SILENCE):
        hint = did_you_mean(code, (*ERROR_CODES, SILENCE))
        raise refusal(value.place, f"unknown error code '{code}'", hint)
    retryable = next((v for k, _, v in entries(node, "answer") if k == "retryable"), None)
    return Answer(kind, code, False if retryable is None else truth(retryable))


def write_answer(step: Answer) -> Plain:
    """Write an `answer` step."""
    retryable: dict[str, Plain] = {"retryable": True} if step.retryable else {}
    return {"answer": {step.command: step.code, **retryable}}


def read_drive(node: YamlNode, names: Names) -> Drive:
    """Read a `drive` step: a driver's name, or `{name: settings}` in the driver's own words."""
    del names  # settings are the driver's own language
    if isinstance(node, YamlScalar):
        return Drive(text(node))
    driver, _, value = only(node, "drive")
    return Drive(driver, {key: _frozen(inner) for key, _, inner in entries(value, driver)})


def write_drive(step: Drive) -> Plain:
    """Write a `drive` step."""
    if not step.members:
        return {"drive": step.driver}
    return {"drive": {step.driver: {key: _thawed(value) for key, value in step.members.items()}}}


def _each(
    node: YamlNode, table: Sequence[Member], checked: Callable[[str, Place], str]
) -> Mapping[str, Mapping[str, object]]:
    found = {
        checked(key, place): read_members(value, table, key)
        for key, place, value in entries(node, "policy")
    }
    if not found or not all(found.values()):
        raise refusal(node.place, "nothing is set", "write {A: {weight: 3}}, or leave it out")
    return found


def _whole_numbers(values: Mapping[str, object]) -> dict[str, int]:
    return {name: value for name, value in values.items() if isinstance(value, int)}


def _frozen(node: YamlNode) -> object:
    if isinstance(node, YamlMapping):
        return {key: _frozen(value) for key, value in node.entries}
    if isinstance(node, YamlList):
        return tuple(_frozen(item) for item in node.items)
    return node.value


def _thawed(value: object) -> Plain:
    if isinstance(value, Mapping):
        return {str(key): _thawed(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_thawed(item) for item in value]
    if isinstance(value, str | int | float):
        return value
    raise unsayable(value)
