"""The vector schema and the loader: what one takes, the other takes."""

import json
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import jsonschema
import jsonschema_rs
import pytest

from worker_conformance.errors import VectorError
from worker_conformance.resources import schemas_path, vectors_path
from worker_conformance.scenario import conditions, reports, settings, steps, values
from worker_conformance.scenario.loader import MEMBERS, REQUIRED, load, load_text, vector_files
from worker_conformance.scenario.model import ActKind, ConditionKind, Level, Mood, Profile
from worker_conformance.scenario.needs import ATTRIBUTES, NEEDS, TRIGGERS
from worker_conformance.scenario.plans import AGENT_MEMBERS, CONTRACT_MEMBERS, GROUP_MEMBERS
from worker_conformance.scenario.yaml_reader import Plain, plain, read_bytes
from worker_conformance.suite.checks import ORDINARY, THOROUGH

DATA = Path(__file__).parent / "data"
SCHEMA = json.loads((schemas_path() / "vector.schema.json").read_text())
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA)
FILES = sorted([*DATA.glob("*/*.yaml"), *vector_files(vectors_path())])

BEYOND_A_SCHEMA = (
    "no Group is called",
    "no WorkItem is called",
    "comes before",
    "is in Group",
    "its Group is unknown",
    "depends on",
    "is created twice",
    "is authorized twice",
    "does not rise",
    "nothing is published",
    "longer than",
    "cut for longer",
)
"""What needs more than one look at a file: these refusals are the loader's alone."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_vector_fits_the_schema_and_loads(path: Path) -> None:
    VALIDATOR.validate(plain(read_bytes(path.read_bytes(), path.name)))
    load(path)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_mutated_vector_is_taken_by_both_or_by_neither() -> None:
    vector = plain(read_bytes((DATA / "replay" / "WORDS-0001.yaml").read_bytes(), "words"))
    refused, only_the_loader = 0, 0
    apart = []
    for what, mutant in mutants(vector):
        cause = refusal_of(mutant)
        valid = VALIDATOR.is_valid(mutant)
        beyond = cause is not None and any(words in cause for words in BEYOND_A_SCHEMA)
        if valid != (cause is None) and not (valid and beyond):
            apart.append(f"{what}: the schema says {valid}, the loader {cause}")
        refused += not valid
        only_the_loader += valid and cause is not None
    assert apart == []
    assert refused > 400
    assert only_the_loader > 5


def refusal_of(mutant: Plain) -> str | None:
    # JSON is YAML, and every string in it is quoted, as the schema's reader takes it.
    try:
        load_text(json.dumps(mutant), "vectors/replay/mutant.yaml")
    except VectorError as error:
        return error.cause
    return None


def mutants(value: Plain, where: str = "") -> Iterator[tuple[str, Plain]]:
    """Each with one thing changed: a word, a member more or less, a value of another kind."""
    if isinstance(value, dict):
        for key, inner in value.items():
            rest = {k: v for k, v in value.items() if k != key}
            yield f"{where}/{key} gone", rest
            yield f"{where}/{key} renamed", {**rest, "zzz zzz": inner}
            for what, mutant in mutants(inner, f"{where}/{key}"):
                yield what, {**value, key: mutant}
        yield f"{where} with a member more", {**value, "zzz zzz": 1}
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            before, after = value[:index], value[index + 1 :]
            for what, mutant in mutants(inner, f"{where}/{index}"):
                yield what, [*before, mutant, *after]
    others: tuple[Plain, ...] = ("zzz zzz", -3, True, [], {})
    for other in others:
        if type(other) is not type(value) or other != value:
            yield f"{where} = {other!r}", other


def words_of(*path: str | int) -> set[str]:
    node = SCHEMA
    for step in path:
        node = node[step]
    return set(node)


VOCABULARY = {
    "members of a vector": (words_of("properties"), MEMBERS),
    "required members": (words_of("required"), REQUIRED),
    "needs": (words_of("$defs", "need", "enum"), NEEDS),
    "levels": (words_of("properties", "level", "enum"), Level),
    "profiles": (words_of("properties", "profile", "enum"), Profile),
    "members of agent": (
        words_of("properties", "agent", "properties"),
        [member.word for member in AGENT_MEMBERS],
    ),
    "members of a Group": (
        words_of("$defs", "group", "properties"),
        [word for m in GROUP_MEMBERS for word in (m.word, m.alias) if word],
    ),
    "members of a WorkItem": (
        words_of("$defs", "work", "properties"),
        ["group", *(member.word for member in CONTRACT_MEMBERS)],
    ),
    "conditions": (words_of("$defs", "conditionSet", "properties"), ConditionKind),
    "error codes": (
        words_of("$defs", "errorCode", "enum"),
        [*settings.ERROR_CODES, settings.SILENCE],
    ),
    "reports": (words_of("$defs", "report", "anyOf", 0, "enum"), reports.REPORT_MEMBERS),
    "bare steps": (words_of("$defs", "step", "anyOf", 0, "enum"), steps.BARE),
    "moods and steps": (
        words_of("$defs", "step", "anyOf", 1, "properties"),
        steps.STEP_WORDS,
    ),
    "acts": (words_of("$defs", "act", "anyOf", 1, "properties"), ActKind),
    "words that are no names": (words_of("$defs", "name", "not", "enum"), values.RESERVED),
}


@pytest.mark.parametrize(("in_schema", "in_loader"), VOCABULARY.values(), ids=VOCABULARY)
def test_schema_and_loader_have_the_same_words(
    in_schema: set[str], in_loader: list[str] | type[StrEnum]
) -> None:
    assert in_schema == {str(word) for word in in_loader}


def test_a_vector_may_need_what_a_worker_may_declare() -> None:
    port = json.loads((schemas_path() / "port" / "declaration.schema.json").read_text())
    members = port["$defs"]["parameters"]["properties"]
    assert set(ATTRIBUTES) == set(members["considers"]["items"]["enum"])
    assert set(TRIGGERS) == set(members["abstains"]["items"]["enum"])
    assert {THOROUGH, ORDINARY} <= set(NEEDS)


def test_every_mood_is_a_step() -> None:
    assert set(Mood) <= set(steps.STEP_WORDS)


def test_order_and_count_name_the_same_deeds_in_both() -> None:
    pattern = SCHEMA["$defs"]["deed"]["pattern"]
    assert pattern.startswith(f"^({'|'.join(conditions.DEEDS)}) ")
