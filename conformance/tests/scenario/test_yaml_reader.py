"""Strict YAML: what is read, what is refused, and where the refusal points."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from worker_conformance.errors import VectorError
from worker_conformance.scenario import yaml_reader
from worker_conformance.scenario.yaml_reader import (
    MAX_BYTES,
    MAX_DEPTH,
    YamlMapping,
    plain,
    read_bytes,
    read_text,
)

READ = {
    "text": ("a: hello world", "hello world"),
    "a whole number": ("a: 12", 12),
    "a negative number": ("a: -5", -5),
    "a decimal": ("a: 1.5", 1.5),
    "true": ("a: true", True),
    "a quoted number is text": ("a: '012'", "012"),
    "a quoted truth value is text": ('a: "true"', "true"),
    "a range is text": ("a: 1-3", "1-3"),
    "a duration is text": ("a: 10m", "10m"),
    "a version is text": ("a: 2.1.0", "2.1.0"),
    "a Command kind is text": ("a: work.start", "work.start"),
    "folded text": ("a: >\n  one\n  two\n", "one two\n"),
    "a flow of both": ("a: {b: [1, {c: d}]}", {"b": [1, {"c": "d"}]}),
    "a comment is no value": ("a: 1  # one\n", 1),
}


@pytest.mark.parametrize(("text", "value"), READ.values(), ids=READ)
def test_a_value_means_what_it_looks_like(text: str, value: object) -> None:
    assert plain(read_text(text, "v.yaml")) == {"a": value}


REFUSED = {
    "octal": ("a: 012", "1:4", "octal"),
    "octal of today": ("a: 0o12", "1:4", "not decimal"),
    "hexadecimal": ("a: 0x1f", "1:4", "not decimal"),
    "underscores": ("a: 1_000", "1:4", "not a plain decimal"),
    "an exponent": ("a: 1e3", "1:4", "not a plain decimal"),
    "a bare point": ("a: .5", "1:4", "not a plain decimal"),
    "a plus sign": ("a: +5", "1:4", "not a plain decimal"),
    "infinity": ("a: .inf", "1:4", "finite"),
    "base 60": ("a: 1:30", "1:4", "base 60"),
    "a date": ("a: 2026-07-15", "1:4", "date"),
    "a time": ("a: 2026-07-15T00:00:00Z", "1:4", "date"),
    "yes": ("a: yes", "1:4", "truth value"),
    "Off": ("a: Off", "1:4", "truth value"),
    "True": ("a: True", "1:4", "truth value"),
    "null": ("a: null", "1:4", "empty value"),
    "a tilde": ("a: ~", "1:4", "empty value"),
    "nothing": ("b: 1\na:", "2:3", "empty value"),
    "an anchor": ("a: &x 1", "1:4", "anchor"),
    "an alias": ("a: *x", "1:4", "alias"),
    "a tag": ("a: !!int 1", "1:4", "tag"),
    "a Python tag": ("a: !!python/object:os.system {}", "1:4", "tag"),
    "a merge": ("<<: {a: 1}", "1:1", "special meaning"),
    "a duplicate key": ("a: 1\nb: 2\na: 3", "3:1", "'a' is given twice"),
    "a key that is a number": ("1: 2", "1:1", "not a word"),
    "a key that is a list": ("? [1]\n: 2", "1:3", "not a word"),
    "a second document": ("a: 1\n---\nb: 2", "2:1", "second document"),
    "a directive": ("%YAML 1.1\n---\na: 1", "1:1", "directive"),
    "an empty file": ("", "1:1", "empty"),
    "comments only": ("# nothing\n", "1:1", "empty"),
    "a tab": ("a:\n\tb: 1", "2:1", "a tab"),
    "a control character": ("a: \x07", "1:4", "U+0007"),
    "an odd line break": ("a: b\u2028c", "1:5", "U+2028"),
    "a lone carriage return": ("a: b\rc: d", "1:5", "U+000D"),
    "a byte-order mark": ("\ufeffa: 1", "1:1", "U+FEFF"),
    "a colon in text": ("a: b: c", "1:5", "mapping values"),
    "an open quote": ("a: 'x", "1:6", "end of stream"),
    "an open bracket": ("a: [1", "2:1", "expected ',' or ']'"),
    "too large a number": ("a: 9007199254740992", "1:4", "beyond"),
    "too long a number": ("a: " + "1" * 60, "1:4", "digits"),
    "too deep": ("[" * (MAX_DEPTH + 1), f"1:{MAX_DEPTH + 1}", "deeper"),
    "too large": ("# " + "x" * MAX_BYTES, "1:1", "larger"),
}


@pytest.mark.parametrize(("text", "place", "cause"), REFUSED.values(), ids=REFUSED)
def test_a_surprise_is_refused_at_its_place(text: str, place: str, cause: str) -> None:
    with pytest.raises(VectorError) as caught:
        read_text(text, "v.yaml")
    assert caught.value.where == f"v.yaml:{place}"
    assert cause in caught.value.cause


def test_bytes_that_are_not_utf_8_are_refused_at_their_place() -> None:
    with pytest.raises(VectorError) as caught:
        read_bytes(b"a: 1\nb: caf\xe9\n", "v.yaml")
    assert caught.value.where == "v.yaml:2:7"


def test_every_value_and_key_knows_its_line_and_column() -> None:
    node = read_text("a: 1\nb: {c: [2]}\n", "v.yaml")
    assert isinstance(node, YamlMapping)
    inner = node.entries[1][1]
    assert [str(place) for place in node.keys] == ["v.yaml:1:1", "v.yaml:2:1"]
    assert str(inner.place) == "v.yaml:2:4"


def test_a_thousand_aliases_never_expand() -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n"
    with pytest.raises(VectorError, match="anchor"):
        read_text(bomb, "v.yaml")


# Without `#` and `?`: PyYAML's own parser takes `>#` for the start of folded text, and libyaml
# takes `[a?,]` for a list, neither of which a vector has a use for.
@given(st.text(alphabet=st.sampled_from("ab1: -[]{},'\"\n>|!&*%@`.~"), max_size=40))
def test_any_text_is_read_or_refused_and_both_parsers_agree(text: str) -> None:
    assert _outcome(text, yaml.SafeLoader) == _outcome(text, yaml_reader._LOADER)  # noqa: SLF001 - the choice of parser is what is tested


def _outcome(text: str, loader: type[yaml.SafeLoader]) -> object:
    chosen = yaml_reader._LOADER  # noqa: SLF001 - see above
    yaml_reader._LOADER = loader  # noqa: SLF001 - see above
    try:
        return plain(read_text(text, "v.yaml"))
    except VectorError:
        return "refused"
    finally:
        yaml_reader._LOADER = chosen  # noqa: SLF001 - see above
