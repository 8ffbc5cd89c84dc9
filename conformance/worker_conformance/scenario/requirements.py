"""The requirement catalogue: what the protocol demands of a Worker, as data.

Reads `requirements.yaml` (the duties, and the reason for every clause that holds none) and
`retired-ids.yaml`. Never judges anything and never knows which vectors exist.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path

from attrs import field, frozen

from worker_conformance.scenario.model import Level, Profile
from worker_conformance.scenario.values import (
    TEXT,
    Form,
    Member,
    did_you_mean,
    entries,
    items,
    many,
    matching,
    one_of,
    read_members,
    text,
    unsayable,
)
from worker_conformance.scenario.yaml_reader import Place, Plain, YamlNode, read_bytes, refusal


class Basis(StrEnum):
    """What in the text makes a duty one."""

    KEYWORD = "keyword"
    """A BCP 14 keyword in capitals."""
    TABLE = "table"
    """A row of a transition table."""
    DECLARATIVE = "declarative"
    """An outright statement of how the protocol works."""
    UNNUMBERED = "unnumbered"
    """A paragraph that stands outside any clause."""


class Judged(StrEnum):
    """By what a requirement is judged."""

    VECTOR = "vector"
    MONITOR = "monitor"
    FAIRNESS = "fairness"
    PROPERTY = "property"


class Reason(StrEnum):
    """Why nothing judges a requirement or a clause; the list is closed."""

    ANOTHER_ROLE = "another_role"
    NOT_OBSERVABLE = "not_observable"
    LATER_PROFILE = "later_profile"
    UNDECIDED = "undecided"


@frozen
class Requirement:
    """One duty of a Worker.

    `clauses` are published clause IDs (`MWP-WRK-029`), the one it stands in first; `section` is
    the specification's number. `argument` says why it is a duty where no keyword does, or why
    nothing judges it. Either `judged` names what judges it, or `unjudged` why nothing does.
    """

    id: str
    clauses: tuple[str, ...]
    section: str
    level: Level
    basis: Basis
    profile: Profile
    summary: str
    judged: tuple[Judged, ...] = ()
    unjudged: Reason | None = None
    argument: str = ""
    where: str = field(default="", eq=False)


@frozen
class RetiredId:
    """A vector's ID that may not be used again."""

    id: str
    reason: str
    replaced_by: str | None = None


@frozen
class Catalogue:
    """All requirements by ID, and the clauses that hold none, each with its reason."""

    requirements: Mapping[str, Requirement]
    others: Mapping[str, Reason]


def load_requirements(path: Path) -> Mapping[str, Requirement]:
    """Load the requirements by ID; raise VectorError if the file is not a catalogue."""
    return load_catalogue(path).requirements


def load_catalogue(path: Path) -> Catalogue:
    """Load the whole catalogue; raise VectorError if the file is not one."""
    parts = read_members(_read(path), _CATALOGUE, "the catalogue")
    requirements, others = parts.get("requirements"), parts.get("others", {})
    if not isinstance(requirements, dict) or not isinstance(others, dict):
        cause = "'requirements' is missing"
        raise refusal(Place(path.as_posix(), 1, 1), cause, "write requirements: [ … ]")
    return Catalogue(requirements, others)


def unknown_requirement(name: str, known: Mapping[str, Requirement]) -> tuple[str, str]:
    """Say that `name` is no requirement, and which of those `known` may be meant."""
    of_clause = [one.id for one in known.values() if name.upper() in one.clauses]
    if of_clause:
        return f"{name} is a clause, not a requirement", f"it holds {', '.join(of_clause)}"
    hint = did_you_mean(name, known)
    hint = hint if hint.startswith("did") else "'worker-conformance list --requirements' names all"
    return f"there is no requirement {name}", hint


def load_retired(path: Path) -> tuple[RetiredId, ...]:
    """Load the ledger of retired IDs; raise VectorError if the file is not one."""
    parts = read_members(_read(path), (Member("retired", "retired", _RETIRED),), "the ledger")
    retired = parts.get("retired", ())
    if not isinstance(retired, tuple):
        raise unsayable(retired)
    return retired


