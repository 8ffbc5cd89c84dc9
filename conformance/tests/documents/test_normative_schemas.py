"""Our schemas accept and refuse what the normative ones do.

The documents are made from the normative schemas and changed one place at a time. That they are
good enough is tested too: for every keyword, name and option of the normative schemas there is a
document that would be judged otherwise without it.
"""

import copy
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, cycle, islice, pairwise
from pathlib import Path

import jsonschema_rs
from attrs import define, field

from worker_conformance.documents.json_types import JsonObject, JsonValue, object_at, text_at
from worker_conformance.documents.reference_schemas import reference_validator
from worker_conformance.documents.schemas import (
    CompiledValidator,
    DocumentKind,
    problems,
    protocol_schemas,
)

from .document_mutations import Author

SEED = "2026-07-15"
DOCUMENTS_FOR_EACH_KIND = 5_000
NEW_FOR_EACH_CHANGED = 10  # chance combines members in new documents, changes vary one
TRIES_OF_A_CHANGE = 2  # each in another document
FURTHER_TRIES = 0.01  # so often beyond that
SAMPLE = 41  # every so many-th document is also judged by the reference implementation
KEPT = {"made": 400, "text": 8, "length": 8, "near": 8, "number": 8}  # of one way to change
KEPT_OTHERWISE = 3
PURSUITS = 150  # documents made for the sake of one keyword
TURNS = 8  # at least so many documents are changed
LISTS = {"required", "enum", "anyOf", "oneOf", "allOf"}
ANNOTATIONS = {"$schema", "$id", "$comment", "title", "description", "$defs"}

# Keywords whose loss no document can show, and the reason; the names are those of the schemas.
CARRIED_BY_OTHERS: dict[str, str] = {
    r".*/if/(.*/)?required/\d": "what a condition asks about is required anyway",
    r".*/then/properties/actor/required/0": "an actor has a type anyway",
    r"(command|event|group|lease)#/type": "no other type meets the conditions",
    r"command#/allOf/7/then/properties/actor/.*": "agents and humans need the Group forbidden here",
    r"command#/allOf/7/then/not/anyOf/[123]": "services have no epochs anyway",
    r"common#/\$defs/id/(not|pattern|type)": "format uri, and each other",
    r"evidence#/properties/subject/properties/id/anyOf/1": "a content hash is a URI in form",
    r"lease#/allOf/3/then/not/anyOf/3": "the member is unknown anyway",
    r"mission#/properties/missionOwner/\$ref": "both branches of the condition say more",
}

OUR_NAMES = {  # of definitions that the normative schemas name otherwise
    "safeInteger": "count",
    "positiveInteger": "ordinal",
    "actor": "principal",
    "agentActor": "agent",
    "humanActor": "human",
    "capabilityRef": "capability",
}

SchemaPath = tuple[str | int, ...]
Keyword = tuple[str, SchemaPath]  # the `$id` of a schema, and the path in it


@define
class Survey:
    """What became of the documents of one kind."""

    kind: DocumentKind
    valid: int = 0
    invalid: int = 0
    referred: int = 0
    disagreements: list[str] = field(factory=list)


@define
class Store:
    """Documents of every sort with their verdicts; a sort is a change and its verdict."""

    judged: list[tuple[JsonValue, bool]] = field(factory=list)
    sorts: Counter[tuple[str, bool]] = field(factory=Counter)


@define
class Examination:
    """All kinds together."""

    author: Author
    surveys: list[Survey] = field(factory=list)
    noticed: set[str] = field(factory=set)
    unnoticed: set[str] = field(factory=set)
    disagreements: list[str] = field(factory=list)


def test_they_agree_on_every_structural_vector(normative: Path) -> None:
    manifest = json.loads((normative / "conformance" / "manifest.json").read_text("utf-8"))
    for entry in manifest:
        kind = DocumentKind(Path(entry["schema"]).name.removesuffix(".schema.json"))
        document = json.loads((normative / entry["instance"]).read_text("utf-8"))
        found = problems(kind, document)
        assert (not found) == entry["valid"], f"{entry['name']}: {found}"
    assert len(manifest) >= 50


def test_they_agree_on_100_000_documents_and_changes_of_them(
    normative: Path, record_property: Callable[[str, object], None]
) -> None:
    surveys = examination(normative).surveys
    for one in surveys:
        assert not one.disagreements, "\n".join(one.disagreements[:3])
        assert min(one.valid, one.invalid) > 200, f"{one.kind.value}: one-sided documents"
    valid, invalid = sum(one.valid for one in surveys), sum(one.invalid for one in surveys)
    referred = sum(one.referred for one in surveys)
    report = f"{valid} valid, {invalid} invalid documents; {referred} also judged by the reference"
    print(report)
    record_property("agreement", report)
    assert valid + invalid >= 100_000
    assert referred >= 2_000


