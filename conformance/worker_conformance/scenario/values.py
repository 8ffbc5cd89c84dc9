"""The smallest words of a vector: names, texts, numbers, durations, sequences, and lists of them.

Each form reads a YAML value into what the model holds and writes it back. Knows nothing of steps
or plans; `members` reads and writes any mapping whose members a table gives.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from attrs import frozen

from worker_conformance.errors import SuiteError
from worker_conformance.scenario.yaml_reader import (
    Place,
    Plain,
    YamlList,
    YamlMapping,
    YamlNode,
    YamlScalar,
    refusal,
)

MAX_SECONDS = 36_500 * 86_400  # a hundred years: virtual time stays a four-digit year
MAX_SEQUENCES = 100_000  # in one range: a Group Snapshot names no more Events
NONE = "none"
EVERYTHING = (-1,)  # what `all` stands for

_Word = TypeVar("_Word", bound=StrEnum)

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DURATION = re.compile(r"(0|[1-9][0-9]{0,10})([smhd])", re.ASCII)
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}", re.ASCII)
RESERVED = frozenset({"all", "how", "horizon", "lease", "retryable", "snapshot", "work"})
"""Words that stand beside a name in some step, and so cannot be one."""


@frozen
class Form:
    """How one kind of value is written: `read` raises VectorError, `write` is its inverse."""

    read: Callable[[YamlNode], object]
    write: Callable[[object], Plain]


@frozen
class Member:
    """One member of a mapping: its word in YAML, its name in the model, and its form.

    `alias` is a second word that is read, never written.
    """

    word: str
    attribute: str
    form: Form
    alias: str | None = None


def unsayable(value: object) -> SuiteError:
    """Make the error to raise where a scenario holds something that no vector can say."""
    return SuiteError(
        "unwritable",
        f"a scenario holds {value!r}, for which a vector has no word",
        "scenarios are built from what the loader reads",
    )


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Hint at the known word nearest to `word`, or at all of them."""
    words = sorted(known)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known: {', '.join(words)}" if words else ""


def one_of(kind: type[_Word], word: str, place: Place, what: str) -> _Word:
    """The member of `kind` that is written `word`."""
    for member in kind:
        if member.value == word:
            return member
    raise refusal(place, f"unknown {what} '{word}'", did_you_mean(word, kind))


def entries(node: YamlNode, what: str) -> tuple[tuple[str, Place, YamlNode], ...]:
    """The entries of a mapping with the place of each key, in the order written."""
    if not isinstance(node, YamlMapping):
        raise refusal(
            node.place, f"{what} is not a mapping", "write 'word: value', or {word: value}"
        )
    return tuple(
        (key, place, value) for (key, value), place in zip(node.entries, node.keys, strict=True)
    )


def items(node: YamlNode, what: str) -> tuple[YamlNode, ...]:
    """The items of a list."""
    if not isinstance(node, YamlList):
        raise refusal(node.place, f"{what} is not a list", "write [first, second]")
    return node.items


def one_or_many(node: YamlNode) -> tuple[YamlNode, ...]:
    """A list's items, or the one value that stands without brackets; never none."""
    if not isinstance(node, YamlList):
        return (node,)
    if not node.items:
        raise refusal(node.place, "the list is empty", "name at least one, or leave the member out")
    return node.items


def only(node: YamlNode, what: str) -> tuple[str, Place, YamlNode]:
    """The single entry of a one-key mapping."""
    found = entries(node, what)
    if len(found) != 1:
        words = ", ".join(key for key, _, _ in found) or "none"
        raise refusal(
            node.place, f"{what} has {len(found)} words ({words}), not one", "one word for each"
        )
    return found[0]


def read_members(node: YamlNode, table: Sequence[Member], what: str) -> dict[str, object]:
    """Read a mapping by its table; a key that the table does not know is an error with a hint."""
    by_word = {word: member for member in table for word in _words(member)}
    values: dict[str, object] = {}
    for key, place, value in entries(node, what):
        member = by_word.get(key)
        if member is None:
            raise refusal(place, f"unknown member '{key}' of {what}", did_you_mean(key, by_word))
        if member.attribute in values:
            raise refusal(
                place, f"'{member.word}' is given twice", f"'{key}' is another word for it"
            )
        values[member.attribute] = member.form.read(value)
    return values


