"""Schema sets, their problems in words, and the second implementation."""

import json
from pathlib import Path

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from worker_conformance.documents.errors import SchemaError
from worker_conformance.documents.json_types import JsonObject, JsonValue
from worker_conformance.documents.reference_schemas import (
    is_date_time,
    is_uri,
    reference_validator,
)
from worker_conformance.documents.schemas import (
    DocumentKind,
    Problem,
    SchemaSet,
    frame_problems,
    is_valid,
    problems,
    protocol_schemas,
)
from worker_conformance.resources import schemas_path, vectors_path

from .document_mutations import TEXTS

ACK: JsonObject = {
    "protocolVersion": "0.1",
    "frameId": "urn:frame:1",
    "frameType": "ACK",
    "acknowledgements": [{"groupId": "urn:group:a", "sequence": 0}],
    "sentAt": "2026-07-15T00:00:00Z",
}
FRAMES: list[tuple[str, JsonValue, list[tuple[str, str]]]] = [
    ("a good one", ACK, []),
    ("a number", 1, [("", "type")]),
    ("an unknown type", {**ACK, "frameType": "NACK"}, [("/frameType", "enum")]),
    ("no type", {}, [("/frameType", "enum")]),
    ("an unknown phase", {**ACK, "frameType": "HELLO", "phase": "x"}, [("/phase", "enum")]),
    ("an extra member", {**ACK, "x": 1}, [("", "additionalProperties")]),
    ("nothing acknowledged", {**ACK, "acknowledgements": []}, [("/acknowledgements", "minItems")]),
    (
        "a bad sequence",
        {**ACK, "acknowledgements": [{"groupId": "urn:group:a", "sequence": -1}]},
        [("/acknowledgements/0/sequence", "minimum")],
    ),
]


@pytest.mark.parametrize(("frame", "expected"), [r[1:] for r in FRAMES], ids=[r[0] for r in FRAMES])
def test_a_frame_is_judged_as_the_type_it_claims(
    frame: JsonValue, expected: list[tuple[str, str]]
) -> None:
    found = frame_problems(frame)
    assert [(problem.pointer, problem.keyword) for problem in found] == expected
    assert found == problems(DocumentKind.FRAME, frame)
    assert (not found) == is_valid(DocumentKind.FRAME, frame)


def test_a_problem_is_one_readable_line() -> None:
    shown = str(Problem("/sequence", "minimum", "0 is less than the minimum of 1"))
    assert shown == "/sequence: 0 is less than the minimum of 1 (minimum)"
    assert str(Problem("", "type", "a frame is an object")).startswith("the document: ")


def test_a_forbidden_member_is_said_to_be_forbidden() -> None:
    group: JsonObject = {
        "groupId": "urn:group:a",
        "missionId": "urn:mission:a",
        "state": "active",
        "mainConversationId": "urn:conversation:a",
        "createdAt": "2026-07-15T00:00:00Z",
        "archivedAt": "2026-07-15T00:00:00Z",
    }
    assert problems(DocumentKind.GROUP, group) == (
        Problem("/archivedAt", "false", "must be absent here"),
    )


def test_a_long_value_does_not_make_a_long_message() -> None:
    (problem,) = frame_problems({**ACK, "sentAt": "x" * 100_000})
    assert len(problem.message) < 400


def test_what_is_no_json_at_all_is_invalid_and_never_an_exception() -> None:
    deep: JsonValue = []
    for _ in range(1000):
        deep = [deep]
    for value in ("\ud800", deep):
        document: JsonObject = {**ACK, "sentAt": value}
        assert not is_valid(DocumentKind.FRAME, document)
        assert frame_problems(document)[0].keyword == "data-model"


def test_every_kind_has_a_schema_that_is_one() -> None:
    assert {kind.value for kind in DocumentKind} | {"common"} == set(protocol_schemas().schemas)
    for schema in protocol_schemas().schemas.values():
        Draft202012Validator.check_schema(schema)
        jsonschema_rs.meta.validate(schema)


def test_every_schema_tells_its_reader_what_it_is_for() -> None:
    for name, schema in protocol_schemas().schemas.items():
        assert (
            schema["$id"] == f"urn:missionweaveprotocol-worker-conformance:schema:protocol:{name}"
        )
        assert schema["title"]
        assert schema["description"]


def test_a_part_of_a_schema_has_a_validator_too() -> None:
    identifier = protocol_schemas().validator("common#/$defs/id")
    assert identifier.is_valid("urn:x:1")
    assert [problem.keyword for problem in identifier.problems(1)] == ["type"]


def test_one_set_may_refer_to_another(tmp_path: Path) -> None:
    target = protocol_schemas().uri("common#/$defs/count")
    write(tmp_path / "queue.schema.json", {"$id": "urn:test:queue", "items": {"$ref": target}})
    mine = SchemaSet.load(tmp_path, shared=(protocol_schemas(),))
    for validator in (mine.validator("queue"), reference_validator(mine, "queue")):
        assert validator.is_valid([1])
        assert [problem.pointer for problem in validator.problems([1, -1])] == ["/1"]


def test_broken_sets_are_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no-schemas"):
        SchemaSet.load(tmp_path)
    write(tmp_path / "a.schema.json", {"$id": "urn:test:a", "$ref": "urn:test:missing"})
    with pytest.raises(SchemaError, match="broken-schema"):
        SchemaSet.load(tmp_path).validator("a")
    with pytest.raises(SchemaError, match="there are: a"):
        SchemaSet.load(tmp_path).validator("b")
    (tmp_path / "b.schema.json").write_text("[]", "utf-8")
    with pytest.raises(SchemaError, match="unreadable-schema"):
        SchemaSet.load(tmp_path)


@pytest.mark.parametrize(("name", "check"), [("uri", is_uri), ("date-time", is_date_time)])
def test_the_formats_of_both_implementations_are_the_same(name: str, check: object) -> None:
    assert callable(check)
    compiled = jsonschema_rs.validator_for({"format": name}, validate_formats=True)
    near = [text + end for text in TEXTS for end in ("", "\n", "Z", "%", "#", "é", " ")]
    assert [text for text in near if check(text) != compiled.is_valid(text)] == []


@pytest.mark.parametrize("text", ["a\n", "\n", "é", "\u2028", "\x85", "\x1c", "\ufeff", " ", "x"])
def test_both_implementations_read_blank_and_end_alike(text: str) -> None:
    lease_reason = protocol_schemas().schemas["lease"]["properties"]
    assert isinstance(lease_reason, dict)
    for name in ("lease#/properties/closureReason", "common#/$defs/sha256", "common#/$defs/token"):
        expected = protocol_schemas().validator(name).is_valid(text)
        assert reference_validator(protocol_schemas(), name).is_valid(text) is expected


def test_data_folders_are_found_in_a_checkout() -> None:
    assert (schemas_path() / "protocol" / "event.schema.json").is_file()
    assert vectors_path().name == "vectors"


def write(path: Path, schema: JsonObject) -> None:
    path.write_text(json.dumps(schema), "utf-8")
