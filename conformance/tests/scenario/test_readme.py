"""The README of the vectors keeps up with the vocabulary."""

import re

import pytest

from worker_conformance.resources import vectors_path
from worker_conformance.scenario.loader import MEMBERS, load_text
from worker_conformance.scenario.model import ActKind, ConditionKind, Mood
from worker_conformance.scenario.plans import CONTRACT_MEMBERS, GROUP_MEMBERS
from worker_conformance.scenario.steps import BARE, STEP_WORDS
from worker_conformance.scenario.values import RESERVED

README = (vectors_path() / "README.md").read_text()
WORDS = sorted(
    {
        *MEMBERS,
        *ActKind,
        *ConditionKind,
        *Mood,
        *BARE,
        *STEP_WORDS,
        *RESERVED,
        *(member.word for member in (*CONTRACT_MEMBERS, *GROUP_MEMBERS)),
    }
)


@pytest.mark.parametrize("word", WORDS)
def test_every_word_is_in_the_readme(word: str) -> None:
    assert re.search(rf"`[^`\n]*\b{word}\b[^`\n]*`", README)


def test_the_example_of_the_readme_loads() -> None:
    example = README.partition("```yaml\n")[2].partition("```")[0]
    assert load_text(example, "vectors/replay/REPLAY-0007.yaml").id == "REPLAY-0007"