def write_members(values: Mapping[str, object], table: Sequence[Member]) -> dict[str, Plain]:
    """Write what `read_members` reads, in the order of the table."""
    unknown = values.keys() - {member.attribute for member in table}
    if unknown:
        raise unsayable(sorted(unknown))
    return {
        member.word: member.form.write(values[member.attribute])
        for member in table
        if member.attribute in values
    }


def _words(member: Member) -> tuple[str, ...]:
    return (member.word,) if member.alias is None else (member.word, member.alias)


def text(node: YamlNode) -> str:
    """Text, quoted or not."""
    if not isinstance(node, YamlScalar) or not isinstance(node.value, str):
        raise refusal(node.place, f"{_shown(node)} is not text", "put it in quotes")
    if not node.value.strip():
        raise refusal(node.place, "the text is empty", "write it, or leave the member out")
    return node.value


def name(node: YamlNode) -> str:
    """A local name of a Group or a WorkItem."""
    return checked_name(text(node), node.place)


def checked_name(word: str, place: Place) -> str:
    """The same for a name that stands as a key."""
    if not _NAME.fullmatch(word):
        raise refusal(
            place, f"'{word}' is not a name", "a letter, then letters, digits, '-' or '_'"
        )
    if word in RESERVED:
        raise refusal(place, f"'{word}' is a word of the steps, not a name", "choose another name")
    return word


def integer(node: YamlNode, least: int = 0) -> int:
    """A whole number of at least `least`."""
    if not isinstance(node, YamlScalar) or type(node.value) is not int:
        raise refusal(node.place, f"{_shown(node)} is not a whole number", "write digits only")
    if node.value < least:
        raise refusal(node.place, f"{node.value} is less than {least}", f"at least {least}")
    return node.value


def positive(node: YamlNode) -> int:
    """A whole number of at least one."""
    return integer(node, least=1)


def weight(node: YamlNode) -> int | float:
    """A number above zero."""
    if not isinstance(node, YamlScalar) or type(node.value) not in (int, float):
        raise refusal(
            node.place, f"{_shown(node)} is not a number", "write digits, such as 3 or 1.5"
        )
    value = float(node.value)
    if not 0 < value < float("inf"):
        raise refusal(node.place, f"{node.value} is not a weight", "a weight is a number above 0")
    return node.value if isinstance(node.value, int) else value


def truth(node: YamlNode) -> bool:
    """`true` or `false`."""
    if not isinstance(node, YamlScalar) or not isinstance(node.value, bool):
        raise refusal(node.place, f"{_shown(node)} is not a truth value", "write true or false")
    return node.value


def is_true(node: YamlNode) -> bool:
    """`true`; the contrary of a condition is said by `never`."""
    if not truth(node):
        raise refusal(
            node.place, "false says nothing here", "use never: {…: true}, or leave it out"
        )
    return True


def duration(node: YamlNode) -> int:
    """A length of time in whole seconds: `90s`, `10m`, `2h`, `3d`, or a number of seconds."""
    value = node.value if isinstance(node, YamlScalar) else None
    seconds = value if type(value) is int else None
    if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
        seconds = int(match[1]) * _UNITS[match[2]]
    if seconds is None or seconds < 0:
        raise refusal(node.place, f"{_shown(node)} is not a duration", "write 90s, 10m, 2h or 3d")
    if seconds > MAX_SECONDS:
        raise refusal(
            node.place, f"{_shown(node)} is longer than a hundred years", "at most 36500d"
        )
    return seconds


def write_duration(value: object) -> str:
    """Seconds in the largest unit that divides them."""
    if type(value) is not int:
        raise unsayable(value)
    return next(f"{value // size}{unit}" for unit, size in _UNITS.items() if value % size == 0)


