"""A command line that can be called in a test, and an engine that answers without a Worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import define, field, frozen

from worker_conformance.cli.entry import call
from worker_conformance.judge.verdicts import CheckKind, RunResult
from worker_conformance.report import json_report
from worker_conformance.scenario.model import Level
from worker_conformance.suite.checks import CheckInfo
from worker_conformance.suite.engine import ProgressListener, RunOptions

RESULTS = Path(__file__).parent.parent / "report" / "data"


@define
class FakeEngine:
    """Answers with a stored result, or with an error, and keeps what it was asked."""

    result: RunResult
    infos: tuple[CheckInfo, ...]
    error: BaseException | None = None
    asked: list[RunOptions] = field(factory=list)

    def run(self, options: RunOptions, listener: ProgressListener) -> RunResult:
        self.asked.append(options)
        if self.error:
            raise self.error
        listener.planned(len(self.result.checks))
        for check in self.result.checks:
            listener.started(check.check_id, check.title)
            listener.finished(check)
        return self.result

    def catalogue(self) -> tuple[CheckInfo, ...]:
        return self.infos

    def replay(self, path: Path, options: RunOptions) -> RunResult:
        assert path.exists()
        return self.run(options, _Deaf())


class _Deaf:
    def planned(self, total: int) -> None: ...

    def started(self, check_id: str, title: str) -> None: ...

    def finished(self, result: object) -> None: ...


@frozen
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]
MakeEngine = Callable[..., FakeEngine]


@pytest.fixture
def an_engine() -> MakeEngine:
    """Makes an engine that answers with the stored result of this name."""

    def make(name: str = "passing", error: BaseException | None = None) -> FakeEngine:
        result = json_report.read(RESULTS / f"result-2-{name}.json")
        infos = tuple(
            CheckInfo(
                check_id=check.check_id,
                title=check.title,
                summary=check.summary,
                requirement=check.requirement,
                clauses=check.clauses,
                level=Level(check.level),
                profile=check.profile,
                kind=CheckKind(check.kind),
                source=None,
                stake="What is at stake is said here.\n",
            )
            for check in result.checks
        )
        return FakeEngine(result, infos, error)

    return make


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Calls the command line in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: str, engine: FakeEngine | None = None) -> Outcome:
        code = call(arguments, engine)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run
