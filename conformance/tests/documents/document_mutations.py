"""Makes documents from a JSON Schema, and changes each in one place at a time.

Written against schemas as data: it knows the keywords of Draft 2020-12 that the protocol uses, and
nothing of any document. What it makes is likely to be valid and may not be; what it changes is
likely to be invalid and may not be. Which it is, validators say; it never judges.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from urllib.parse import urljoin

import jsonschema_rs
from attrs import frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue

HASH = "sha256:" + "0123456789abcdef" * 4
TEXTS = (  # every string of a document is one of these or a small change of one
    *("urn:example:thing:1", "urn:uuid:00000000-0000-4000-8000-000000000001", "urn:x:a%20b"),
    *("https://example.org/a?b=c#d", "a:", "x:#", "http://[::1]:80/", "http://[::g]/", "a:[b]"),
    *("a:%zz", "a:b#c#d", "http://u@h@x/", "//a/b", "relative/path", "urn:é", "1a:b", "a:b c"),
    *("http://a:b/", "http://%41/", "a:b%", "a:^", "a:|", "a:<b>", "mailto:x@y", "a://", "x:?"),
    *("wss://example.org/agent", "wss://", "WSS://example.org", "ws://example.org", "wss:"),
    *("2026-07-15T00:00:00Z", "2026-07-15t00:00:00.5z", "2026-07-15T00:00:00.123456789+05:30"),
    *(
        "2016-12-31T23:59:60Z",
        "2016-12-31T22:59:60Z",
        "2016-12-31T23:59:61Z",
        "2026-02-29T00:00:00Z",
    ),
    *("2024-02-29T00:00:00Z", "2026-07-15T24:00:00Z", "2026-07-15 00:00:00Z", "2026-07-15T00:00Z"),
    *(
        "2026-07-15T00:00:00",
        "2026-07-15T00:00:00+24:00",
        "2026-07-15T00:00:00-00:00",
        "2026-07-15",
    ),
    *(
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+23:59",
        "2026-13-01T00:00:00Z",
        "26-07-15T00:00:00Z",
    ),
    *(
        "2026-07-15T00:00:00.Z",
        "2026-07-15T00:00:00+0000",
        "2026-04-31T00:00:00Z",
        "2016-06-30T23:59:60Z",
    ),
    *(HASH, HASH[:-1], HASH + "0", HASH.upper(), "sha256:" + "g" * 64, "sha512:" + "0" * 64),
    *("AA", "c2lnbmF0dXJl", "A", "A=", "A+", "A/", "-_", "AAAA====", "AA AA"),
    *(
        "1.0.0",
        "10.20.30",
        "1.2.3-rc.1",
        "1.2.3+b.4",
        "1.2.3-rc+b",
        "01.0.0",
        "1.0",
        "1.0.0-",
        "1.0.0+",
    ),
    *("1.0.0.0", "v1.0.0", "1.0.0-a_b", "0.0.0--", "1.01.0", "1.0.00"),
    *(
        "P1D",
        "PT1H",
        "P1DT2H3M4.5S",
        "PT0.5S",
        "PT5M",
        "P",
        "PT",
        "P1DT",
        "PT5",
        "P1H",
        "PT1S1M",
        "P1W",
    ),
    *("PT.5S", "-P1D", "P1D1D", "PT1H1S", "PT5.S", "pt5s", "P0D", "PT1M1M"),
    *("P" + "1" * 62 + "D", "P" + "1" * 63 + "D", "ext.a.b." + "c" * 152, "ext.a.b." + "c" * 153),
    *(
        "mission.created",
        "work.start",
        "a.b.c",
        "a",
        "a..b",
        ".a",
        "a.",
        "A.b",
        "a-b.c",
        "a_1.b_2",
        "1.b",
    ),
    *(
        "ext.acme.tool.done",
        "ext.acme.tool",
        "ext.acme",
        "ext.a-b.c_d.0",
        "ext..b.c",
        "ext.A.b.c",
        "exta.b.c.d",
    ),
    *("application/json", "text/plain;charset=utf-8", "a/b/c", "a/", "/b", "a/b+c", "image/*"),
    *(
        "acme.build",
        "acme-build",
        "acme",
        "acme..build",
        "Acme.build",
        "acme.build.",
        "acme_build.x",
        "0.1",
    ),
    *(
        "EUR",
        "EU",
        "EURO",
        "eur",
        "TIMEOUT",
        "T",
        "TIME_OUT_1",
        "1TIME",
        "time_out",
        "work.accept_offer",
    ),
    *(
        "work:accept",
        "Work.accept",
        "9work",
        "w",
        "plan",
        "",
        " ",
        "\t\n",
        "\u00a0\ufeff\u2003",
        "\x85",
        "\x1c",
    ),
    *(
        "a" * 127,
        "a" * 128,
        "a" * 129,
        "criterion-1",
        "-criterion",
        "_x",
        "a b",
        "a/b",
        "session-token-0001",
    ),
    *("éè", "日本語", "\U0001f600", "\x00", "line\nfeed", "a\n", "\n", "0", "true", "null"),
)
NUMBERS: tuple[JsonValue, ...] = (
    *(0, 1, 2, -1, 1.0, 0.0, -0.0, 0.5, 1.5, -0.5, 1e-9, 1.0000000001, 1e300, -1e300),
    *(2**53 - 1, 2**53, float(2**53), 2**53 - 2, 2**63, 10**30, 0.9999999999),
)
OTHER_TYPES: tuple[JsonValue, ...] = (
    None,
    True,
    False,
    0,
    1,
    0.5,
    "",
    "x",
    [],
    {},
    [None],
    {"x": 1},
)
FIRST_VISIT = 1  # a place of a schema gets every option and every type once,
THOROUGH_VISITS = 3  # and a shared definition every text that often;
FEW = 3  # afterwards a few of each suffice
SOMETIMES = (0.0, 0.3, 0.9, 1.0)
HINTED = 0.4  # how often a member takes a value that some condition asks about
SHOWN = 60  # characters of a value in the name of a change
ANYTHING: tuple[JsonValue, ...] = (None, 1, "data", {"nested": [1.5]}, [True])
REPAIRS = 4  # conditions may wake other conditions, but not for ever
BRANCHES = ("then", "else")
CONDITIONAL = ("if", *BRANCHES)


@frozen
class Place:
    """One subschema, and the address at which it can be compiled."""

    schema: JsonObject
    uri: str
    path: str = ""

    def below(self, *names: str | int) -> "Place":
        """Return the subschema under these names."""
        found: JsonValue = self.schema
        path = self.path
        for name in names:
            found = found[name]  # type: ignore[index]  # schemas are well formed
            path += "/" + str(name).replace("~", "~0").replace("/", "~1")
        return Place(found if isinstance(found, dict) else {}, self.uri, path)

    @property
    def address(self) -> str:
        """Return the URI of this subschema."""
        return f"{self.uri}#{self.path}"


class Author:
    """Writes documents for the schemas of one registry; the same seed, the same documents."""

    def __init__(self, schemas: Mapping[str, JsonObject], seed: str) -> None:
        """Take schemas by their `$id`, and the seed of all chance."""
        self._schemas = schemas
        self.begin_again(seed)
        self._registry = jsonschema_rs.Registry(list(schemas.items()))
        self._accepted = cache(self._accepted_texts)
        self._validator = cache(self._compile)

    def begin_again(self, seed: str) -> None:
        """Forget what was made; the same seed makes the same documents."""
        self._chance = random.Random(seed)  # noqa: S311 - to be repeated, not to be secret
        self._visits: dict[tuple[str, int], int] = {}

    def by_chance(self, probability: float) -> bool:
        """Tell whether something shall be done that is done so often."""
        return self._chance.random() < probability

    def root(self, uri: str) -> Place:
        """Return the schema with that `$id`."""
        return Place(self._schemas[uri], uri)

    def roots(self, uri: str) -> list[Place]:
        """Return that schema, or what it is an alternative of if it says nothing else."""
        root = self.root(uri)
        count = len(_list(root.schema.get("oneOf")))
        return [self._target(root.below("oneOf", n)) for n in range(count)] or [root]

    def document(self, place: Place) -> JsonValue:
        """Return a new document for a schema, with some of its optional members."""
        return self._value(self._parts([place]))

    def document_meeting(self, condition: Place, place: Place) -> JsonValue:
        """Return a new document that does what a condition of the schema asks about, if it can."""
        document = self.document(place)
        if isinstance(document, dict):
            for name in sorted(_object(condition.below("if").schema.get("properties"))):
                hints = self._hints([condition], name)
                if hints:
                    document[name] = self._chance.choice(hints)
            parts = self._parts([place])
            self._repair(document, parts, self._members(parts))
        return document

    def mutations(self, box: list[JsonValue], place: Place) -> Iterator[str]:
        """Change the document in `box[0]` in place, yield what was changed, and change it back."""
        yield from self._changes(box, 0, self._parts([place]), "")

    # -- reading schemas ---------------------------------------------------------------------------

    def _parts(self, places: list[Place]) -> list[Place]:
        """Return all subschemas that hold unconditionally where these hold."""
        parts: list[Place] = []
        for place in places:
            parts.append(place)
            if "$ref" in place.schema:
                parts += self._parts([self._target(place)])
            for index, member in enumerate(_items(place.schema.get("allOf"))):
                if "if" not in member:
                    parts += self._parts([place.below("allOf", index)])
        return parts

    def _target(self, place: Place) -> Place:
        uri, _, path = urljoin(place.uri, str(place.schema["$ref"])).partition("#")
        return self.root(uri).below(*path.split("/")[1:]) if path else self.root(uri)

    def _alternatives(self, parts: list[Place], value: JsonValue) -> list[Place]:
        """Return the options of `oneOf` and `anyOf` that `value` has taken."""
        options = [
            part.below(keyword, index)
            for part in parts
            for keyword in ("oneOf", "anyOf")
            for index in range(len(_list(part.schema.get(keyword))))
        ]
        taken = self._parts([option for option in options if self._holds(option, value)])
        return [*taken, *self._alternatives(taken, value)] if taken else []

    def _conditions(self, parts: list[Place]) -> list[Place]:
        found = [part for part in parts if "if" in part.schema]
        for part in parts:
            members = enumerate(_items(part.schema.get("allOf")))
            found += [part.below("allOf", index) for index, member in members if "if" in member]
        return found

    def _compile(self, address: str) -> jsonschema_rs.Validator:
        return jsonschema_rs.Draft202012Validator(
            {"$ref": address}, registry=self._registry, validate_formats=True
        )

    def _holds(self, place: Place, value: JsonValue) -> bool:
        return self._validator(place.address).is_valid(value)

    def _members(self, parts: list[Place]) -> dict[str, list[Place]]:
        members: dict[str, list[Place]] = {}
        for part in parts:
            for name in _names(part.schema.get("properties")):
                members.setdefault(name, []).append(part.below("properties", name))
        return {name: self._parts(places) for name, places in members.items()}

    def _accepted_texts(self, address: str) -> tuple[str, ...]:
        return tuple(text for text in TEXTS if self._validator(address).is_valid(text))

    # -- writing documents -------------------------------------------------------------------------

    def _value(self, parts: list[Place]) -> JsonValue:
        fixed = [part.schema["const"] for part in parts if "const" in part.schema]
        if fixed:
            return fixed[-1]
        for part in reversed(parts):
            if "enum" in part.schema:
                return self._chance.choice(list(part.schema["enum"]))  # type: ignore[arg-type]
            for keyword in ("oneOf", "anyOf"):
                options = _items(part.schema.get(keyword))
                if options and set(options[0]) != {"required"}:
                    index = self._chance.randrange(len(options))
                    return self._value(self._parts([part.below(keyword, index)]))
        kinds = [part.schema["type"] for part in parts if "type" in part.schema]
        return self._of_type(str(kinds[0]) if kinds else "any", parts)

    def _of_type(self, kind: str, parts: list[Place]) -> JsonValue:
        writers: Mapping[str, Callable[[list[Place]], JsonValue]] = {
            "object": self._object,
            "array": self._array,
            "string": self._text,
            "integer": self._number,
            "number": self._number,
            "boolean": lambda _: self._chance.random() < 0.5,
            "any": lambda _: self._chance.choice(ANYTHING),
        }
        return writers[kind](parts)

    def _text(self, parts: list[Place]) -> str:
        bounded = [part for part in parts if part.schema.keys() - {"description", "$comment"}]
        texts = set(self._accepted(bounded[0].address))
        for part in bounded[1:]:
            texts &= set(self._accepted(part.address))
        assert texts, f"no text in the pool suits {bounded[0].address}"
        return self._chance.choice(sorted(texts))

    def _number(self, parts: list[Place]) -> JsonValue:
        suitable = [number for number in NUMBERS if all(self._holds(p, number) for p in parts)]
        return self._chance.choice(suitable)

    def _array(self, parts: list[Place]) -> JsonValue:
        least = max(int(str(part.schema.get("minItems", 0))) for part in parts)
        items = [part.below("items") for part in parts if "items" in part.schema]
        made: list[JsonValue] = []
        for _ in range(least + self._chance.randrange(3)):
            item = self._value(self._parts(items))
            if len(made) < least or item not in made:
                made.append(item)
        return made

    def _object(self, parts: list[Place]) -> JsonValue:
        members = self._members(parts)
        wanted = {str(name) for part in parts for name in _list(part.schema.get("required"))}
        options = [option for part in parts for option in _items(part.schema.get("anyOf"))]
        if options:
            wanted |= set(map(str, _list(self._chance.choice(options).get("required"))))
        often = self._chance.choice(SOMETIMES)
        made: JsonObject = {
            name: self._value(places)
            for name, places in members.items()
            if name in wanted or self._chance.random() < often
        }
        for part in parts:
            self._add_named(part, made)
        conditions = self._conditions(parts)
        for name in made:
            hints = self._hints(conditions, name)
            if hints and self._chance.random() < HINTED:
                made[name] = self._chance.choice(hints)
        self._repair(made, parts, members)
        return made

    def _repair(
        self, made: JsonObject, parts: list[Place], members: dict[str, list[Place]]
    ) -> None:
        for _ in range(REPAIRS):
            for condition in self._conditions(parts):
                self._obey(condition, made, members)

    def _hints(self, conditions: list[Place], name: str) -> list[JsonValue]:
        """Return the values of a member that conditions ask about, so that they come true."""
        places = [
            place.below("if", "properties", name) for place in conditions if _asks(place, name)
        ]
        parts = self._parts(places)
        return [value for part in parts for value in _list(part.schema.get("enum"))] + [
            part.schema["const"] for part in parts if "const" in part.schema
        ]

    def _add_named(self, part: Place, made: JsonObject) -> None:
        if "propertyNames" in part.schema:
            for _ in range(self._chance.randrange(3)):
                name = self._text(self._parts([part.below("propertyNames")]))
                made[name] = self._value(self._parts([part.below("additionalProperties")]))

    def _obey(self, condition: Place, made: JsonObject, members: dict[str, list[Place]]) -> None:
        branch = BRANCHES[not self._holds(condition.below("if"), made)]
        if branch not in condition.schema:
            return
        parts = self._parts([condition.below(branch)])
        for part in parts:
            for name in map(str, _list(part.schema.get("required"))):
                if name in members and name not in made:
                    made[name] = self._value(members[name])
            for name in _forbidden(part.schema):
                made.pop(name, None)
            for name in _names(part.schema.get("properties")):
                narrower = self._parts([part.below("properties", name)])
                if name in made and not self._holds(narrower[0], made[name]):
                    made[name] = self._value([*members.get(name, []), *narrower])

    # -- changing documents ------------------------------------------------------------------------

    def _changes(
        self, holder: list[JsonValue] | JsonObject, key: int | str, parts: list[Place], where: str
    ) -> Iterator[str]:
        value = holder[key]  # type: ignore[index]  # key fits holder
        parts = [*parts, *self._alternatives(parts, value)]
        for mark, replacement in self._replacements(value, parts):
            holder[key] = replacement  # type: ignore[index]  # as above
            yield f"{where} {mark}={_shown(replacement)}"
        holder[key] = value  # type: ignore[index]  # as above
        if isinstance(value, dict):
            yield from self._object_changes(value, parts, where)
        elif isinstance(value, list):
            yield from self._array_changes(value, parts, where)

    def _object_changes(self, value: JsonObject, parts: list[Place], where: str) -> Iterator[str]:
        members = self._members(parts)
        for name in list(value):
            kept = value.pop(name)
            yield f"{where}/-{name}"
            value[name] = kept
        for name, places in members.items():
            if name not in value:
                value[name] = self._value(places)
                yield f"{where}/+{name}"
                del value[name]
        named = [
            self._parts([p.below("additionalProperties")])
            for p in parts
            if "propertyNames" in p.schema
        ]
        for name in ("unknown", "urn:example:new", "not a uri", ""):
            if name not in value:
                value[name] = self._value(named[0]) if named else 1
                yield f"{where}/+{name}"
                del value[name]
        for name in sorted(value):
            places = members.get(name, named[0] if named else [])
            branches = [
                condition.below(branch, "properties", name)
                for condition in self._conditions(parts)
                for branch in CONDITIONAL
                if name in _names(_object(condition.schema.get(branch)).get("properties"))
            ]
            if places:
                yield from self._changes(
                    value, name, [*places, *self._parts(branches)], f"{where}/{name}"
                )

    def _array_changes(
        self, value: list[JsonValue], parts: list[Place], where: str
    ) -> Iterator[str]:
        items = self._parts([part.below("items") for part in parts if "items" in part.schema])
        kept = list(value)
        variants = {
            "none": [],
            "one": kept[:1],
            "twice": [*kept, *kept[:1]],
            "null": [*kept, None],
            "backwards": kept[::-1],
        }
        for name, variant in variants.items():
            value[:] = variant
            yield f"{where} [{name}]"
            value[:] = kept
        for index in range(len(value)):
            if items:
                yield from self._changes(value, index, items, f"{where}/{index}")

    def _replacements(
        self, value: JsonValue, parts: list[Place]
    ) -> Iterator[tuple[str, JsonValue]]:
        named = [option for part in parts for option in _list(part.schema.get("enum"))]
        named += [part.schema["const"] for part in parts if "const" in part.schema]
        yield from (("named", option) for option in named)
        first = self._is_early(parts[0], FIRST_VISIT)
        yield from (
            ("type", other) for other in (OTHER_TYPES if first else self._some(OTHER_TYPES))
        )
        if isinstance(value, str):
            # Most texts have their meaning from a shared definition, which many members refer to.
            thorough = self._is_early(parts[-1], THOROUGH_VISITS)
            yield from (("text", text) for text in (TEXTS if thorough else self._some(TEXTS)))
            near = _near(value)
            yield from (("near", text) for text in (near if first else self._some(near)))
            yield from (("length", text) for text in self._lengths(value, parts) if first)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield from (("number", one) for one in (NUMBERS if first else self._some(NUMBERS)))

    def _some(self, values: Sequence[JsonValue]) -> list[JsonValue]:
        return self._chance.sample(values, min(FEW, len(values)))

    def _is_early(self, place: Place, visits: int) -> bool:
        self._visits[place.address, visits] = self._visits.get((place.address, visits), 0) + 1
        return self._visits[place.address, visits] <= visits

    def _lengths(self, value: str, parts: list[Place]) -> Iterator[JsonValue]:
        limits = {
            part.schema.get(keyword) for part in parts for keyword in ("minLength", "maxLength")
        }
        for limit in sorted(limit for limit in limits if isinstance(limit, int)):
            for length in (limit - 1, limit, limit + 1):
                yield value[:length] + "a" * (length - len(value))
                yield "\U0001f600" * length


def _shown(value: JsonValue) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… of {len(text)}"


def _near(text: str) -> list[str]:
    return [
        *(text + "\n", text + " ", " " + text, text[:-1], text[1:], text.upper(), text.lower()),
        *(text + text, text + "é", text + ".", text + "\x00", text.swapcase(), text[::-1]),
    ]


def _asks(condition: Place, name: str) -> bool:
    return name in _names(_object(condition.schema["if"]).get("properties"))


def _forbidden(schema: JsonObject) -> set[str]:
    negation = _object(schema.get("not"))
    options = [negation, *_items(negation.get("anyOf"))]
    return {str(name) for option in options for name in _list(option.get("required"))}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _items(value: JsonValue) -> list[JsonObject]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _names(value: JsonValue) -> list[str]:
    return list(_object(value))
