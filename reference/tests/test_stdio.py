"""The Worker Port on stdio: framing, errors, SIGKILL."""

from __future__ import annotations

import io
import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reference_worker import __main__ as stdio
from reference_worker.port import factory

Make = Callable[..., Any]


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


def test_a_killed_process_goes_on_where_the_disk_stands(
    organization: Make, processes: Callable[[], Process]
) -> None:
    org = organization()
    rng = random.Random(7)
    org.port = processes()
    org.open()
    for number in range(1, 9):
        name = f"a{number}"
        org.give(name)
        org.port.send("handle", {"type": "tick", "now": "2026-07-15T00:00:00Z"})
        if rng.random() < 0.5:
            org.port.process.stdout.readline()
        org.port.kill()  # at rest, or at some instant of a turn
        org.effects.clear()
        org.port, org.session = processes(), org.session + 1
        for item in org.items.values():
            if item["state"] == "active":
                item |= {"state": "queued", "revision": item["revision"] + 1}
        org.open()
        org.complete(name)
    assert {item["state"] for item in org.items.values()} == {"verified"}
    assert org.port.call("shutdown", {}) == {}
    assert org.port.process.wait(10) == 0
