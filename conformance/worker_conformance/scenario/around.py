"""Steps about a Worker's surroundings, as a vector writes them.

Reads and writes `join`, `leave`, `clock`, `keys`, `card`, `session`, `token`, `backpressure`,
`freshness`, `raw` and `network`. Never plays them (`suite.surroundings` does).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import get_args

from attrs import asdict

from worker_conformance.scenario.conditions import Names
from worker_conformance.scenario.plans import RISKS
from worker_conformance.scenario.surroundings import (
    CALM,
    AnnounceSession,
    Backpressure,
    ChangeKeys,
    ChangeToken,
    Disturbance,
    Join,
    KeyChange,
    Leave,
    Network,
    Raw,
    RegisterCard,
    SetClock,
    SetFreshness,
    Surrounding,
)
from worker_conformance.scenario.values import (
    DURATION,
    POSITIVE,
    Form,
    Member,
    choice,
    did_you_mean,
    duration,
    entries,
    integer,
    many,
    one_or_many,
    only,
    positive,
    read_members,
    text,
    unsayable,
    write_duration,
    write_members,
    write_number,
)
from worker_conformance.scenario.yaml_reader import (
    Plain,
    YamlMapping,
    YamlNode,
    YamlScalar,
    refusal,
)

KEY_CHANGES: tuple[KeyChange, ...] = get_args(KeyChange)
POINTS = (
    "identity",
    "unreduced_identity",
    "mixed_order",
    "off_curve",
    "base_point",
    "negative_base_point",
    "largest",
    "smallest",
)
"""What `bind` can show as a public key: four that are none, and four that are (MWP-SDV-005)."""
ORGANIZATION_ROLES = (
    "rival",
    "coordinator",
    "successor",
    "owner",
    "approver",
    "group-authority",
    "archive",
    "card-issuer",
    "outsider",
)
"""Whose keys can change under the eyes of a running Worker: all but its own."""

AUTHORIZED_ROLES = ("approver", "group-authority", "archive", "card-issuer")
"""Who holds a role that can be taken away."""

CARD_SIGNERS = ("card-issuer", "outsider")
WRONG_BINDINGS = ("agent", "session", "work", "epoch", "lease")
"""Bindings of a token that can fail to fit."""

SPELLINGS = (
    "respelled",
    "times",
    "duplicate_member",
    "invalid_utf8",
    "byte_order_mark",
    "huge_number",
    "lone_surrogate",
    "not_a_number",
    "trailing_data",
    "truncated",
)
"""How an Event's bytes can be: lawful in another spelling, or with one thing wrong."""

PERCENT_MAX = 100
"""All of it: what is dropped comes later, and what is lost may be lost for good."""

_Reader = Callable[[YamlNode, Names], Surrounding]


def _percent(node: YamlNode) -> int:
    value = integer(node)
    if value > PERCENT_MAX:
        raise refusal(node.place, f"{value} of a hundred is too much", f"at most {PERCENT_MAX}")
    return value


_PERCENT = Form(_percent, write_number)
_DISTURBANCE = (
    Member("delay", "delay_seconds", DURATION),
    Member("reorder", "reorder_seconds", DURATION),
    Member("duplicate", "duplicate", _PERCENT),
    Member("drop", "drop", _PERCENT),
    Member("lose", "lose", _PERCENT),
    Member("cut", "cut_seconds", DURATION),
    Member("every", "every_seconds", DURATION),
)
_TOKEN = (
    Member("operations", "operations", many(choice(*RISKS[1:]))),
    Member("expires", "expires_seconds", DURATION),
    Member("wrong", "wrong", choice(*WRONG_BINDINGS)),
)
_BINDING = (
    Member("role", "role", choice(*ORGANIZATION_ROLES)),
    Member("point", "point", choice(*POINTS)),
)
_CARD = (
    Member("version", "version", POSITIVE),
    Member("signer", "signer", choice(*CARD_SIGNERS)),
    Member("agent", "agent", choice("another")),
)


# --- reading ------------------------------------------------------------------------------


def _read_groups(node: YamlNode, names: Names) -> tuple[str, ...]:
    return tuple(names.group(text(item), item.place) for item in one_or_many(node))


def _read_join(node: YamlNode, names: Names) -> Surrounding:
    return Join(_read_groups(node, names))


