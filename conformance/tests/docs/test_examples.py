"""The page on the Worker Port keeps to the schemas: every example, and every row of its tables."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from attrs import frozen

from worker_conformance import organization
from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.documents.schemas import frame_problems, protocol_schemas
from worker_conformance.documents.strict_json import parse
from worker_conformance.organization.doors import DOORS
from worker_conformance.port import messages
from worker_conformance.port.declaration import CORE_PROFILES, PROFILES
from worker_conformance.resources import schemas_path

PAGE = Path(__file__).parents[3] / "docs" / "worker-port.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:<!-- schema: (\S+) -->\n)?```json\n(.*?)```", re.DOTALL)


@frozen
class Example:
    """One JSON block: the schema it names (empty: none), its line, and what stands in it."""

    schema: str
    line: int
    text: str

    @property
    def value(self) -> JsonValue:
        return parse(self.text.encode())

    def __str__(self) -> str:
        return f"{self.schema}, line {self.line}"


def examples() -> Iterator[Example]:
    for found in BLOCK.finditer(TEXT):
        line = TEXT.count("\n", 0, found.start()) + 1
        yield Example(found[1] or "", line, found[2])


EXAMPLES = tuple(examples())


def port_schema(name: str) -> JsonObject:
    path = schemas_path() / "port" / f"{name}.schema.json"
    return cast(JsonObject, json.loads(path.read_text(encoding="utf-8")))


def problems(example: Example) -> tuple[object, ...]:
    """What the named schema finds; wire frames are also held to the protocol's own schema."""
    area, _, name = example.schema.partition("/")
    if area == "frame":
        return frame_problems(example.value)
    if area == "protocol":
        return protocol_schemas().validator(name).problems(example.value)
    return messages.problems(example.schema, example.value)


def values(schema: str) -> list[JsonValue]:
    return [example.value for example in EXAMPLES if example.schema == schema]


def frames(example: Example) -> Iterator[JsonValue]:
    if example.schema == "effect" and find(example.value, "type") == "frame":
        yield find(example.value, "frame")
    if example.schema == "stimulus" and find(example.value, "type") == "frames":
        several = find(example.value, "frames")
        for frame in several if isinstance(several, list) else ():
            if find(frame, "bytes") is None:
                yield frame


def rows(header: str) -> list[list[str]]:
    """The cells of the table whose header line begins so."""
    lines = TEXT.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(header))
    body = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        body.append([cell.strip() for cell in line.strip("|").split("|")])
    return body


def unquoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_json_block_names_a_schema_and_keeps_to_it(example: Example) -> None:
    assert example.schema, f"line {example.line} has no <!-- schema: … --> before it"
    assert problems(example) == ()


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_every_wire_frame_in_an_example_keeps_to_the_protocols_schema(example: Example) -> None:
    for frame in frames(example):
        assert frame_problems(frame) == ()


def test_no_json_block_escapes_the_search() -> None:
    assert len(EXAMPLES) == TEXT.count("```json")


@pytest.mark.parametrize("schema", ["stimulus", "effect"])
def test_every_kind_of_message_has_an_example(schema: str) -> None:
    kinds = find(port_schema(schema), "properties", "type", "enum")
    assert isinstance(kinds, list)
    assert {find(value, "type") for value in values(schema)} == set(kinds)


def test_every_kind_of_report_has_an_example() -> None:
    kinds = find(port_schema("stimulus"), "$defs", "report", "properties", "kind", "enum")
    assert isinstance(kinds, list)
    shown = {find(value, "report", "kind") for value in values("stimulus")} - {None}
    assert shown == set(kinds)


def test_documents_inside_reports_are_complete_but_for_their_signature() -> None:
    for value in values("stimulus"):
        for member, schema in (("artifacts", "artifact"), ("evidence", "evidence")):
            several = find(value, "report", member)
            for document in several if isinstance(several, list) else ():
                found = protocol_schemas().validator(schema).problems(document)
                assert [problem.keyword for problem in found] == ["required"]


def test_memberships_in_the_examples_are_normative_documents() -> None:
    for value in values("stimulus"):
        several = find(value, "groups")
        groups = several if isinstance(several, list) else [find(value, "group")]
        for group in groups:
            if isinstance(group, dict):
                validator = protocol_schemas().validator("membership")
                assert validator.problems(group["membership"]) == ()


def test_the_table_of_parameters_is_the_schemas() -> None:
    declared = find(port_schema("declaration"), "$defs", "parameters", "properties")
    assert isinstance(declared, dict)
    shown = {}
    for name, default, ceiling, _ in rows("| parameter | default |"):
        number = int(ceiling) if ceiling.isdecimal() else None
        shown[unquoted(name)[0]] = (json.loads(unquoted(default)[0]), number)
    assert shown == {
        name: (find(schema, "default"), find(schema, "x-ceiling"))
        for name, schema in declared.items()
    }


@pytest.mark.parametrize("parameter", ["considers", "abstains"])
def test_every_word_of_a_list_parameter_is_told(parameter: str) -> None:
    path = ("$defs", "parameters", "properties", parameter, "items", "enum")
    words = find(port_schema("declaration"), *path)
    assert isinstance(words, list)
    told = next(row for row in rows("| parameter | default |") if row[0] == f"`{parameter}`")
    assert set(words) <= set(unquoted(told[3]))


def test_the_table_of_profiles_is_the_ports() -> None:
    shown = {unquoted(name)[0]: core == "yes" for name, _, core in rows("| profile | the area |")}
    assert shown == {name: name in CORE_PROFILES for name in PROFILES}


def test_the_table_of_commands_names_everything_the_authority_takes() -> None:
    shown = {kind for row in rows("| Command kind | needed |") for kind in unquoted(row[0])}
    assert shown == set(DOORS)


def test_the_table_of_events_names_everything_the_organization_appends() -> None:
    kinds = find(protocol_event_schema(), "$defs", "coreKind", "enum")
    assert isinstance(kinds, list)
    sources = (Path(organization.__file__).parent).glob("*.py")
    literals = {
        node.value
        for source in sources
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    appended = literals & {str(kind) for kind in kinds}
    shown = {kind for row in rows("| Event kind | documents") for kind in unquoted(row[0])}
    assert "work.started" in appended
    assert appended <= shown


def protocol_event_schema() -> JsonObject:
    path = schemas_path() / "protocol" / "event.schema.json"
    return cast(JsonObject, json.loads(path.read_text(encoding="utf-8")))
