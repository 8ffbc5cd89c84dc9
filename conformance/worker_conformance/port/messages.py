"""Checks every message that crosses the Port against our schemas, in both directions.

A bad message from the Worker is the Worker's fault (`AdapterError`), one from the suite is ours
(`SuiteError`). Wire frames and protocol documents inside a message are only objects to this module:
what they say is judged by monitors, never here.
"""

import json
from functools import cache
from typing import cast

from attrs import asdict

from worker_conformance import __version__
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.schemas import Problem, SchemaSet
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port.contract import PORT_VERSION, PROTOCOL_VERSION, SUITE_NAME, Answer
from worker_conformance.port.declaration import Declaration
from worker_conformance.resources import schemas_path

SHOWN_PROBLEMS_MAX = 3  # the first ones tell the story; the rest are often their consequences
EXCERPT_CHARACTERS = 160  # two lines of a terminal


def check_stimulus(stimulus: JsonObject) -> None:
    """Raise `SuiteError` where our own stimulus breaks our own schema."""
    _check_ours("stimulus", stimulus, f"the stimulus '{stimulus.get('type')}'")


def initialize_params() -> JsonObject:
    """Return the parameters of `initialize`, in a new object."""
    return {
        "portVersion": PORT_VERSION,
        "protocolVersion": PROTOCOL_VERSION,
        "suite": {"name": SUITE_NAME, "version": __version__},
    }


def refuse_change(before: Declaration | None, now: Declaration) -> None:
    """Raise `AdapterError` where a restarted Worker declares something else than `before`."""
    if before is not None and before != now:
        raise AdapterError(
            "declaration-changed",
            "after a restart the Worker declares something else: "
            + ", ".join(
                f"{name} was {was!r}, is {is_!r}" for name, was, is_ in _changes(before, now)
            ),
            "a declaration holds for a whole run; derive it from nothing that a restart changes",
        )


def _changes(before: Declaration, now: Declaration) -> list[tuple[str, object, object]]:
    old, new = _facts(before), _facts(now)
    return [(name, old[name], new[name]) for name in old if old[name] != new[name]]


def _facts(declaration: Declaration) -> dict[str, object]:
    own, parameters = declaration, declaration.parameters
    facts = {**asdict(own, recurse=False), **asdict(parameters, recurse=False), "parameters": None}
    return {
        name: sorted(fact) if isinstance(fact, frozenset) else fact for name, fact in facts.items()
    }


def read_declaration(result: JsonValue) -> Declaration:
    """Read the Worker's answer to `initialize`; raise `AdapterError` where it is none."""
    given = result.get("portVersion") if isinstance(result, dict) else None
    if given is not None and given != PORT_VERSION:
        raise AdapterError(
            "port-version",
            f"the Worker speaks version {excerpt(given)} of the Worker Port, "
            f"the suite version '{PORT_VERSION}'",
            "declare the Port version that the adapter was written for, or port it to this one",
        )
    return Declaration.from_json(_accept("declaration", result, "the declaration"))


def read_answer(result: JsonValue, stimulus_type: str) -> Answer:
    """Read the Worker's answer to a stimulus; raise `AdapterError` where it is none."""
    document = _accept("handle-result", result, f"the answer to '{stimulus_type}'")
    wake_at = document.get("wakeAt")
    return Answer(
        effects=tuple(cast("list[JsonObject]", document["effects"])),
        busy=document.get("busy") is True,
        wake_at=None if wake_at is None else str(wake_at),
    )


def check_shutdown_result(result: JsonValue) -> None:
    """Raise `AdapterError` unless the answer to `shutdown` is an empty object."""
    _accept("shutdown-result", result, "the answer to 'shutdown'")


def problems(message: str, value: JsonValue) -> tuple[Problem, ...]:
    """Return what the Port's schema `message` finds wrong with `value`."""
    validator = schemas().validator(message)
    return () if validator.is_valid(value) else validator.problems(value)


@cache
def schemas() -> SchemaSet:
    """Return the schemas of all Port messages."""
    return SchemaSet.load(schemas_path() / "port")


def excerpt(value: "JsonValue | bytes") -> str:
    """Return the beginning of `value` for an error message, quoted and escaped."""
    shown = value if isinstance(value, bytes | str) else json.dumps(value)
    text = ascii(shown[:EXCERPT_CHARACTERS]).removeprefix("b")
    return text if len(shown) <= EXCERPT_CHARACTERS else f"{text}… ({len(shown)} in all)"


def shorten(text: str) -> str:
    """Cut `text` to what an error message can show."""
    return text if len(text) <= 2 * EXCERPT_CHARACTERS else text[: 2 * EXCERPT_CHARACTERS] + "…"


def _check_ours(message: str, value: JsonObject, called: str) -> None:
    found = problems(message, value)
    if found:
        raise SuiteError(
            "invalid-message",
            f"{called} breaks schemas/port/{message}.schema.json:\n" + _first(found),
            "the scenario or the code that built it must change; the Worker never saw it",
        )


def _accept(message: str, value: JsonValue, called: str) -> JsonObject:
    found = problems(message, value)
    if found:
        raise AdapterError(
            "not-port-envelope",
            f"{called} breaks schemas/port/{message}.schema.json:\n" + _first(found),
            "members and types that the Port does not name are refused; "
            f"the answer was {excerpt(value)}",
        )
    return cast(JsonObject, value)


def _first(found: tuple[Problem, ...]) -> str:
    rest = len(found) - SHOWN_PROBLEMS_MAX
    more = [f"and {rest} more"] if rest > 0 else []
    return "\n".join([*(shorten(str(one)) for one in found[:SHOWN_PROBLEMS_MAX]), *more])
