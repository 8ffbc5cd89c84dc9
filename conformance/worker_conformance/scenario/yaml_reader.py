"""Strict YAML: text in, values with their places out.

Reads the part of YAML in which a word means what it looks like: mappings, lists, `true` and
`false`, decimal numbers and text. Refuses whatever makes YAML surprising (anchors, tags, duplicate
keys, `yes`, `012`, dates, `null`) and whatever is too large or too deep. Every value keeps its line
and column. Never knows what a vector is (`loader` does) and never builds an object that the text
names.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Protocol, TypeAlias

import yaml
from attrs import field, frozen

from worker_conformance.errors import VectorError

MAX_BYTES = 256 * 1024  # a vector is a screen of text; a saved counterexample may be many
MAX_DEPTH = 16  # the deepest construct of a vector takes nine levels
MAX_NODES = 50_000  # what MAX_BYTES of honest YAML can hold, not what a trick can make of it
MAX_INTEGER = 2**53 - 1  # MWP-FND-007: safe JSON integers
MAX_SURPRISE = 64  # longer text is prose, and the patterns below are not made for it
MAX_DIGITS = 40  # no weight needs more, and long numbers are slow to read

# The compiled parser is fifteen times faster. Where PyYAML was built without it, its own parser
# reads the same values; a test compares them.
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class _Mark(Protocol):
    """A position as either parser reports it, from 0."""

    line: int
    column: int


@frozen
class Place:
    """Where a value stands: a file's name, and line and column from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        """Return `file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"


@frozen
class YamlScalar:
    """Text, a number, or a truth value. Quoted scalars are always text."""

    value: str | int | float | bool
    place: Place = field(eq=False)


@frozen
class YamlList:
    """A list."""

    items: tuple["YamlNode", ...]
    place: Place = field(eq=False)


@frozen
class YamlMapping:
    """A mapping with unique keys in the order written; `keys` says where each key stands."""

    entries: tuple[tuple[str, "YamlNode"], ...]
    place: Place = field(eq=False)
    keys: tuple[Place, ...] = field(eq=False)


YamlNode: TypeAlias = YamlScalar | YamlList | YamlMapping
Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain]"


