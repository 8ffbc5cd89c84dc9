"""The Worker Port on stdio: framing, errors, SIGKILL."""

from __future__ import annotations

import io
import json
import os
import random
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from test_crashes import cursors, doubled, outcome, play

from reference_worker import __main__ as stdio
from reference_worker.port import factory

Make = Callable[..., Any]
KILLS = int(os.environ.get("WORKER_KILLS", "6"))  # 500 take some minutes


class Process:
    """The Port's three operations, spoken to a real process."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "reference_worker"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - our own module
        self.count = 0

    def send(self, method: str, params: Any) -> None:
        self.count += 1
        request = {"jsonrpc": "2.0", "id": self.count, "method": method, "params": params}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def call(self, method: str, params: Any) -> Any:
        self.send(method, params)
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.count
        return answer["result"]

    def handle(self, stimulus: Any) -> Any:
        return self.call("handle", stimulus)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def processes() -> Iterator[Callable[[], Process]]:
    made: list[Process] = []

    def make() -> Process:
        made.append(Process())
        return made[-1]

    yield make
    for process in made:
        process.kill()


def lines(*requests: bytes) -> list[Any]:
    answers = io.BytesIO()
    assert stdio.serve(factory(), io.BytesIO(b"".join(r + b"\n" for r in requests)), answers) == 0
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_every_request_gets_one_line_and_errors_have_codes() -> None:
    initialize = {"portVersion": "1", "protocolVersion": "0.1", "suite": {}}
    answers = lines(
        json.dumps({"id": 1, "method": "initialize", "params": initialize}).encode(),
        b"not json",
        b'{"id": 2, "method": "dance"}',
        b'{"id": 3, "method": "handle", "params": {"type": "dream", "now": "x"}}',
        b'{"id": 4, "method": "handle", "params": {"type": "tick", "now": "x"}}',
        b'{"id": 5, "method": "initialize", "params": {"portVersion": "2"}}',
        b'{"id": 6, "method": "shutdown"}',
        b'{"id": 7, "method": "shutdown"}',
    )
    codes = [answer.get("error", {}).get("code") for answer in answers]
    assert codes == [None, -32700, -32601, -32001, -32600, -32602, None]
    assert answers[0]["result"]["portVersion"] == "1"


def test_help_tells_how_to_run_it_by_hand(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["reference_worker", "--help"])
    with pytest.raises(SystemExit):
        stdio.main()
    assert '"method":"initialize"' in capsys.readouterr().out


class Doomed:
    """A process that is killed at a random instant of a turn, a while after it was asked."""

    def __init__(self, org: Any, rng: random.Random, start: Callable[[], Process]) -> None:
        self.org, self.rng, self.start = org, rng, start
        self.process, self.kills = start(), 0
        self.turns_left = rng.randrange(1, 12)

    def handle(self, stimulus: Any) -> Any:
        self.turns_left -= 1
        if self.turns_left or self.kills >= KILLS:
            return self.process.handle(stimulus)
        self.process.send("handle", stimulus)
        out = self.process.process.stdout
        assert out is not None
        select.select([out], [], [], self.rng.random() * 0.004)  # a turn takes some milliseconds
        self.process.kill()
        self.process, self.kills = self.start(), self.kills + 1
        self.turns_left = self.rng.randrange(1, 12)
        raise self.org.Crashed

    def shutdown(self) -> Any:
        return self.process.call("shutdown", {})


def moved(directory: Path, to: Path) -> None:
    """The very same files; none, where the process was killed before it made the directory."""
    if directory.exists():
        directory.rename(to)


def test_kills_at_random_instants_lose_nothing_and_double_nothing(
    organization: Make, processes: Callable[[], Process]
) -> None:
    calm, rng, kills, round_number = organization(slots=2), random.Random(3), 0, 0
    play(calm)
    while kills < KILLS:
        round_number += 1
        org = organization(slots=2)
        doomed = org.port = Doomed(org, rng, processes)
        org.save = moved
        org.make_port = lambda port=doomed: port
        play(org)
        assert outcome(org) == outcome(calm), round_number
        assert doubled(org) == [], round_number
        assert cursors(org) == {group: len(log) for group, log in org.logs.items()}
        kills += doomed.kills
    assert kills >= KILLS


def test_a_second_process_on_one_state_directory_is_refused_with_a_reason(
    organization: Make, processes: Callable[[], Process]
) -> None:
    org = organization()
    org.port = processes()
    org.open()
    second = processes()
    second.send("handle", {"type": "start", "stateDirectory": str(org.directory)})
    assert second.process.stdout is not None
    error = json.loads(second.process.stdout.readline())["error"]
    assert "JOURNAL_UNAVAILABLE" in error["message"]
    assert "another Worker" in error["message"]
    org.give("a1")
    org.complete("a1")  # the first goes on