def sequences(node: YamlNode) -> tuple[int, ...]:
    """Sequence numbers: `4`, `1-3`, a list of both, or `all` for what is not yet delivered."""
    return tuple(number for item in one_or_many(node) for number in _sequence(item))


def write_sequences(numbers: Sequence[int]) -> Plain:
    """Runs become a range."""
    written: list[Plain] = []
    rest = list(numbers)
    while rest:
        length = next((i for i, n in enumerate(rest) if n != rest[0] + i), len(rest))
        length = 1 if rest[0] < 1 else length
        run, rest = (rest[:length], rest[length:]) if length > 1 else (rest[:1], rest[1:])
        single = "all" if run[0] == EVERYTHING[0] else run[0]
        written.append(f"{run[0]}-{run[-1]}" if len(run) > 1 else single)
    return written[0] if len(written) == 1 else written


def _sequence(node: YamlNode) -> tuple[int, ...]:
    if isinstance(node, YamlScalar) and isinstance(node.value, str):
        if node.value == "all":
            return EVERYTHING
        if match := _RANGE.fullmatch(node.value):
            return _range(int(match[1]), int(match[2]), node.place)
        raise refusal(
            node.place, f"{_shown(node)} is not a sequence", "write 4, 1-3, [5, 4] or all"
        )
    return (positive(node),)


def _range(first: int, last: int, place: Place) -> tuple[int, ...]:
    if last <= first:
        raise refusal(
            place, f"{first}-{last} does not rise", f"for an order, write [{first}, {last}]"
        )
    if last - first >= MAX_SEQUENCES:
        raise refusal(
            place, f"{first}-{last} is longer than {MAX_SEQUENCES}", "name fewer sequences"
        )
    return tuple(range(first, last + 1))


def choice(*words: str) -> Form:
    """One of a few words."""

    def read(node: YamlNode) -> str:
        word = text(node)
        if word not in words:
            raise refusal(node.place, f"unknown word '{word}'", did_you_mean(word, words))
        return word

    return Form(read, write_text)


def matching(pattern: str, what: str, hint: str) -> Form:
    """Text of a given shape."""
    shape = re.compile(pattern, re.ASCII)

    def read(node: YamlNode) -> str:
        word = text(node)
        if not shape.fullmatch(word):
            raise refusal(node.place, f"'{word}' is not {what}", hint)
        return word

    return Form(read, write_text)


def many(form: Form) -> Form:
    """One value or a list of them; the model holds a tuple, which may be empty."""

    def read(node: YamlNode) -> tuple[object, ...]:
        if isinstance(node, YamlList):
            return tuple(form.read(item) for item in node.items)
        return (form.read(node),)

    def write(value: object) -> Plain:
        if not isinstance(value, tuple):
            raise unsayable(value)
        return [form.write(item) for item in value]

    return Form(read, write)


def or_none(form: Form) -> Form:
    """The same, or the word `none`, which takes away what was set before."""

    def read(node: YamlNode) -> object:
        if isinstance(node, YamlScalar) and node.value == NONE:
            return None
        return form.read(node)

    def write(value: object) -> Plain:
        return NONE if value is None else form.write(value)

    return Form(read, write)


def write_text(value: object) -> str:
    """Text as it is; the emitter quotes it where needed."""
    if not isinstance(value, str):
        raise unsayable(value)
    return value


def write_number(value: object) -> int | float | bool:
    """A number or a truth value as it is."""
    if not isinstance(value, int | float):
        raise unsayable(value)
    return value


def _shown(node: YamlNode) -> str:
    if isinstance(node, YamlScalar):
        return f"'{str(node.value).lower() if isinstance(node.value, bool) else node.value}'"
    return "a list" if isinstance(node, YamlList) else "a mapping"


TEXT = Form(text, write_text)
NAME = Form(name, write_text)
WHOLE = Form(integer, write_number)
POSITIVE = Form(positive, write_number)
WEIGHT = Form(weight, write_number)
TRUTH = Form(truth, write_number)
DURATION = Form(duration, write_duration)
ERROR_CODE = matching("[A-Z][A-Z0-9_]{1,127}", "a code", "capitals, digits and '_'")