def _read(path: Path) -> YamlNode:
    try:
        return read_bytes(path.read_bytes(), path.as_posix())
    except OSError as error:
        cause = f"cannot be read: {error.strerror}"
        raise refusal(Place(path.as_posix(), 1, 1), cause, "check the path") from error


def _enum(kind: type[StrEnum], what: str) -> Form:
    def read(node: YamlNode) -> StrEnum:
        return one_of(kind, text(node), node.place, what)

    return Form(read, _never_written)


def _never_written(value: object) -> Plain:
    raise unsayable(value)


_CLAUSE = matching(r"MWP-[A-Z]{3}-[0-9]{3}", "a clause ID", "such as MWP-WRK-029")
_REQUIREMENT = (
    Member(
        "id", "id", matching(r"[A-Z0-9]{3}-([0-9]{3}|[A-Z]+)\.[a-z]+", "an ID", "such as WRK-029.c")
    ),
    Member("clauses", "clauses", many(_CLAUSE)),
    Member("section", "section", matching(r"[0-9]{1,2}(\.[0-9]+)?", "a section", 'such as "16"')),
    Member("level", "level", _enum(Level, "level")),
    Member("basis", "basis", _enum(Basis, "basis")),
    Member("profile", "profile", _enum(Profile, "profile")),
    Member("judged", "judged", many(_enum(Judged, "judge"))),
    Member("unjudged", "unjudged", _enum(Reason, "reason")),
    Member("summary", "summary", TEXT),
    Member("argument", "argument", TEXT),
)
_NEEDED = ("id", "clauses", "section", "level", "basis", "profile", "summary")


def _read_requirements(node: YamlNode) -> dict[str, Requirement]:
    found: dict[str, Requirement] = {}
    for item in items(node, "requirements"):
        requirement = _requirement(item)
        if requirement.id in found:
            cause = f"{requirement.id} is given twice"
            raise refusal(item.place, cause, f"first at {found[requirement.id].where}")
        found[requirement.id] = requirement
    return found


def _requirement(node: YamlNode) -> Requirement:
    members = read_members(node, _REQUIREMENT, "a requirement")
    missing = [word for word in _NEEDED if not members.get(word)]
    if missing:
        raise refusal(node.place, f"'{missing[0]}' is missing", f"needed: {', '.join(_NEEDED)}")
    if ("judged" in members) == ("unjudged" in members):
        raise refusal(node.place, "either 'judged' or 'unjudged' is needed", "give one of them")
    if members["basis"] is not Basis.KEYWORD and "argument" not in members:
        raise refusal(node.place, "'argument' is missing", "no keyword says it: say why it binds")
    return _build(members, str(node.place))


def _build(members: Mapping[str, object], where: str) -> Requirement:
    texts = {word: value.strip() for word, value in members.items() if type(value) is str}
    kind: Callable[..., Requirement] = Requirement
    return kind(**{**members, **texts, "where": where})


def _read_others(node: YamlNode) -> dict[str, Reason]:
    found: dict[str, Reason] = {}
    for key, place, value in entries(node, "others"):
        reason = one_of(Reason, key, place, "reason")
        for item in items(value, key):
            clause = str(_CLAUSE.read(item))
            if clause in found:
                raise refusal(item.place, f"{clause} is given twice", "one reason for each")
            found[clause] = reason
    return found


def _read_retired(node: YamlNode) -> tuple[RetiredId, ...]:
    return tuple(_retired(item) for item in items(node, "retired"))


def _retired(node: YamlNode) -> RetiredId:
    members = read_members(node, _RETIRED_MEMBERS, "a retired ID")
    if "id" not in members or "reason" not in members:
        raise refusal(node.place, "'id' and 'reason' are needed", "say why it was withdrawn")
    replaced_by = members.get("replaced_by")
    return RetiredId(
        str(members["id"]),
        str(members["reason"]).strip(),
        None if replaced_by is None else str(replaced_by),
    )


_RETIRED_MEMBERS = (
    Member("id", "id", TEXT),
    Member("reason", "reason", TEXT),
    Member("replaced_by", "replaced_by", TEXT),
)
_RETIRED = Form(_read_retired, _never_written)
_CATALOGUE = (
    Member("requirements", "requirements", Form(_read_requirements, _never_written)),
    Member("others", "others", Form(_read_others, _never_written)),
)
