"""The schemas of the suite's own documents are schemas, and tell what their members mean."""

import json

import jsonschema
import pytest

from worker_conformance.resources import schemas_path

OWN = sorted(path.name for path in schemas_path().glob("*.schema.json"))


@pytest.mark.parametrize("name", OWN)
def test_a_schema_is_one_and_says_what_it_is_for(name: str) -> None:
    schema = json.loads((schemas_path() / name).read_bytes())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["title"]
    assert schema["$id"].startswith("urn:missionweaveprotocol-worker-conformance:schema:")


def test_every_document_has_a_schema() -> None:
    names = {name.partition(".")[0] for name in OWN}
    assert names >= {"baseline", "claim", "comparison", "report", "vector"}
