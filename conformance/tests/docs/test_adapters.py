"""The guide to adapters: its messages crossed the Port, its hints are the ones `doctor` prints."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from worker_conformance.documents.json_types import JsonValue
from worker_conformance.judge.trace import EntryKind
from worker_conformance.port.declaration import PROFILES
from worker_conformance.port.doctor import Outcome, run_doctor
from worker_conformance.port.locate import PortFactory
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import info_of, scenarios

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
ADAPTERS = ROOT / "conformance" / "tests" / "port" / "adapters"
SEED = 7
BLOCK = re.compile(r"<!-- run: (\S+) -->\n```json\n(.*?)```", re.DOTALL)
RUNS = sorted({check_id for check_id, _ in BLOCK.findall(TEXT)})

MISTAKES = {
    "the answer waits in a buffer of stdout": "buffered",
    "no answer to some requests": "no_answer",
    "an answer without a line feed": "half_a_line",
    "a banner, a log line, `print` for debugging": "banner",
    "a second line for one request": "two_answers",
    "the result without its JSON-RPC envelope": "bare_result",
    "an `id` of one's own": "wrong_id",
    "a member that the Port does not name": "unknown_member",
    "another Port version": "other_port_version",
    "a build number or a time in the declaration": "changes_its_declaration",
    "an exception ends the process": "exits_in_handle",
    "an error code for trouble of the Worker's own": "error_response",
    "every stimulus is answered, known or not": "knows_everything",
    "`start` without a subscription": "knows_everything",
    "`busy` while the Worker only waits": "always_busy",
    "a status other than 0 at the end": "exits_badly_at_shutdown",
    "a thread keeps the process alive": "stays_after_shutdown",
    "child processes live on": "leaves_children",
    "the end of stdin is not noticed": "ignores_end_of_input",
}
"""Each mistake of the table, and the adapter among the tests of the Port that makes it."""

LETS_US_WAIT = {
    *("buffered", "stays_after_shutdown", "no_answer", "half_a_line", "ignores_end_of_input")
}
"""The adapters whose mistake is just that; a second shows it."""


def rows(header: str) -> Iterator[list[str]]:
    table = TEXT.partition(f"{header}\n")[2].partition("\n\n")[0]
    for line in table.splitlines()[1:]:
        yield [cell.strip() for cell in line.strip("|").split(" | ")]


HINTS = [tuple(row) for row in rows("| mistake | point of the examination | hint |")]


@cache
def messages_of(check_id: str) -> list[JsonValue]:
    """What crossed the Port, without the random parts of identifiers."""
    with Bench(PortFactory("reference_worker:factory")) as bench:
        trace = bench.play(scenarios()[check_id], SEED).trace
    said = [entry.body for entry in trace if entry.kind is not EntryKind.NOTE]
    return [json.loads(re.sub(r"-[0-9a-f]{16}(?![0-9a-f])", "", json.dumps(one))) for one in said]


def contains(message: JsonValue, shown: JsonValue) -> bool:
    """Whether `shown` is `message` with members and list entries left out."""
    if isinstance(shown, dict):
        return isinstance(message, dict) and all(
            name in message and contains(message[name], value) for name, value in shown.items()
        )
    if isinstance(shown, list):
        rest = iter(message if isinstance(message, list) else [])
        return all(any(contains(entry, value) for entry in rest) for value in shown)
    return message == shown


@pytest.mark.parametrize("check_id", RUNS)
def test_the_messages_of_the_guide_crossed_the_port_in_this_order(check_id: str) -> None:
    rest = iter(messages_of(check_id))
    for run, block in BLOCK.findall(TEXT):
        if run == check_id:
            shown = json.loads(block)
            assert any(contains(message, shown) for message in rest), block


def test_every_mistake_of_the_table_is_made_by_an_adapter() -> None:
    assert [row[0] for row in HINTS] == list(MISTAKES)


@pytest.mark.parametrize(("mistake", "point", "hint"), HINTS, ids=[row[0] for row in HINTS])
def test_doctor_prints_the_hint_of_the_table(mistake: str, point: str, hint: str) -> None:
    name = MISTAKES[mistake]
    spec = f"stdio:{sys.executable} -S -E {ADAPTERS / name}.py"
    report = run_doctor(spec, 1.0 if name in LETS_US_WAIT else 10.0)
    hints = {
        finding.name: finding.hint
        for finding in report.findings
        if finding.outcome is Outcome.PROBLEM
    }
    assert hint in hints.get(point, ""), hints


def test_every_profile_has_its_row_and_a_first_check_of_its_own() -> None:
    found = {
        row[0].strip("`"): row[3].strip("`")
        for row in rows("| profile | stimuli and frames | effects and Commands | a first check |")
    }
    assert tuple(found) == PROFILES
    assert {info_of(check_id).profile: name for name, check_id in found.items()} == {
        name: name for name in PROFILES
    }