def _read_leave(node: YamlNode, names: Names) -> Surrounding:
    return Leave(_read_groups(node, names))


def _read_clock(node: YamlNode, names: Names) -> Surrounding:
    del names  # one clock for all
    if isinstance(node, YamlScalar) and node.value == "right":
        return SetClock(0)
    hint = "write {ahead: 1h}, {behind: 1h}, or right"
    if not isinstance(node, YamlMapping):
        raise refusal(node.place, "where the clock stands is missing", hint)
    word, place, value = only(node, "clock")
    if word not in ("ahead", "behind"):
        raise refusal(place, f"unknown word '{word}'", hint)
    seconds = duration(value)
    if seconds == 0:
        raise refusal(value.place, "the clock does not move", "write right")
    return SetClock(seconds if word == "ahead" else -seconds)


def _read_keys(node: YamlNode, names: Names) -> Surrounding:
    del names  # the registry is the Organization's
    word, place, value = only(node, "keys")
    change = next((one for one in KEY_CHANGES if one == word), None)
    if change is None:
        raise refusal(place, f"unknown change '{word}'", did_you_mean(word, KEY_CHANGES))
    if change == "bind":
        return _read_binding(value)
    role = text(value)
    roles = AUTHORIZED_ROLES if change == "deauthorize" else ORGANIZATION_ROLES
    if role not in roles:
        raise refusal(value.place, f"no such role '{role}'", did_you_mean(role, roles))
    return ChangeKeys(change, role)


def _read_binding(node: YamlNode) -> ChangeKeys:
    members = read_members(node, _BINDING, "bind")
    if set(members) != {"role", "point"}:
        raise refusal(node.place, "a binding is incomplete", "write {role: rival, point: identity}")
    return ChangeKeys("bind", str(members["role"]), str(members["point"]))


def _read_card(node: YamlNode, names: Names) -> Surrounding:
    del names  # the card is the Agent's
    if not isinstance(node, YamlMapping):
        return RegisterCard(positive(node))
    members = read_members(node, _CARD, "card")
    version = members.get("version")
    if not isinstance(version, int):
        raise refusal(node.place, "the card's version is missing", "write {version: 4}")
    signer = str(members.get("signer", CARD_SIGNERS[0]))
    return RegisterCard(version, signer, another="agent" in members)


def _read_session(node: YamlNode, names: Names) -> Surrounding:
    del names  # a session is with the Organization
    said = choice("announced", "replaced", "another").read(node)
    return AnnounceSession(replaced=said == "replaced", another=said == "another")


def _read_token(node: YamlNode, names: Names) -> Surrounding:
    key, place, value = only(node, "token")
    work = names.work_item(key, place)
    if not isinstance(value, YamlMapping):
        return ChangeToken(work, revoked=choice("issued", "revoked").read(value) == "revoked")
    members = read_members(value, _TOKEN, f"the token of {work}")
    if not members:
        raise refusal(value.place, "nothing is said of the token", f"write {{{work}: issued}}")
    operations, expires = members.get("operations", ()), members.get("expires_seconds")
    wrong = members.get("wrong")
    return ChangeToken(
        work,
        operations=operations if isinstance(operations, tuple) else (),
        expires_seconds=expires if isinstance(expires, int) else None,
        wrong=wrong if isinstance(wrong, str) else None,
    )


def _read_backpressure(node: YamlNode, names: Names) -> Surrounding:
    found = {
        names.group(key, place): duration(value)
        for key, place, value in entries(node, "backpressure")
    }
    if not found:
        raise refusal(node.place, "no Group is named", "write {A: 30s}")
    return Backpressure(found)


def _read_freshness(node: YamlNode, names: Names) -> Surrounding:
    del names  # one window for all
    return SetFreshness(duration(node))


def _read_raw(node: YamlNode, names: Names) -> Surrounding:
    hint = "write {A: 5, how: duplicate_member}"
    groups = [entry for entry in entries(node, "raw") if entry[0] != "how"]
    how = next((value for key, _, value in entries(node, "raw") if key == "how"), None)
    if len(groups) != 1 or how is None:
        raise refusal(node.place, "one Group, its Event and how it is spelled are needed", hint)
    key, place, value = groups[0]
    return Raw(names.group(key, place), positive(value), str(choice(*SPELLINGS).read(how)))


