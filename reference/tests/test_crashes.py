"""Sections 5 and 11.1: whatever is lost with a crash, the end is the same."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reference_worker import journal
from reference_worker.documents import sha256
from reference_worker.journal import Journal, JournalError

Make = Callable[..., Any]
EVERY_CRASH = "WORKER_EVERY_CRASH" in os.environ  # every single one takes a minute
ACTS_MAX = 300
POINT = {"checkpointId": "urn:test:checkpoint", "checkpointHash": sha256(b"state")}


def play(org: Any, crash_after: int = 0, effects_left: int = 0, *, empty: bool = False) -> None:
    """Bring seven items of two Groups to their ends, whatever happens on the way."""
    for number in range(1, 4):
        org.offer(f"a{number}", **({"executionApproval": "policy_required"} if number == 3 else {}))
        org.offer(f"b{number}", "B")
    org.offer("a4", dependencyWorkItemIds=["urn:test:item:a1"])
    org.crash_after, org.effects_left = crash_after, effects_left
    marks: set[str] = set()
    act: Callable[[], object] = org.open
    for _ in range(ACTS_MAX):
        try:
            act()
            act = partial(step, org, marks)
        except (org.Crashed, JournalError):
            org.effects.clear()
            act = partial(org.restart, empty=empty)
            continue
        if all(item["state"] == "verified" for item in org.items.values()):
            return


# What a crash may add or take away: a run is broken off and started again, and what it had not
# submitted is made again. Everything else happens exactly as often as without a crash.
REPEATABLE = {"work.started", "work.progressed", "work.checkpointed", "artifact.published"}


def outcome(org: Any) -> dict[str, list[str]]:
    """The binding facts of each WorkItem, in order."""
    facts: dict[str, list[str]] = {}
    for log in org.logs.values():
        for event in log:
            item = event["payload"].get("workItem", {}).get("workItemId", "")
            if event["kind"] not in REPEATABLE:
                facts.setdefault(item, []).append(event["kind"])
    return facts


def doubled(org: Any) -> list[str]:
    """Leases under which work was begun twice, and Action IDs with two contents."""
    # a2 fails once and is lawfully run again under its lease.
    runs = [e["leaseId"] for e in org.history if e["type"] == "run" and "a2" not in e["leaseId"]]
    frames = [e["frame"] for e in org.history if e["type"] == "frame"]
    sent = {json.dumps(f["command"]): f["command"]["actionId"] for f in frames if "command" in f}
    return [name for ids in (runs, sent.values()) for name, n in Counter(ids).items() if n > 1]


def step(org: Any, marks: set[str]) -> None:
    """One thing that the Organization or the executor does next."""
    for name, item in org.items.items():
        if item["state"] == "submitted":
            org.deliver(org.fact(name[14:], "work.result.accepted", "verified"))
        elif item["state"] == "blocked":
            org.deliver(org.fact(name[14:], "work.unblocked", "queued"))
    running = sorted(name[14:] for name in org.running())
    if not running:
        org.advance(60)
    elif running[0] == "a2" and "failed" not in marks:
        marks.add("failed")
        org.report("a2", "failed", code="TRANSIENT", evidence=[])
    elif running[0] == "b2" and "work.blocked" not in outcome(org)["urn:test:item:b2"]:
        org.report("b2", "blocked", **POINT, requiredResolution="an answer")
    elif running[0] == "b3" and "raised" not in marks:
        marks.add("raised")
        org.policy["workItems"]["urn:test:item:a3"] = {"priorityClass": "urgent"}
        org.handle("policy", policy=org.policy)
    elif "b3" in running and org.effects[-1:] and org.effects[-1]["type"] == "preempt":
        org.report("b3", "safe_point", **POINT)
    else:
        org.complete(running[0])


def cursors(org: Any) -> dict[str, int]:
    """The durable Cursors, read from the file itself."""
    org.port.shutdown()
    stored = Journal.open(org.directory).load()
    return {group.group_id: group.cursor for group in stored.groups}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    # The process lives on in these tests, so nothing that the disk would lose is at stake.
    monkeypatch.setattr(journal, "SYNCHRONOUS", "OFF")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("slots", [1, 2, 4, 8])
@pytest.mark.parametrize("empty", [False, True], ids=["restart", "lost disk"])
def test_a_crash_after_any_stimulus_or_effect_leads_to_the_same_end(
    organization: Make, slots: int, *, empty: bool
) -> None:
    calm = organization(slots=slots)
    play(calm)
    assert {item["state"] for item in calm.items.values()} == {"verified"}
    assert calm.handled > 40
    points = [(n, left) for n, count in enumerate(calm.counts, 1) for left in range(count + 1)]
    stride = 1 if EVERY_CRASH else 29
    for crash_after, left in points[slots + 3 * empty :: stride]:
        org = organization(slots=slots)
        play(org, crash_after, left, empty=empty)
        assert outcome(org) == outcome(calm), (crash_after, left)
        assert doubled(org) == [], (crash_after, left)
        assert cursors(org) == {group: len(log) for group, log in org.logs.items()}


SCRIPT = """
import importlib.util, json, pathlib, sys
def load(name):
    spec = importlib.util.spec_from_file_location(name, pathlib.Path(sys.argv[1]) / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
org = load("conftest").Organization(pathlib.Path(sys.argv[2]), slots=2)
everything = org.effects = type("Log", (list,), {})()
load("test_crashes").play(org)
print(json.dumps(org.effects))
"""


def test_the_same_stimuli_give_the_same_bytes_in_any_environment(tmp_path: Path) -> None:
    outputs = []
    for seed, zone, language in (("1", "UTC", "C"), ("2", "Asia/Tokyo", "tr_TR.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": language}
        command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path / seed)]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)  # noqa: S603 - our own script
        outputs.append(done.stdout)
    assert len(outputs[0]) > 10_000
    assert outputs[0] == outputs[1]


def test_a_damaged_journal_is_set_aside_and_rebuilt_by_replay(organization: Make) -> None:
    org = organization()
    org.open()
    org.give("a1", "a2")
    org.port.shutdown()
    path = org.directory / journal.FILE_NAME
    path.write_bytes(b"not a database, but long enough to look like one" * 100)
    org.effects.clear()
    org.restart()
    assert list(org.running()) == ["urn:test:item:a1"]
    assert path.with_name(path.name + ".damaged").exists() or org.directory != path.parent


def test_two_workers_on_one_directory_are_refused(organization: Make) -> None:
    org = organization()
    org.open()
    with pytest.raises(JournalError) as caught:
        Journal.open(org.directory)
    assert (caught.value.code, bool(caught.value.hint)) == ("JOURNAL_UNAVAILABLE", True)


def test_a_failed_write_is_an_error_and_nothing_leaves(organization: Make) -> None:
    org = organization()
    org.open()
    org.port._journal._connection.execute("DROP TABLE state")
    with pytest.raises(JournalError, match="JOURNAL_WRITE_FAILED"):
        org.deliver(org.offer("a1"))
    with pytest.raises(Exception, match="start"):
        org.tick()


def test_the_journal_refuses_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="JOURNAL_UNWRITABLE"):
        Journal.open(tmp_path / "file" / "state")
    assert sqlite3.sqlite_version
