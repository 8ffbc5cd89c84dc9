"""Scenarios as YAML: the way back from a Scenario to a vector.

`load_text(to_yaml(scenario), …)` is the same scenario again, whoever made it; a generated failure
is saved this way. Lays the text out as a person would: a section a line, a step a line.
Never writes what the loader would supply by itself, except the profile.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from io import StringIO

import yaml

from worker_conformance.scenario.loader import homes_of, told_delivery
from worker_conformance.scenario.model import Act, Publish, Scenario
from worker_conformance.scenario.plans import write_agent, write_group, write_work
from worker_conformance.scenario.steps import write_acts, write_step
from worker_conformance.scenario.values import unsayable
from worker_conformance.scenario.yaml_reader import MAX_DIGITS, Plain, reads_as_text

LINE_WIDTH = 100

_PROSE = re.compile(r"[!-~]+( [!-~]+)*", re.ASCII)
_PROSE_LENGTH = 60  # shorter texts stand beside their word


def to_yaml(scenario: Scenario) -> str:
    """Write `scenario` as a vector; raise SuiteError if it holds what no vector can say."""
    stream = StringIO()
    writer = _Writer(stream, width=LINE_WIDTH, allow_unicode=True)
    for event in _document(_sections(scenario)):
        writer.emit(event)
    return stream.getvalue()


def to_line(scenario: Scenario) -> str:
    """What `to_yaml` writes, as a line of JSON: for digests, and many times as fast."""
    return json.dumps(_sections(scenario), default=str)


def _sections(scenario: Scenario) -> dict[str, Plain]:
    """The vector's members in the order in which they are written, without empty ones."""
    written: dict[str, Plain] = {
        "id": scenario.id,
        "title": scenario.title,
        "stake": scenario.stake,
        "requirement": scenario.requirement,
        "level": str(scenario.level),
        "profile": str(scenario.profile),
    }
    optional: dict[str, Plain] = {
        "also": list(scenario.also),
        "twin": scenario.twin or "",
        "case": scenario.case or "",
        "needs": list(scenario.needs),
        "agent": write_agent(scenario.agent),
        "groups": {plan.name: write_group(plan) for plan in scenario.groups},
        "work": _work(scenario),
        "log": write_acts(scenario.log),
    }
    written |= {word: value for word, value in optional.items() if value}
    if scenario.delivery != told_delivery(scenario.steps):
        written["delivery"] = scenario.delivery
    return {**written, "steps": [write_step(step) for step in scenario.steps]}


def _work(scenario: Scenario) -> Plain:
    """The plans that must be listed: those that differ from the default, and any before them."""
    homes = dict(homes_of(_acts(scenario)))
    changed = [i for i, plan in enumerate(scenario.work) if write_work(plan)]
    least = changed[-1] + 1 if changed else 0
    names = [plan.name for plan in scenario.work]
    for count in range(least, len(names) + 1):
        listed = names[:count]
        if listed + [name for name in homes if name not in listed] == names:
            break
    else:
        raise unsayable(names)
    return {
        plan.name: write_work(plan)
        if plan.name in homes
        else {"group": plan.group, **write_work(plan)}
        for plan in scenario.work[:count]
    }


def _acts(scenario: Scenario) -> Iterator[tuple[str, Act]]:
    told = [scenario.log]
    told += [step.action.acts for step in scenario.steps if isinstance(step.action, Publish)]
    for by_group in told:
        for group, acts in by_group.items():
            yield from ((group, act) for act in acts)


class _Writer(yaml.SafeDumper):
    """PyYAML's emitter, indenting lists as the hand-written vectors do."""

    def increase_indent(
        self,
        flow: bool = False,  # noqa: FBT001, FBT002 - PyYAML's signature
        indentless: bool = False,  # noqa: FBT001, FBT002 - PyYAML's signature
    ) -> None:
        """Indent, lists in mappings too."""
        del indentless
        super().increase_indent(flow, indentless=False)


def _document(sections: dict[str, Plain]) -> Iterator[yaml.Event]:
    yield yaml.StreamStartEvent()
    yield yaml.DocumentStartEvent(explicit=False)
    yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=False)
    for word, value in sections.items():
        yield _scalar(word)
        if word == "stake" and isinstance(value, str):
            yield _prose(value)
        else:
            yield from _section(word, value)
    yield yaml.MappingEndEvent()
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _section(word: str, value: Plain) -> Iterator[yaml.Event]:
    """Steps, logs and WorkItems take a line each; everything below them stays on its line."""
    if word == "steps" and isinstance(value, list) and value:
        yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False)
        for step in value:
            yield from _lines(step) if isinstance(step, dict) else _inline(step)
        yield yaml.SequenceEndEvent()
    elif word in ("log", "work") and isinstance(value, dict):
        yield from _lines(value)
    else:
        yield from _inline(value)


def _lines(value: dict[str, Plain]) -> Iterator[yaml.Event]:
    yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=False)
    for key, inner in value.items():
        yield _scalar(key)
        yield from _inline(inner)
    yield yaml.MappingEndEvent()


def _inline(value: Plain) -> Iterator[yaml.Event]:
    if isinstance(value, dict):
        yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=True)
        for key, inner in value.items():
            yield _scalar(key)
            yield from _inline(inner)
        yield yaml.MappingEndEvent()
    elif isinstance(value, list):
        yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=True)
        for item in value:
            yield from _inline(item)
        yield yaml.SequenceEndEvent()
    else:
        yield _scalar(value)


def _scalar(value: Plain) -> yaml.ScalarEvent:
    if isinstance(value, bool):
        return _event("true" if value else "false", None)
    if isinstance(value, int):
        return _event(str(value), None)
    if isinstance(value, float):
        return _event(_decimal(value), None)
    if isinstance(value, str):
        return _text(value)
    raise unsayable(value)


def _text(value: str) -> yaml.ScalarEvent:
    if not value.isprintable():
        return _event(value, '"')  # with escapes
    return _event(value, None if reads_as_text(value) else "'")


def _prose(value: str) -> yaml.ScalarEvent:
    if _PROSE.fullmatch(value) and len(value) > _PROSE_LENGTH:
        return _event(value + "\n", ">")
    return _text(value)


def _event(value: str, style: str | None) -> yaml.ScalarEvent:
    """A scalar; without a style, the emitter still quotes what cannot stand plain."""
    return yaml.ScalarEvent(None, None, (True, True), value, style=style)


def _decimal(value: float) -> str:
    """A float without exponent, as short as reads back the same."""
    digits = format(Decimal(repr(value)), "f")
    if len(digits) > MAX_DIGITS:
        raise unsayable(value)
    return digits if "." in digits else f"{digits}.0"
