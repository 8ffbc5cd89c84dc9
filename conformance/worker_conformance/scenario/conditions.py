"""Conditions: what a `given`, `expect`, `should` or `never` looks for, as a vector writes it.

Reads and writes them; one table says which form of value each kind takes. Never decides whether
a condition holds (`judge` does).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from attrs import frozen

from worker_conformance.scenario.model import ACKED, END, Condition, ConditionKind
from worker_conformance.scenario.values import (
    checked_name,
    did_you_mean,
    duration,
    entries,
    integer,
    is_true,
    matching,
    one_of,
    one_or_many,
    positive,
    text,
    unsayable,
    write_duration,
)
from worker_conformance.scenario.yaml_reader import (
    Place,
    Plain,
    YamlMapping,
    YamlNode,
    YamlScalar,
    refusal,
)

DECLINE_REASONS = (
    "capacity",
    "deadline",
    "capability",
    "authorization",
    "dependency",
    "budget",
    "other",
)
WORK_STATES = (
    "open",
    "offered",
    "queued",
    "active",
    "blocked",
    "submitted",
    "verified",
    "failed",
    "cancelled",
)
"""States of a WorkItem that exists (PROTOCOL 10.2)."""
HORIZON = "horizon"
PLACES = {"end": END, "acked": ACKED}
"""Positions that have a name."""

_MONITOR = matching(r"MON-[0-9]{4}", "a monitor", "such as MON-0010")

DEEDS = tuple(list(ConditionKind)[: list(ConditionKind).index(ConditionKind.ACK)])
"""Commands and effects: the kinds that `order` and `count` can name."""


@frozen
class Names:
    """The Groups and WorkItems that a vector may name.

    `open_ended` is true where a load driver makes WorkItems of its own while the scenario runs.
    """

    groups: frozenset[str]
    work: frozenset[str]
    open_ended: bool = False

    def group(self, word: str, place: Place) -> str:
        """Return `word`, or fail if no Group is called so."""
        if word not in self.groups:
            raise refusal(place, f"no Group is called '{word}'", did_you_mean(word, self.groups))
        return word

    def work_item(self, word: str, place: Place) -> str:
        """Return `word`, or fail if no WorkItem is called so."""
        if self.open_ended:
            return checked_name(word, place)
        if word not in self.work:
            hint = did_you_mean(word, self.work) or "authorize it in a log, or list it under work"
            raise refusal(place, f"no WorkItem is called '{word}'", hint)
        return word


Reader = Callable[[YamlNode, Names], object]
Writer = Callable[[object], Plain]


@frozen
class _Shape:
    read: Reader
    write: Writer


def read_conditions(node: YamlNode, names: Names) -> tuple[Condition, ...]:
    """Read `{ack: {A: 5}, accept: a1}`, or a list of such mappings."""
    return tuple(
        _read_condition(one_of(ConditionKind, word, place, "condition"), value, names)
        for part in one_or_many(node)
        for word, place, value in _looked_for(part)
    )


def _looked_for(node: YamlNode) -> tuple[tuple[str, Place, YamlNode], ...]:
    found = entries(node, "the conditions")
    if not found:
        raise refusal(node.place, "nothing is looked for", "name a condition, such as accept: a1")
    return found


def _read_condition(kind: ConditionKind, node: YamlNode, names: Names) -> Condition:
    return Condition(kind, _SHAPES[kind].read(node, names))


def write_conditions(conditions: tuple[Condition, ...]) -> Plain:
    """Write one mapping; a list of mappings where a kind occurs twice."""
    parts: list[dict[str, Plain]] = [{}]
    for condition in conditions:
        if condition.kind in parts[-1]:
            parts.append({})
        parts[-1][str(condition.kind)] = _SHAPES[condition.kind].write(condition.value)
    return parts[0] if len(parts) == 1 else list(parts)


def _read_work(node: YamlNode, names: Names) -> tuple[str, ...]:
    return tuple(names.work_item(text(item), item.place) for item in one_or_many(node))


def _write_work(value: object) -> Plain:
    if not isinstance(value, tuple) or not value:
        raise unsayable(value)
    return value[0] if len(value) == 1 else list(value)


def _read_decline(node: YamlNode, names: Names) -> object:
    if not isinstance(node, YamlMapping):
        return _read_work(node, names)
    return {
        names.work_item(key, place): _reason(value) for key, place, value in _some(node, "decline")
    }


def _write_decline(value: object) -> Plain:
    return dict(value) if isinstance(value, Mapping) else _write_work(value)


def _reason(node: YamlNode) -> str:
    word = text(node)
    if word not in DECLINE_REASONS:
        raise refusal(node.place, f"unknown reason '{word}'", did_you_mean(word, DECLINE_REASONS))
    return word


def _read_positions(node: YamlNode, names: Names) -> object:
    return {
        names.group(key, place): _position(value) for key, place, value in _some(node, "a position")
    }


def _position(node: YamlNode) -> int:
    word = node.value if isinstance(node, YamlScalar) else None
    return PLACES[word] if word in PLACES else integer(node)


def _write_positions(value: object) -> Plain:
    if not isinstance(value, Mapping) or not value:
        raise unsayable(value)
    return {group: _named_position(sequence) for group, sequence in value.items()}


def _named_position(sequence: int) -> Plain:
    return next((word for word, place in PLACES.items() if place == sequence), sequence)


def _read_leaks(node: YamlNode, names: Names) -> object:
    return {
        names.group(key, place): tuple(
            names.group(text(item), item.place) for item in one_or_many(value)
        )
        for key, place, value in _some(node, "leaks")
    }


def _write_leaks(value: object) -> Plain:
    if not isinstance(value, Mapping) or not value:
        raise unsayable(value)
    return {group: _write_work(others) for group, others in value.items()}


def _read_ordinals(node: YamlNode, names: Names) -> object:
    return {
        names.work_item(key, place): positive(value)
        for key, place, value in _some(node, "names_lease")
    }


def _read_order(node: YamlNode, names: Names) -> tuple[str, ...]:
    return tuple(_deed(text(item), item.place, names) for item in one_or_many(node))


def _write_order(value: object) -> Plain:
    if not isinstance(value, tuple) or not value:
        raise unsayable(value)
    return list(value)


def _read_counts(node: YamlNode, names: Names) -> object:
    return {_deed(key, place, names): integer(value) for key, place, value in _some(node, "count")}


def _deed(phrase: str, place: Place, names: Names) -> str:
    word, _, name = phrase.partition(" ")
    if word not in DEEDS:
        raise refusal(place, f"'{word}' is no Command or effect", did_you_mean(word, DEEDS))
    if not name:
        raise refusal(place, f"'{phrase}' names no WorkItem", f"write '{word} a1'")
    return f"{word} {names.work_item(name, place)}"


def _read_service(node: YamlNode, names: Names) -> object:
    return {
        names.work_item(key, place): _horizon(value)
        for key, place, value in _some(node, "served_within")
    }


def _horizon(node: YamlNode) -> int | str:
    if isinstance(node, YamlScalar) and node.value == HORIZON:
        return HORIZON
    return duration(node)


def _write_service(value: object) -> Plain:
    if not isinstance(value, Mapping):
        raise unsayable(value)
    return {
        name: HORIZON if limit == HORIZON else write_duration(limit)
        for name, limit in value.items()
    }


def _write_mapping(value: object) -> Plain:
    if not isinstance(value, Mapping) or not value:
        raise unsayable(value)
    return dict(value)


def _read_operations(node: YamlNode, names: Names) -> object:
    return {
        names.work_item(key, place): text(value) for key, place, value in _some(node, "one_key")
    }


def _read_states(node: YamlNode, names: Names) -> object:
    return {
        names.work_item(key, place): _state(value) for key, place, value in _some(node, "state")
    }


def _state(node: YamlNode) -> str:
    word = text(node)
    if word not in WORK_STATES:
        raise refusal(node.place, f"unknown state '{word}'", did_you_mean(word, WORK_STATES))
    return word


def _read_monitors(node: YamlNode, names: Names) -> tuple[str, ...]:
    del names  # monitors see all Groups
    return tuple(str(_MONITOR.read(item)) for item in one_or_many(node))


def _read_true(node: YamlNode, names: Names) -> object:
    del names  # judged over the whole run, whoever takes part
    return is_true(node)


def _write_true(value: object) -> Plain:
    if value is not True:
        raise unsayable(value)
    return True


def _some(node: YamlNode, what: str) -> tuple[tuple[str, Place, YamlNode], ...]:
    found = entries(node, what)
    if not found:
        raise refusal(node.place, f"{what} names nothing", "name at least one")
    return found


_POSITIONS = _Shape(_read_positions, _write_positions)
_TRUE = _Shape(_read_true, _write_true)
_SHAPES: Mapping[ConditionKind, _Shape] = MappingProxyType(
    {
        **dict.fromkeys(ConditionKind, _Shape(_read_work, _write_work)),
        ConditionKind.DECLINE: _Shape(_read_decline, _write_decline),
        ConditionKind.ACK: _POSITIONS,
        ConditionKind.SUBSCRIBE: _POSITIONS,
        ConditionKind.ORDER: _Shape(_read_order, _write_order),
        ConditionKind.COUNT: _Shape(_read_counts, _write_mapping),
        ConditionKind.NAMES_LEASE: _Shape(_read_ordinals, _write_mapping),
        ConditionKind.LEAKS: _Shape(_read_leaks, _write_leaks),
        ConditionKind.STATE: _Shape(_read_states, _write_mapping),
        ConditionKind.HOLDS: _Shape(_read_monitors, _write_work),
        ConditionKind.PONG: _TRUE,
        ConditionKind.ONE_KEY: _Shape(_read_operations, _write_mapping),
        ConditionKind.FAIR: _TRUE,
        ConditionKind.SERVED_WITHIN: _Shape(_read_service, _write_service),
    }
)
