"""Declarations: defaults, ceilings, and what counts as the same declaration."""

import json

import pytest
from attrs import fields

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import AdapterError
from worker_conformance.port.declaration import (
    CEILINGS,
    CORE_PROFILES,
    PROFILES,
    RESERVED_SLOTS_MAX,
    SLOT_CEILINGS,
    Declaration,
    Parameters,
    wire_name,
)
from worker_conformance.port.messages import read_declaration
from worker_conformance.resources import schemas_path

SCHEMA = json.loads((schemas_path() / "port" / "declaration.schema.json").read_text("utf-8"))
IN_SCHEMA = SCHEMA["$defs"]["parameters"]["properties"]


def declared(**members: object) -> JsonObject:
    head = {"portVersion": "1", "name": "W", "version": "1", "language": "C", "profiles": []}
    return {**head, **members}  # type: ignore[dict-item]


def test_the_schema_and_the_type_name_the_same_parameters() -> None:
    assert [wire_name(field.name) for field in fields(Parameters)] == list(IN_SCHEMA)


@pytest.mark.parametrize("field", fields(Parameters), ids=lambda field: field.name)
def test_the_schema_and_the_type_agree_on_every_default(field: object) -> None:
    written = IN_SCHEMA[wire_name(field.name)]["default"]  # type: ignore[attr-defined]
    read = read_declaration(declared(parameters={wire_name(field.name): written}))  # type: ignore[attr-defined]
    assert read.parameters == Parameters()


def test_the_schema_and_the_table_agree_on_every_ceiling() -> None:
    written = {name: body["x-ceiling"] for name, body in IN_SCHEMA.items() if "x-ceiling" in body}
    assert written == {wire_name(name): ceiling for name, ceiling in CEILINGS.items()}


def test_the_schema_knows_every_profile() -> None:
    assert tuple(SCHEMA["properties"]["profiles"]["items"]["enum"]) == PROFILES


def test_a_figure_above_its_ceiling_is_lawful_held_to_it_and_told() -> None:
    parameters = read_declaration(declared(parameters={"lagQuanta": 50})).parameters
    effective, notes = parameters.effective()
    assert parameters.lag_quanta == 50
    assert effective.lag_quanta == 8
    assert notes == ("lagQuanta: declared 50, held to the ceiling 8",)


def test_ceilings_that_depend_on_the_slots_are_applied_for_a_number_of_slots() -> None:
    parameters = Parameters(reorder_latency=9, reserved_slots=9)
    effective, notes = parameters.effective_for(4)
    assert (effective.reorder_latency, effective.reserved_slots) == (4, RESERVED_SLOTS_MAX)
    assert len(notes) == len(SLOT_CEILINGS)
    assert parameters.effective() == (parameters, ())
    assert parameters.effective_for(1)[0].reserved_slots == 0


def test_declarations_are_equal_by_meaning() -> None:
    one = read_declaration(declared(profiles=["replay", "leases"], parameters={"lagQuanta": 2.0}))
    two = read_declaration(declared(profiles=["leases", "replay"]))
    assert one == two


def test_a_payload_path_is_added_to_the_default_ones() -> None:
    parameters = read_declaration(declared(parameters={"payloadPaths": {"x": "/a/b"}})).parameters
    assert parameters.payload_path("x") == "/a/b"
    assert parameters.payload_path("ownershipEpoch") == "/ownershipEpoch"
    assert parameters.payload_path("y") is None


def test_the_core_is_claimed_only_as_a_whole() -> None:
    core = [profile for profile in PROFILES if profile in CORE_PROFILES]
    assert read_declaration(declared(profiles=core)).claims_core
    assert not read_declaration(declared(profiles=core[1:])).claims_core


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(declared(mood="fine"), id="an unknown member"),
        pytest.param(declared(parameters={"lagquanta": 2}), id="an unknown parameter"),
        pytest.param(declared(profiles=["replay", "replay"]), id="a profile twice"),
        pytest.param({"name": "W"}, id="most of it missing"),
        pytest.param([], id="no object"),
    ],
)
def test_a_declaration_out_of_form_is_the_adapters_fault(document: JsonObject) -> None:
    with pytest.raises(AdapterError) as caught:
        read_declaration(document)
    assert caught.value.code == "not-port-envelope"
    assert caught.value.hint


def test_a_declaration_is_plain_data() -> None:
    assert hash(Declaration("W", "1", "C")) == hash(Declaration("W", "1", "C"))
