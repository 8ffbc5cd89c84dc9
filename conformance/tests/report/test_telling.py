"""Words and harmless text for all reports."""

import pytest

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.report.telling import (
    MEANINGS,
    WORDS,
    cut_middle,
    figure,
    last_lines,
    visible,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (8.0, "8"),
        (0.25, "0.25"),
        (3.14159, "3.142"),
        (123.456, "123.5"),
        (1234.5, "1,234.5"),
        (0.0012, "0.0012"),
        (99.99999, "100"),
        (-2.5, "-2.5"),
    ],
)
def test_a_figure_is_short_and_plain(value: float, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a\nb"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\\rb"),
        ("\tx", "    x"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202eabc", "\\u202eabc"),
        ("\udc80", "\\udc80"),
        ("Straße · …", "Straße · …"),
    ],
)
def test_harmful_characters_are_shown_and_others_left(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_long_transcript_keeps_its_beginning_and_its_end() -> None:
    lines = [f"line {n}" for n in range(100)]
    cut = cut_middle(lines, 10)
    assert len(cut) == 10
    assert (cut[0], cut[-1]) == ("line 0", "line 99")
    assert cut[2] == "… 91 lines left out; all of them are in the report"


def test_a_long_log_keeps_its_end() -> None:
    text = "".join(f"line {n}\n" for n in range(30))
    assert last_lines(text)[:2] == ["… 10 lines before", "line 10"]
    assert last_lines("\n\n") == []


def test_every_verdict_has_a_word_and_a_meaning() -> None:
    assert set(WORDS) == set(MEANINGS) == set(Verdict)
