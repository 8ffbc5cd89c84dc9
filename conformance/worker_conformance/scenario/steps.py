"""Steps: what happens in a scenario, as a vector writes it, one word each.

Reads a step (`start`, or `advance: 10m`) into an action and writes it back. Never plays it
(`suite.world` does).
"""

from collections.abc import Callable, Mapping
from functools import singledispatch
from types import MappingProxyType
from typing import Literal

from worker_conformance.scenario.acts import read_act, write_act
from worker_conformance.scenario.around import AROUND_READERS, SURROUNDINGS, write_around
from worker_conformance.scenario.conditions import Names, read_conditions, write_conditions
from worker_conformance.scenario.model import (
    END,
    Act,
    Action,
    Advance,
    Answer,
    Check,
    Crash,
    CrashDuring,
    Deliver,
    Delivery,
    Drive,
    Forge,
    Link,
    Mark,
    Mood,
    Ping,
    Publish,
    Report,
    SetPolicy,
    Start,
    Step,
    Stop,
    Truncate,
    Wipe,
)
from worker_conformance.scenario.reports import read_report, write_report
from worker_conformance.scenario.settings import (
    read_answer,
    read_drive,
    read_policy,
    write_answer,
    write_drive,
    write_policy,
)
from worker_conformance.scenario.values import (
    choice,
    did_you_mean,
    duration,
    entries,
    items,
    one_or_many,
    only,
    positive,
    sequences,
    text,
    unsayable,
    write_duration,
    write_sequences,
)
from worker_conformance.scenario.yaml_reader import (
    Place,
    Plain,
    YamlMapping,
    YamlNode,
    YamlScalar,
    refusal,
)

FORGERIES = (
    "payload",
    "signature",
    "signer",
    "sequence_twin",
    "id_twin",
    "retired_key",
    "scalar",
    "small_order",
    "time",
    "offset",
    "value_only",
    "data",
    "schema",
)
FORGED_SNAPSHOTS = ("signature", "signer", "state_hash", "reference")

BARE: Mapping[str, Action] = MappingProxyType(
    {
        "start": Start(),
        "stop": Stop(),
        "crash": Crash(),
        "wipe": Wipe(),
        "ping": Ping(),
        "mark": Mark(),
    }
)
"""Steps that are one word."""


def read_step(node: YamlNode, names: Names) -> Step:
    """Read one step; unknown words get a hint."""
    if isinstance(node, YamlScalar):
        return Step(_bare(text(node), node.place), node.place.line)
    word, place, value = only(node, "a step")
    if word in BARE:
        raise refusal(place, f"'{word}' takes nothing", f"write - {word}")
    reader = _READERS.get(word)
    if reader is None:
        raise refusal(place, f"unknown step '{word}'", did_you_mean(word, [*BARE, *_READERS]))
    return Step(reader(value, names), node.place.line)


def write_step(step: Step) -> Plain:
    """Write a step in its shortest form."""
    for word, action in BARE.items():
        if step.action == action:
            return word
    return _write(step.action)


def _bare(word: str, place: Place) -> Action:
    if word in BARE:
        return BARE[word]
    if word in _READERS:
        raise refusal(place, f"'{word}' says nothing yet", f"write - {word}: …")
    raise refusal(place, f"unknown step '{word}'", did_you_mean(word, [*BARE, *_READERS]))


def _read_deliver(node: YamlNode, names: Names) -> Action:
    return Deliver(_by_group(node, names))


def _read_one_by_one(node: YamlNode, names: Names) -> Action:
    return Deliver(_by_group(node, names), one_by_one=True)


def _read_crash_during(node: YamlNode, names: Names) -> Action:
    return CrashDuring(_by_group(node, names))


def _by_group(node: YamlNode, names: Names) -> dict[str, tuple[int, ...]]:
    found = {
        names.group(key, place): sequences(value)
        for key, place, value in entries(node, "the delivery")
    }
    if not found:
        raise refusal(node.place, "nothing is delivered", "write {A: 1-3}")
    return found


def _write_by_group(sequence_lists: Mapping[str, tuple[int, ...]]) -> Plain:
    return {group: write_sequences(numbers) for group, numbers in sequence_lists.items()}


def _beside(
    node: YamlNode, names: Names, word: str, hint: str
) -> tuple[str, YamlNode, YamlNode | None]:
    """One Group with its value, and what stands beside it under `word`."""
    groups = [entry for entry in entries(node, "the step") if entry[0] != word]
    if len(groups) != 1:
        raise refusal(node.place, f"{len(groups)} Groups are named, not one", f"write {hint}")
    key, place, value = groups[0]
    other = next((found for k, _, found in entries(node, "the step") if k == word), None)
    return names.group(key, place), value, other


