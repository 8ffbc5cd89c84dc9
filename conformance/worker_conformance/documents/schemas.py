"""JSON Schemas of the protocol's documents, compiled, with problems that a person can read.

One `SchemaSet` is one folder of schemas. Each schema has two validators: the compiled one, which
runs, and the reference implementation, which the tests hold it equal to. Never raises for a
document, however broken: problems are values.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Protocol, Self

import jsonschema_rs
from attrs import field, frozen

from worker_conformance.resources import schemas_path

from . import timestamps
from .errors import SchemaError
from .json_types import JsonObject, JsonValue, find, object_at, pointer, text_at

SUFFIX = ".schema.json"
MESSAGE_CHARACTERS_MAX = 300  # a line or two on a terminal


class DocumentKind(Enum):
    """The kinds of documents; each value is the name of its schema."""

    AGENT_CARD = "agent-card"
    APPROVAL = "approval"
    ARTIFACT = "artifact"
    COMMAND = "command"
    CONTEXT_PACKAGE = "context-package"
    CONVERSATION = "conversation"
    ERROR = "error"
    EVENT = "event"
    EVIDENCE = "evidence"
    EXTENSION_PROFILE = "extension-profile"
    FIRST_ADMISSION_RECORD = "first-admission-record"
    FRAME = "websocket-frame"
    GROUP = "group"
    GROUP_SNAPSHOT = "group-snapshot"
    LEASE = "lease"
    MEMBERSHIP = "membership"
    MESSAGE = "message"
    MISSION = "mission"
    PRESENCE_RECORD = "presence-record"
    WORK_CONTRACT = "work-contract"
    WORK_ITEM = "work-item"


@frozen
class Problem:
    """One thing wrong with a document: where (a JSON Pointer), which keyword, in words."""

    pointer: str
    keyword: str
    message: str

    def __str__(self) -> str:
        """Return the problem in one line."""
        return f"{self.pointer or 'the document'}: {self.message} ({self.keyword})"


class Validator(Protocol):
    """What both implementations offer for one schema."""

    def is_valid(self, document: JsonValue) -> bool:
        """Tell whether the schema accepts `document`."""

    def problems(self, document: JsonValue) -> tuple[Problem, ...]:
        """Return what the schema finds wrong, sorted by place; empty if it is valid."""


FormatCheck = Callable[[str], bool]


@frozen
class CompiledValidator:
    """One schema, compiled."""

    _compiled: jsonschema_rs.Validator

    def is_valid(self, document: JsonValue) -> bool:
        """Tell whether the schema accepts `document`."""
        try:
            return self._compiled.is_valid(document)
        except (UnicodeEncodeError, ValueError):
            return False  # unpaired surrogates and bottomless nesting are no documents at all

    def problems(self, document: JsonValue) -> tuple[Problem, ...]:
        """Return what the schema finds wrong, sorted by place; empty if it is valid."""
        try:
            errors = list(self._compiled.iter_errors(document))
        except (UnicodeEncodeError, ValueError) as error:
            return (Problem("", "data-model", str(error)),)
        return _sorted(map(_problem, errors))


@frozen
class SchemaSet:
    """The schemas of one folder, by name (the file name without `.schema.json`).

    `shared` are other sets that these may refer to. `formats` replaces the check of a format.
    """

    schemas: Mapping[str, JsonObject]
    shared: tuple["SchemaSet", ...] = ()
    formats: Mapping[str, FormatCheck] = field(factory=dict)
    _validators: dict[str, CompiledValidator] = field(factory=dict, eq=False, repr=False)

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        shared: tuple["SchemaSet", ...] = (),
        formats: Mapping[str, FormatCheck] | None = None,
    ) -> Self:
        """Read every `*.schema.json` in `folder`; raise SchemaError for one that is unreadable."""
        paths = sorted(folder.glob("*" + SUFFIX))
        if not paths:
            raise SchemaError("no-schemas", f"no *{SUFFIX} in {folder}", "is the package complete?")
        schemas = {path.name.removesuffix(SUFFIX): _read(path) for path in paths}
        return cls(schemas, shared, formats or {})

    def uri(self, name: str) -> str:
        """Return the `$id` of a schema; `name` may carry a fragment, as in `common#/$defs/id`."""
        stem, mark, fragment = name.partition("#")
        if stem not in self.schemas:
            known = ", ".join(self.schemas)
            raise SchemaError("unknown-schema", f"no schema named {stem!r}", f"there are: {known}")
        return text_at(self.schemas[stem], "$id") + mark + fragment

    def validator(self, name: str) -> CompiledValidator:
        """Return the compiled validator of a schema, or of a part of it."""
        if name not in self._validators:
            self._validators[name] = self._compile(name)
        return self._validators[name]

    def resources(self) -> Iterator[tuple[str, JsonObject]]:
        """Give every schema that a reference may name, with its `$id`."""
        for other in self.shared:
            yield from other.resources()
        for schema in self.schemas.values():
            yield text_at(schema, "$id"), schema

    def _compile(self, name: str) -> CompiledValidator:
        uri = self.uri(name)
        try:
            registry = jsonschema_rs.Registry(list(self.resources()))
            compiled = jsonschema_rs.Draft202012Validator(
                {"$ref": uri},
                registry=registry,
                validate_formats=True,  # MWP-FND-009: formats are assertions
                formats=dict(self.formats),
            )
        except (ValueError, jsonschema_rs.ReferencingError) as error:
            raise SchemaError("broken-schema", f"{name}: {error}", "check its $ref's") from error
        return CompiledValidator(compiled)


@cache
def protocol_schemas() -> SchemaSet:
    """Return the schemas of all protocol documents."""
    return SchemaSet.load(schemas_path() / "protocol")


@cache
def _signed_schemas() -> SchemaSet:
    # Stage 2 holds every declared timestamp of a Signed Document to the narrower profile.
    return SchemaSet.load(schemas_path() / "protocol", formats={"date-time": timestamps.conforms})


def is_valid(kind: DocumentKind, document: JsonValue) -> bool:
    """Tell whether `document` is a valid document of that kind."""
    return protocol_schemas().validator(kind.value).is_valid(document)


def problems(kind: DocumentKind, document: JsonValue) -> tuple[Problem, ...]:
    """Return what is wrong with `document`; empty if it is a valid document of that kind."""
    if kind is DocumentKind.FRAME:
        return frame_problems(document)
    if is_valid(kind, document):
        return ()
    return protocol_schemas().validator(kind.value).problems(document)


def signed_problems(kind: DocumentKind, document: JsonValue) -> tuple[Problem, ...]:
    """Return what stage 2 finds wrong with a Signed Document (MWP-SDV-015, MWP-FND-004)."""
    validator = _signed_schemas().validator(kind.value)
    return () if validator.is_valid(document) else validator.problems(document)


FRAME_TYPES: Mapping[tuple[str, str | None], str] = {
    ("HELLO", "client_init"): "helloClientInit",
    ("HELLO", "server_challenge"): "helloServerChallenge",
    ("HELLO", "client_response"): "helloClientResponse",
    ("HELLO", "server_accept"): "helloServerAccept",
    ("SUBSCRIBE", None): "subscribe",
    ("COMMAND", None): "command",
    ("EVENT", None): "event",
    ("ACK", None): "ack",
    ("PING", None): "ping",
    ("ERROR", None): "error",
}


def frame_problems(frame: JsonValue) -> tuple[Problem, ...]:
    """Return what is wrong with a WebSocket frame, judged as the frame type it says it is."""
    frame_type, phase = find(frame, "frameType"), find(frame, "phase")
    says = (frame_type, phase if frame_type == "HELLO" else None)
    for names, definition in FRAME_TYPES.items():
        if names == says:
            validator = protocol_schemas().validator(f"websocket-frame#/$defs/{definition}")
            return () if validator.is_valid(frame) else validator.problems(frame)
    if not isinstance(frame, dict):
        return (Problem("", "type", "a frame is an object"),)
    if frame_type == "HELLO":
        return (Problem("/phase", "enum", f"{phase!r} is no phase of the handshake"),)
    return (Problem("/frameType", "enum", f"{frame_type!r} is no frame type"),)


def _read(path: Path) -> JsonObject:
    try:
        schema = object_at(json.loads(path.read_text(encoding="utf-8")))
        text_at(schema, "$id")
    except (ValueError, TypeError) as error:
        raise SchemaError(
            "unreadable-schema", f"{path}: {error}", "a schema is an object"
        ) from error
    return schema


def _problem(error: jsonschema_rs.ValidationError) -> Problem:
    where = pointer(tuple(error.instance_path))
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        return Problem(where, "false", "must be absent here")
    message = error.message
    if len(message) > MESSAGE_CHARACTERS_MAX:  # the validator quotes the value, however long
        message = message[:MESSAGE_CHARACTERS_MAX] + "…"
    return Problem(where, _keyword(error.schema_path), message)


def _keyword(schema_path: Iterable[str | int]) -> str:
    names = [step for step in schema_path if isinstance(step, str)]
    return names[-1] if names else "schema"


def _sorted(found: Iterable[Problem]) -> tuple[Problem, ...]:
    by_place = sorted(set(found), key=lambda item: (item.pointer, item.keyword, item.message))
    return tuple(by_place)