def test_the_documents_would_notice_the_loss_of_any_normative_keyword(
    normative: Path, record_property: Callable[[str, object], None]
) -> None:
    found = examination(normative)
    carried = {name for name in found.unnoticed if is_carried(name)}
    report = f"{len(found.noticed)} keywords noticed, {len(carried)} that others carry"
    print(report)
    record_property("keywords", report)
    assert not found.disagreements, "\n".join(found.disagreements[:5])
    missed = sorted(found.unnoticed - carried)
    assert not missed


@cache
def normative_schemas(folder: Path) -> dict[str, JsonObject]:
    paths = sorted((folder / "schemas").glob("*.schema.json"))
    schemas = [json.loads(path.read_text("utf-8")) for path in paths]
    return {text_at(schema, "$id"): schema for schema in schemas}


@cache
def examination(folder: Path) -> Examination:
    """Judge everything once, kind by kind, so that one kind's documents are held at a time."""
    schemas = normative_schemas(folder)
    found = Examination(Author(schemas, SEED))
    for uri in schemas:
        name = stem_of(uri)
        if name == "common":
            examine_common(schemas, uri, found)
        else:
            survey, store = surveyed(schemas, uri, DocumentKind(name), found.author)
            found.surveys.append(survey)
            examine_keywords(schemas, (uri, ()), store, found)
    return found


def examine_common(schemas: dict[str, JsonObject], uri: str, found: Examination) -> None:
    """Ask each shared definition by itself; the documents that refer to it are judged elsewhere."""
    author = found.author
    for name in object_at(schemas[uri], "$defs"):
        place, store = author.root(uri).below("$defs", name), Store()
        theirs, ours = compiled(schemas, place.address), our_validator(uri, name)
        for _ in range(NEW_FOR_EACH_CHANGED):
            box = [author.document(place)]
            for change in chain(["as made"], author.mutations(box, place)):
                valid = theirs.is_valid(box[0])
                keep(store, box[0], change, valid=valid)
                if ours.is_valid(box[0]) != valid:
                    found.disagreements.append(f"{name}: {box[0]!r} is valid: {valid}")
        examine_keywords(schemas, (uri, ("$defs", name)), store, found)


def examine_keywords(
    schemas: dict[str, JsonObject], place: Keyword, store: Store, found: Examination
) -> None:
    """Find for each keyword below `place` a document that needs it, and judge that by ours too."""
    uri, path = place
    root = f"{uri}#/{'/'.join(map(str, path))}" if path else uri
    theirs, ours = compiled(schemas, root), our_validator(uri, str(path[1]) if path else None)
    for below in keyword_paths(object_at(schemas[uri], *path)):
        keyword = (uri, (*path, *below))
        name = f"{stem_of(uri)}#/{'/'.join(map(str, keyword[1]))}"
        weaker = compiled(without(schemas, keyword), root)
        kept = (document for document, valid in store.judged if weaker.is_valid(document) != valid)
        made = (
            document
            for document in pursuit(found.author, keyword)
            if weaker.is_valid(document) != theirs.is_valid(document)
        )
        witness = list(islice(kept if is_carried(name) else chain(kept, made), 1))
        (found.noticed if witness else found.unnoticed).add(name)
        for document in witness:
            if ours.is_valid(document) != theirs.is_valid(document):
                found.disagreements.append(f"{name}: {json.dumps(document, indent=1)}")


def our_validator(uri: str, name: str | None) -> CompiledValidator:
    part = f"#/$defs/{OUR_NAMES.get(name, name)}" if name else ""
    return protocol_schemas().validator(stem_of(uri) + part)


def stem_of(uri: str) -> str:
    return uri.rsplit("/", 1)[1].removesuffix(".schema.json")


def is_carried(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in CARRIED_BY_OTHERS)


def surveyed(
    schemas: dict[str, JsonObject], uri: str, kind: DocumentKind, author: Author
) -> tuple[Survey, Store]:
    theirs = compiled(schemas, uri)
    ours = protocol_schemas().validator(kind.value)
    reference = reference_validator(protocol_schemas(), kind.value)
    survey, store = Survey(kind), Store()
    for number, (document, change) in enumerate(documents(author, uri)):
        expected, got = theirs.is_valid(document), ours.is_valid(document)
        survey.valid, survey.invalid = survey.valid + expected, survey.invalid + (not expected)
        if expected != got:
            survey.disagreements.append(disagreement(kind, document, change, (expected, got)))
        if number % SAMPLE == 0:
            survey.referred += 1
            if reference.is_valid(document) != got:
                shown = disagreement(kind, document, change, (not got, got))
                survey.disagreements.append("by the reference, " + shown)
        keep(store, document, change, valid=expected)
    return survey, store