def _read_forge(node: YamlNode, names: Names) -> Action:
    group, value, how = _beside(node, names, "how", "{A: 5, how: payload}")
    if how is None:
        raise refusal(node.place, "how it is forged is missing", "write {A: 5, how: payload}")
    is_last = isinstance(value, YamlScalar) and value.value == "end"
    sequence = END if is_last else positive(value)
    return Forge(group, sequence, str(choice(*FORGERIES).read(how)))


def _read_truncate(node: YamlNode, names: Names) -> Action:
    group, value, snapshot = _beside(node, names, "snapshot", "{A: 4}")
    if snapshot is None or (isinstance(snapshot, YamlScalar) and snapshot.value is True):
        return Truncate(group, positive(value))
    return Truncate(group, positive(value), str(choice(*FORGED_SNAPSHOTS).read(snapshot)))


def _read_publish(node: YamlNode, names: Names) -> Action:
    acts = {
        names.group(key, place): tuple(read_act(item) for item in items(value, "a list of acts"))
        for key, place, value in entries(node, "publish")
    }
    if not any(acts.values()):
        raise refusal(node.place, "nothing is published", "write {A: [{offer: a1}]}")
    return Publish(acts)


def write_acts(acts: Mapping[str, tuple[Act, ...]]) -> Plain:
    """Write the acts of a `publish` step, or the logs of a scenario."""
    return {group: [write_act(act) for act in told] for group, told in acts.items()}


def _read_advance(node: YamlNode, names: Names) -> Action:
    del names  # time is one for all
    return Advance(duration(node))


def _read_delivery(node: YamlNode, names: Names) -> Action:
    del names  # all Groups alike
    return Delivery(read_delivery_mode(node))


def _read_link(node: YamlNode, names: Names) -> Action:
    if isinstance(node, YamlMapping):
        word, place, value = only(node, "link")
        groups = tuple(names.group(text(g), g.place) for g in one_or_many(value))
    else:
        word, place, groups = text(node), node.place, ()
    if word == "up":
        return Link("up", groups)
    if word == "down":
        return Link("down", groups)
    raise refusal(place, f"unknown word '{word}'", "write up, down, or {down: [A]}")


def _check(mood: Mood) -> Callable[[YamlNode, Names], Action]:
    def read(node: YamlNode, names: Names) -> Action:
        return Check(mood, read_conditions(node, names))

    return read


def read_delivery_mode(node: YamlNode) -> Literal["auto", "manual"]:
    """Read `auto` or `manual`."""
    word = text(node)
    if word == "auto":
        return "auto"
    if word == "manual":
        return "manual"
    raise refusal(node.place, f"unknown word '{word}'", did_you_mean(word, ("auto", "manual")))


_READERS: Mapping[str, Callable[[YamlNode, Names], Action]] = MappingProxyType(
    {
        "deliver": _read_deliver,
        "deliver_one_by_one": _read_one_by_one,
        "crash_during": _read_crash_during,
        "forge": _read_forge,
        "publish": _read_publish,
        "advance": _read_advance,
        "delivery": _read_delivery,
        "policy": read_policy,
        "link": _read_link,
        "report": read_report,
        "answer": read_answer,
        "truncate": _read_truncate,
        "drive": read_drive,
        **AROUND_READERS,
        **{str(mood): _check(mood) for mood in Mood},
    }
)


STEP_WORDS = tuple(_READERS)
"""Words of the steps that take something."""


@singledispatch
def _write(action: Action) -> Plain:
    raise unsayable(action)


@_write.register
def _write_deliver(step: Deliver) -> Plain:
    word = "deliver_one_by_one" if step.one_by_one else "deliver"
    return {word: _write_by_group(step.sequences)}


@_write.register
def _write_crash_during(step: CrashDuring) -> Plain:
    return {"crash_during": _write_by_group(step.sequences)}


@_write.register
def _write_forge(step: Forge) -> Plain:
    place: Plain = "end" if step.sequence == END else step.sequence
    return {"forge": {step.group: place, "how": step.how}}


@_write.register
def _write_truncate(step: Truncate) -> Plain:
    forged: dict[str, Plain] = {} if step.snapshot == "true" else {"snapshot": step.snapshot}
    return {"truncate": {step.group: step.through, **forged}}


@_write.register
def _write_publish(step: Publish) -> Plain:
    return {"publish": write_acts(step.acts)}


@_write.register
def _write_advance(step: Advance) -> Plain:
    return {"advance": write_duration(step.seconds)}


@_write.register
def _write_delivery(step: Delivery) -> Plain:
    return {"delivery": step.mode}


@_write.register
def _write_link(step: Link) -> Plain:
    return {"link": {step.state: list(step.groups)} if step.groups else step.state}


@_write.register
def _write_check(step: Check) -> Plain:
    return {str(step.mood): write_conditions(step.conditions)}


_write.register(Report)(write_report)
_write.register(Answer)(write_answer)
_write.register(SetPolicy)(write_policy)
_write.register(Drive)(write_drive)
for _kind in SURROUNDINGS:
    _write.register(_kind)(write_around)
