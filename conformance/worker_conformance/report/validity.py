"""Whether a document is what its schema in `schemas/` allows. Never changes one."""

import json
from functools import cache

import jsonschema_rs

from worker_conformance.documents.json_types import JsonValue
from worker_conformance.resources import schemas_path


def first_problem(schema: str, document: JsonValue) -> str:
    """Say where `document` first leaves `schemas/<schema>.schema.json`; empty if it does not."""
    for error in _validator(schema).iter_errors(document):
        pointer = "/".join(["", *map(str, error.instance_path)])
        return f"{pointer or 'the document'}: {error.message}"
    return ""


@cache
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    content = json.loads((schemas_path() / f"{schema}.schema.json").read_bytes())
    return jsonschema_rs.Draft202012Validator(content)
