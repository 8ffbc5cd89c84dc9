"""Workers of a few lines, written to a module that a spec can name."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worker_conformance.port.locate import locate
from worker_conformance.scenario.loader import load_text
from worker_conformance.scenario.model import Scenario
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.play import Played

REFERENCE = "reference_worker:factory"

HEAD = """
class Worker:
    def __init__(self):
        self.calls = []

    def initialize(self, params):
        return {"portVersion": "1", "name": "Test Worker", "version": "1", "language": "Python",
                "profiles": ["replay"], "parameters": PARAMETERS}

    def shutdown(self):
        return {}

    def handle(self, stimulus):
        self.calls.append(stimulus)
        return self.answer(stimulus)

    def answer(self, stimulus):
        return {"effects": []}

PARAMETERS = {}
"""

MakeWorker = Callable[[str, str], str]
PlayText = Callable[..., Played]


@pytest.fixture
def a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeWorker:
    """Write a Worker module `name` whose body extends HEAD; returns its spec."""

    def make(name: str, body: str) -> str:
        text = HEAD + textwrap.dedent(body) + "\nfactory = globals().get('Own', Worker)\n"
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return f"{name}:factory"

    return make


def scenario(steps: str, **members: str) -> Scenario:
    """A vector in Group A with an offer of a1, and the steps given."""
    head = {
        "groups": "{A: {}}",
        "log": "{A: [created, member, {authorize: a1}, {offer: a1}]}",
        "delivery": "auto",
        **members,
    }
    text = "\n".join(f"{name}: {value}" for name, value in head.items())
    return load_text(
        "id: TEST-0001\ntitle: A test\nstake: Something is at stake here.\n"
        "requirement: WRK-029.a\nlevel: MUST\nprofile: replay\n"
        f"{text}\nsteps:\n{textwrap.indent(textwrap.dedent(steps).strip(), '  ')}\n",
        "test.yaml",
    )


@pytest.fixture
def played() -> Iterator[PlayText]:
    """Play steps against a Worker, by default the reference Worker."""
    benches: list[Bench] = []

    def play(steps: str, worker: str = REFERENCE, **members: str) -> Played:
        bench = Bench(locate(worker, 20))
        benches.append(bench)
        return bench.play(scenario(steps, **members), 1)

    yield play
    for bench in benches:
        bench.close()