def _read_network(node: YamlNode, names: Names) -> Surrounding:
    found = {
        names.group(key, place): _disturbance(value)
        for key, place, value in entries(node, "network")
    }
    if not found:
        raise refusal(node.place, "no Group is named", "write {A: {delay: 5s}}")
    return Network(found)


def _disturbance(node: YamlNode) -> Disturbance:
    if not isinstance(node, YamlMapping):
        choice("calm").read(node)
        return CALM
    members = read_members(node, _DISTURBANCE, "network")
    found = Disturbance(**{name: n for name, n in members.items() if isinstance(n, int)})
    if found == CALM:
        raise refusal(node.place, "nothing is disturbed", "write calm")
    if found.cut_seconds and found.cut_seconds >= found.every_seconds:
        raise refusal(
            node.place, "the link is cut for longer than it is up", "write {cut: 30s, every: 5m}"
        )
    if found.every_seconds and not found.cut_seconds:
        raise refusal(node.place, "'every' says how often, and 'cut' is missing", "add cut: 30s")
    return found


AROUND_READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        "join": _read_join,
        "leave": _read_leave,
        "clock": _read_clock,
        "keys": _read_keys,
        "card": _read_card,
        "session": _read_session,
        "token": _read_token,
        "backpressure": _read_backpressure,
        "freshness": _read_freshness,
        "raw": _read_raw,
        "network": _read_network,
    }
)
"""By the step's word."""


# --- writing ------------------------------------------------------------------------------


def write_around(step: Surrounding) -> Plain:
    """Write a step about the surroundings in its shortest form."""
    match step:
        case Join(groups=groups):
            return {"join": _write_groups(groups)}
        case Leave(groups=groups):
            return {"leave": _write_groups(groups)}
        case SetClock(offset_seconds=offset):
            return {"clock": _write_clock(offset)}
        case ChangeKeys(change="bind", role=role, point=point):
            return {"keys": {"bind": {"role": role, "point": point}}}
        case ChangeKeys(change=change, role=role):
            return {"keys": {change: role}}
        case RegisterCard():
            return {"card": _write_card(step)}
        case AnnounceSession(replaced=replaced, another=another):
            return {"session": "another" if another else "replaced" if replaced else "announced"}
        case ChangeToken():
            return {"token": {step.work: _write_token(step)}}
        case _:
            return _write_traffic(step)


def _write_traffic(step: Surrounding) -> Plain:
    match step:
        case Backpressure(groups=groups):
            return {"backpressure": {name: write_duration(s) for name, s in groups.items()}}
        case SetFreshness(seconds=seconds):
            return {"freshness": write_duration(seconds)}
        case Raw(group=group, sequence=sequence, how=how):
            return {"raw": {group: sequence, "how": how}}
        case Network(groups=groups):
            return {"network": {name: _write_disturbance(one) for name, one in groups.items()}}
        case _:
            raise unsayable(step)


def _write_groups(groups: tuple[str, ...]) -> Plain:
    return groups[0] if len(groups) == 1 else list(groups)


def _write_card(step: RegisterCard) -> Plain:
    if step.signer == CARD_SIGNERS[0] and not step.another:
        return step.version
    of: dict[str, Plain] = {"agent": "another"} if step.another else {}
    return {"version": step.version, "signer": step.signer, **of}


def _write_clock(offset: int) -> Plain:
    if offset == 0:
        return "right"
    return {"ahead" if offset > 0 else "behind": write_duration(abs(offset))}


def _write_token(step: ChangeToken) -> Plain:
    if step.revoked:
        return "revoked"
    given = {
        "operations": step.operations or None,
        "expires_seconds": step.expires_seconds,
        "wrong": step.wrong,
    }
    members = {name: value for name, value in given.items() if value is not None}
    return write_members(members, _TOKEN) if members else "issued"


def _write_disturbance(disturbance: Disturbance) -> Plain:
    members = {name: value for name, value in asdict(disturbance).items() if value}
    return write_members(members, _DISTURBANCE) if members else "calm"


SURROUNDINGS: tuple[type[Surrounding], ...] = get_args(Surrounding)
"""Every kind of such a step."""