def documents(author: Author, uri: str) -> Iterator[tuple[JsonValue, str]]:
    author.begin_again(f"{SEED} {uri}")
    count, tries = 0, Counter[str]()
    roots = author.roots(uri)
    for turn, place in enumerate(cycle(roots), start=1):
        share = DOCUMENTS_FOR_EACH_KIND * turn / max(TURNS, len(roots))
        for _ in range(NEW_FOR_EACH_CHANGED):
            yield author.document(place), "as made"
            count += 1
        box = [author.document(place)]
        for change in author.mutations(box, place):
            sort = re.sub(r"/\d+", "/n", change)
            tries[sort] += 1
            if tries[sort] <= TRIES_OF_A_CHANGE or author.by_chance(FURTHER_TRIES):
                yield box[0], sort
                count += 1
            if count > share:
                break
        if count >= DOCUMENTS_FOR_EACH_KIND:
            return


def disagreement(
    kind: DocumentKind, document: JsonValue, change: str, verdicts: tuple[bool, bool]
) -> str:
    expected, got = ("valid" if verdict else "invalid" for verdict in verdicts)
    shown = json.dumps(document, indent=1)
    return f"{kind.value}: {expected} by rights, {got} by ours, at {change}\n{shown}"


def keep(store: Store, document: JsonValue, change: str, *, valid: bool) -> None:
    way, _, _ = change.partition("=")
    sort = (change if way.endswith("named") else way, valid)
    limit = KEPT.get(way.rpartition(" ")[2], KEPT_OTHERWISE)
    store.sorts[sort] += 1
    if store.sorts[sort] <= limit:
        store.judged.append((json.loads(json.dumps(document)), valid))


def compiled(schemas: dict[str, JsonObject], uri: str) -> jsonschema_rs.Validator:
    registry = jsonschema_rs.Registry(list(schemas.items()))
    return jsonschema_rs.Draft202012Validator(
        {"$ref": uri}, registry=registry, validate_formats=True
    )


def keyword_paths(schema: JsonObject, path: SchemaPath = ()) -> Iterator[SchemaPath]:
    """Give the place of every keyword, and of every single name, value and option in it."""
    for keyword, value in schema.items():
        here = (*path, keyword)
        if keyword in ("properties", "$defs") and isinstance(value, dict):
            for name, part in value.items():
                if isinstance(part, dict):
                    yield from keyword_paths(part, (*here, name))
        elif keyword in LISTS and isinstance(value, list):
            for index, part in enumerate(value):
                yield (*here, index)
                if isinstance(part, dict):
                    yield from keyword_paths(part, (*here, index))
        elif keyword not in ANNOTATIONS:
            yield here
            if isinstance(value, dict) and keyword != "const":
                yield from keyword_paths(value, here)


def without(schemas: dict[str, JsonObject], keyword: Keyword) -> dict[str, JsonObject]:
    uri, path = keyword
    changed = copy.deepcopy(schemas[uri])
    remove(changed, path)
    return {**schemas, uri: changed}


def pursuit(author: Author, keyword: Keyword) -> Iterator[JsonValue]:
    """Make documents for the sake of one keyword, changing only what it speaks of."""
    uri, path = keyword
    author.begin_again(f"{SEED} {keyword}")
    place = author.root(uri)
    if path[0] == "$defs" and (len(author.roots(uri)) > 1 or "/common." in uri):
        place = place.below(*path[:2])
    names = [after for before, after in pairwise(path) if before == "properties"]
    for turn in range(PURSUITS):
        box = [author.document(place)]
        if path[0] == "allOf" and turn % 2:
            box = [author.document_meeting(author.root(uri).below(*path[:2]), place)]
        yield box[0]
        for change in author.mutations(box, place):
            if speaks_of(path, names, change):
                yield box[0]


def speaks_of(path: SchemaPath, names: list[str | int], change: str) -> bool:
    if path[0] == "allOf":  # a condition speaks of which members there are
        return "=" not in change or "named" in change
    return not names or f"/{names[-1]}" in change


def remove(schema: JsonObject, path: SchemaPath) -> None:
    holders: list[JsonValue] = [schema]
    for step in path[:-1]:
        holders.append(holders[-1][step])  # type: ignore[index]  # its own path
    del holders[-1][path[-1]]  # type: ignore[union-attr,arg-type]  # as above
    if holders[-1] == [] and path[-2] in ("allOf", "anyOf", "oneOf"):  # may not be empty
        del holders[-2][path[-2]]  # type: ignore[union-attr,arg-type]  # as above
