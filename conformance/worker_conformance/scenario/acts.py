"""Acts: what the Organization does in a Group, as a vector writes it.

Reads and writes one act. Also says which acts must have come before: an offer needs an authorized
WorkItem. Never carries an act out (`organization` does).
"""

from collections.abc import Mapping
from types import MappingProxyType

from worker_conformance.scenario.model import (
    ASIDES,
    FALSE_APPROVALS,
    HARD_DATA,
    MISFILED,
    Act,
    ActKind,
)
from worker_conformance.scenario.plans import CONTRACT_MEMBERS
from worker_conformance.scenario.values import (
    DURATION,
    NAME,
    POSITIVE,
    TEXT,
    TRUTH,
    Member,
    choice,
    entries,
    name,
    one_of,
    only,
    read_members,
    text,
    unsayable,
    write_members,
)
from worker_conformance.scenario.yaml_reader import (
    Plain,
    YamlMapping,
    YamlNode,
    YamlScalar,
    refusal,
)

GROUP_ACTS = frozenset(
    {
        ActKind.CREATED,
        ActKind.MEMBER,
        ActKind.MESSAGE,
        ActKind.CANCEL_MISSION,
        ActKind.TERMINATE_MISSION,
        ActKind.APPROVE_MISSION,
        ActKind.ARCHIVE,
        ActKind.REPLACE_COORDINATOR,
        ActKind.ASIDE,
        ActKind.MOVE_MEMBERSHIP,
        ActKind.END_MEMBERSHIP,
        ActKind.OTHER_MEMBER,
        ActKind.END_OTHER_MEMBER,
        ActKind.EXTENSION,
        ActKind.MISFILED,
    }
)
"""Acts that concern a Group as a whole; all others name a WorkItem."""

_ASIDE = choice(*ASIDES)
_WORK = Member("work", "work", NAME)
_CARRIED = (
    Member("critical", "critical", TRUTH),
    Member("data", "data", choice(*HARD_DATA)),
)
_ARGUMENTS: Mapping[ActKind, tuple[Member, ...]] = MappingProxyType(
    {
        **{kind: _CARRIED if kind in GROUP_ACTS else (_WORK, *_CARRIED) for kind in ActKind},
        ActKind.MESSAGE: (_WORK, Member("text", "text", TEXT), *_CARRIED),
        ActKind.OFFER: (_WORK, Member("checkpoint", "checkpoint", NAME), *_CARRIED),
        ActKind.GRANT: (
            _WORK,
            Member("expires", "expires_seconds", DURATION),
            Member("epoch", "epoch", POSITIVE),
            Member("how", "how", choice(*FALSE_APPROVALS)),
            Member("believed", "believed", TRUTH),
            *_CARRIED,
        ),
        ActKind.ASIDE: (Member("kind", "kind", _ASIDE), *_CARRIED),
        ActKind.MISFILED: (Member("what", "what", choice(*MISFILED)), *_CARRIED),
        ActKind.REVISE: (_WORK, *CONTRACT_MEMBERS, *_CARRIED),
        ActKind.CHILD_FAILED: (_WORK, Member("indispensable", "indispensable", TRUTH), *_CARRIED),
    }
)

PREREQUISITES: Mapping[ActKind, frozenset[ActKind]] = MappingProxyType(
    {
        ActKind.EXTEND_OFFER: frozenset({ActKind.OFFER, ActKind.OFFER_BOTH}),
        ActKind.WITHDRAW: frozenset({ActKind.OFFER, ActKind.OFFER_BOTH}),
        ActKind.CHILD_APPROVED: frozenset({ActKind.PROMOTE}),
        ActKind.CHILD_FAILED: frozenset({ActKind.PROMOTE}),
        ActKind.TAKEN: frozenset({ActKind.OFFER_BOTH, ActKind.OFFER_OTHER, ActKind.WITHDRAW}),
    }
)
"""Any one of which must precede an act on the same WorkItem, besides `authorize`."""


def read_act(node: YamlNode) -> Act:
    """Read `created`, `{offer: a1}`, or `{grant: {work: a1, expires: 1h}}`."""
    if isinstance(node, YamlScalar):
        kind = _kind(text(node), node)
        if kind not in GROUP_ACTS:
            raise refusal(node.place, f"'{kind}' names no WorkItem", f"write {{{kind}: a1}}")
        if kind is ActKind.ASIDE:
            raise refusal(node.place, "'aside' names no Event", f"write {{aside: {ASIDES[0]}}}")
        return Act(kind)
    word, _, value = only(node, "an act")
    kind = _kind(word, node)
    if isinstance(value, YamlMapping):
        return _with_arguments(kind, value)
    if kind is ActKind.MESSAGE:
        return Act(kind, args={"text": text(value)})
    if kind is ActKind.ASIDE:
        return Act(kind, args={"kind": _ASIDE.read(value)})
    if kind in GROUP_ACTS:
        raise refusal(value.place, f"'{kind}' names nothing", f"write {kind} by itself")
    return Act(kind, name(value))


def write_act(act: Act) -> Plain:
    """Write an act in its shortest form."""
    word = str(act.kind)
    arguments = dict(act.args)
    if act.kind is ActKind.REVISE:
        changes = arguments.pop("changes", {})
        if not isinstance(changes, Mapping):
            raise unsayable(act)
        arguments |= changes
    if act.work is None and not arguments:
        return word
    if act.work is None and act.kind is ActKind.MESSAGE and set(arguments) == {"text"}:
        return {word: TEXT.write(arguments["text"])}
    if act.kind is ActKind.ASIDE and set(arguments) == {"kind"}:
        return {word: _ASIDE.write(arguments["kind"])}
    if act.work is not None:
        arguments = {"work": act.work, **arguments}
    bare = set(arguments) == {"work"} and "changes" not in act.args
    if bare and act.kind not in GROUP_ACTS:
        return {word: NAME.write(act.work)}
    return {word: write_members(arguments, _ARGUMENTS[act.kind])}


def work_place(node: YamlNode) -> YamlNode:
    """The node at which an act names its WorkItem, or the act itself where it names none."""
    if not isinstance(node, YamlMapping):
        return node
    _, _, value = only(node, "an act")
    if not isinstance(value, YamlMapping):
        return value
    return next((inner for key, _, inner in entries(value, "an act") if key == "work"), node)


def _with_arguments(kind: ActKind, node: YamlMapping) -> Act:
    members = read_members(node, _ARGUMENTS[kind], f"the act '{kind}'")
    work = members.pop("work", None)
    if work is None and kind not in GROUP_ACTS:
        raise refusal(node.place, f"'{kind}' names no WorkItem", "add work: a1")
    if kind is ActKind.REVISE:
        carried = ("critical", "data")
        beside: dict[str, object] = {key: members.pop(key) for key in carried if key in members}
        members = {"changes": members, **beside}
    return Act(kind, None if work is None else str(work), members)


def _kind(word: str, node: YamlNode) -> ActKind:
    return one_of(ActKind, word, node.place, "act")