def read_bytes(data: bytes, where: str) -> YamlNode:
    """Read a whole file's bytes; raise VectorError if they are not strict YAML in UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise refusal(
            Place(where, line, column), "the file is not UTF-8", "save it as UTF-8"
        ) from error
    return read_text(text, where)


def read_text(text: str, where: str) -> YamlNode:
    """Read one YAML document; raise VectorError, which names line and column, if it is not strict.

    `where` names the text in messages, usually a path.
    """
    _check_text(text, where)
    try:
        return _Builder(where).document(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        place = _place(where, error.problem_mark or error.context_mark)
        raise refusal(
            place, f"not YAML: {error.problem or error.context}", _hint_for(error)
        ) from error


def plain(node: YamlNode) -> Plain:
    """Drop the places: dictionaries, lists and scalars, as a JSON Schema validator takes them."""
    if isinstance(node, YamlMapping):
        return {key: plain(value) for key, value in node.entries}
    if isinstance(node, YamlList):
        return [plain(item) for item in node.items]
    return node.value


def reads_as_text(text: str) -> bool:
    """Whether `text`, written without quotes, is read as itself and not as something else."""
    try:
        return _resolve(text, Place("", 1, 1)) == text
    except VectorError:
        return False


def refusal(place: Place, cause: str, hint: str = "") -> VectorError:
    """Make the error to raise for something wrong at `place`."""
    return VectorError(str(place), cause, hint)


@frozen
class _Surprise:
    """A plain scalar that some YAML reader takes for something other than text."""

    pattern: re.Pattern[str]
    cause: str
    hint: str


def _surprise(pattern: str, cause: str, hint: str) -> _Surprise:
    return _Surprise(re.compile(pattern, re.ASCII | re.IGNORECASE), cause, hint)


_QUOTE = "put it in quotes if it is text"
_SURPRISES = (
    _surprise(r"|~|null", "an empty value", "write a value, or leave the member out"),
    _surprise(r"yes|no|on|off|y|n", "'{}' is a truth value to some", f"true or false; {_QUOTE}"),
    _surprise(r"true|false", "'{}' is not how a truth value is written", "write true or false"),
    _surprise(r"[-+]?0[0-9_]+", "'{}' is an octal number to some", "write it without leading zero"),
    _surprise(r"[-+]?0[xob][0-9a-f_]+", "'{}' is not decimal", "write a decimal number"),
    _surprise(
        r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?",
        "'{}' is a number to base 60 to some",
        f"write a duration such as 90s or 10m; {_QUOTE}",
    ),
    _surprise(
        r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*",
        "'{}' is a date to some",
        f"times are durations from the start of the scenario; {_QUOTE}",
    ),
    _surprise(r"[-+]?\.(inf|nan)|nan|inf", "'{}' is not a finite number", _QUOTE),
    _surprise(
        r"[-+]?(\.[0-9_]+|[0-9][0-9_]*\.?[0-9_]*)(e[-+]?[0-9]+)?",
        "'{}' is not a plain decimal number",
        f"write digits, with a point between digits if needed; {_QUOTE}",
    ),
    _surprise(r"=|<<", "'{}' has a special meaning in YAML", _QUOTE),
)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+", re.ASCII)
# Line breaks other than \n would let an editor and this reader disagree about line numbers; a tab
# is where YAML parsers disagree with each other.
_ODD = re.compile(
    "[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


def _check_text(text: str, where: str) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise refusal(Place(where, 1, 1), f"larger than {MAX_BYTES // 1024} KiB", "split it")
    odd = _ODD.search(text) or re.search("\r(?!\n)", text)
    if odd is not None:
        start = text.rfind("\n", 0, odd.start())
        place = Place(where, text.count("\n", 0, odd.start()) + 1, odd.start() - start)
        name = "a tab" if odd[0] == "\t" else f"the character U+{ord(odd[0]):04X}"
        raise refusal(
            place, f"{name} is not allowed", 'indent with spaces; in text, write "\\t" or "\\u…"'
        )


def _place(file: str, mark: _Mark | None) -> Place:
    if mark is None:
        return Place(file, 1, 1)
    return Place(file, mark.line + 1, mark.column + 1)


def _hint_for(error: yaml.MarkedYAMLError) -> str:
    problem = f"{error.context or ''} {error.problem or ''}"
    if "mapping values" in problem:
        return "text that contains ': ' needs quotes"
    if "quoted scalar" in problem:
        return "a quotation mark is not closed"
    if "flow" in problem:
        return "a bracket or brace is not closed, or a comma is missing"
    return "check indentation, quotes and brackets"


class _Builder:
    """Builds nodes from parser events. The parser keeps its own stack; so does this."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes = 0

    def document(self, events: Iterator[yaml.Event]) -> YamlNode:
        next(events)  # the stream's start
        start = next(events)
        if isinstance(start, yaml.StreamEndEvent):
            raise refusal(Place(self._file, 1, 1), "the file is empty")
        if getattr(start, "version", None) or getattr(start, "tags", None):
            raise refusal(self._at(start), "a directive (%) is not allowed", "delete the line")
        node = self._node(next(events), events, depth=1)
        next(events)  # the document's end
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise refusal(
                self._at(after), "a second document begins", "one file holds one document"
            )
        return node

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> YamlNode:
        self._check(event, depth)
        place = self._at(event)
        if isinstance(event, yaml.ScalarEvent):
            quoted = event.style not in (None, "")
            return YamlScalar(event.value if quoted else _resolve(event.value, place), place)
        if isinstance(event, yaml.SequenceStartEvent):
            return YamlList(tuple(self._items(events, depth)), place)
        return self._mapping(place, events, depth)

    def _items(self, events: Iterator[yaml.Event], depth: int) -> Iterator[YamlNode]:
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            yield self._node(event, events, depth + 1)

    def _mapping(self, place: Place, events: Iterator[yaml.Event], depth: int) -> YamlMapping:
        seen: dict[str, Place] = {}
        entries: list[tuple[str, YamlNode]] = []
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._key(event, events, depth + 1)
            if key.value in seen:
                raise refusal(
                    key.place, f"'{key.value}' is given twice", f"first at {seen[key.value]}"
                )
            seen[key.value] = key.place
            entries.append((key.value, self._node(next(events), events, depth + 1)))
        return YamlMapping(tuple(entries), place, tuple(seen.values()))

    def _key(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> "_Key":
        node = self._node(event, events, depth)
        if not isinstance(node, YamlScalar) or not isinstance(node.value, str):
            raise refusal(
                node.place, "a key is not a word", "put it in quotes if it is meant as text"
            )
        return _Key(node.value, node.place)

    def _check(self, event: yaml.Event, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise refusal(self._at(event), f"more than {MAX_NODES} values", "split the file")
        if depth > MAX_DEPTH:
            raise refusal(self._at(event), f"nested deeper than {MAX_DEPTH} levels", "flatten it")
        if isinstance(event, yaml.AliasEvent):
            raise refusal(
                self._at(event), "an alias (*) is not allowed", "write the value out, or quote it"
            )
        if getattr(event, "anchor", None):
            raise refusal(
                self._at(event), "an anchor (&) is not allowed", "delete it, or quote the text"
            )
        if getattr(event, "tag", None):
            raise refusal(
                self._at(event), "a tag (!) is not allowed", "delete it, or quote the text"
            )

    def _at(self, event: yaml.Event) -> Place:
        return _place(self._file, event.start_mark)


@frozen
class _Key:
    value: str
    place: Place


@lru_cache(maxsize=4096)  # vectors use the same words again and again
def _surprise_in(text: str) -> _Surprise | None:
    """What some version of YAML would read instead of this text."""
    if len(text) > MAX_SURPRISE:
        return None
    return next((one for one in _SURPRISES if one.pattern.fullmatch(text)), None)


def _resolve(text: str, place: Place) -> str | int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text):
        return _number(text, place)
    surprise = _surprise_in(text)
    if surprise is not None:
        raise refusal(place, surprise.cause.format(text), surprise.hint)
    return text


def _number(text: str, place: Place) -> int | float:
    if len(text) > MAX_DIGITS:
        raise refusal(place, f"a number of more than {MAX_DIGITS} digits")
    if "." in text:
        return float(text)
    if abs(int(text)) > MAX_INTEGER:
        raise refusal(
            place, f"{text} is beyond what JSON can carry exactly", f"at most {MAX_INTEGER}"
        )
    return int(text)
