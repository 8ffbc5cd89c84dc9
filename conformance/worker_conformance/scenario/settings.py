"""Steps that set something: policy, the Authority's next answer, a load driver.

Reads and writes them. Never applies them (`organization` and `suite` do).
"""

import re
from collections.abc import Callable, Mapping, Sequence

from worker_conformance.scenario.conditions import Names
from worker_conformance.scenario.model import Answer, Drive, SetPolicy
from worker_conformance.scenario.plans import BUDGET, BUDGET_LIMITS, PRIORITY_CLASS
from worker_conformance.scenario.values import (
    DURATION,
    WEIGHT,
    WHOLE,
    Member,
    choice,
    did_you_mean,
    duration,
    entries,
    only,
    or_none,
    read_members,
    text,
    truth,
    unsayable,
    write_duration,
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
_GUIDANCE = ("retryable", "retry_after")

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


CARD_UPGRADES = ("compatible", "incompatible")
AVAILABILITY = ("available", "degraded", "unavailable")
_CARD_VERSION = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_CAPABILITY_ID = re.compile(r"[a-z][a-z0-9._-]*", re.ASCII)
_SECTIONS = ("groups", "work", "limits", "cards", "capabilities", "remaining")


def read_policy(node: YamlNode, names: Names) -> SetPolicy:
    """Read a `policy` step."""
    sections = {key: value for key, _, value in entries(node, "policy")}
    for word, place, _ in entries(node, "policy"):
        if word not in _SECTIONS:
            raise refusal(
                place, f"unknown member '{word}' of policy", f"known: {', '.join(_SECTIONS)}"
            )
    if not sections:
        raise refusal(node.place, "no policy is given", "write {groups: {A: {weight: 3}}}")
    groups, work, limits, cards, capabilities, remaining = map(sections.get, _SECTIONS)
    return SetPolicy(
        {} if groups is None else _each(groups, GROUP_POLICY, names.group),
        {} if work is None else _each(work, WORK_POLICY, names.work_item),
        {} if limits is None else _whole_numbers(read_members(limits, LIMITS, "limits")),
        {} if cards is None else _words(cards, CARD_UPGRADES, _CARD_VERSION),
        {} if capabilities is None else _words(capabilities, AVAILABILITY, _CAPABILITY_ID),
        {} if remaining is None else _remaining(remaining, names),
    )


def write_policy(step: SetPolicy) -> Plain:
    """Write a `policy` step."""
    written: dict[str, Plain] = {}
    if step.groups:
        written["groups"] = {k: write_members(v, GROUP_POLICY) for k, v in step.groups.items()}
    if step.work:
        written["work"] = {k: write_members(v, WORK_POLICY) for k, v in step.work.items()}
    for section, words in (("cards", step.cards), ("capabilities", step.capabilities)):
        if words:
            written[section] = {**words}
    if step.remaining:
        written["remaining"] = {k: BUDGET.write(v) for k, v in step.remaining.items()}
    if step.limits or not written:
        written["limits"] = write_members(step.limits, LIMITS)
    return {"policy": written}


def _words(node: YamlNode, allowed: Sequence[str], key: re.Pattern[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word, place, value in entries(node, "policy"):
        if not key.fullmatch(word):
            hint = "a card's version, or a capability's ID"
            raise refusal(place, f"'{word}' cannot be set", hint)
        found[word] = str(choice(*allowed).read(value))
    if not found:
        raise refusal(node.place, "nothing is set", "write {'4': incompatible}, or leave it out")
    return found


def _remaining(node: YamlNode, names: Names) -> dict[str, Mapping[str, int]]:
    found: dict[str, Mapping[str, int]] = {
        names.group(key, place): _whole_numbers(read_members(value, BUDGET_LIMITS, key))
        for key, place, value in entries(node, "policy")
    }
    if not found or not all(found.values()):
        raise refusal(node.place, "nothing is set", "write {A: {tool_calls: 3}}")
    return found


def read_answer(node: YamlNode, names: Names) -> Answer:
    """Read an `answer` step: `{work.start: APPROVAL_REQUIRED}`, maybe with guidance beside it."""
    del names  # whichever Group the Command is for
    commands = [entry for entry in entries(node, "answer") if entry[0] not in _GUIDANCE]
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
    beside = {key: inner for key, _, inner in entries(node, "answer") if key in _GUIDANCE}
    return Answer(
        kind,
        code,
        truth(beside["retryable"]) if "retryable" in beside else False,
        duration(beside["retry_after"]) if "retry_after" in beside else None,
    )


def write_answer(step: Answer) -> Plain:
    """Write an `answer` step."""
    beside: dict[str, Plain] = {"retryable": True} if step.retryable else {}
    if step.retry_after_seconds is not None:
        beside["retry_after"] = write_duration(step.retry_after_seconds)
    return {"answer": {step.command: step.code, **beside}}


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
