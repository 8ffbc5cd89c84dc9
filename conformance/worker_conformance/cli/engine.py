"""Where the command line finds the engine that runs the checks.

Names what it uses of the engine, so that tests can put another in its place. Runs nothing itself.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import click

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.judge.trace import Trace
    from worker_conformance.judge.verdicts import RunResult
    from worker_conformance.suite.checks import CheckInfo
    from worker_conformance.suite.engine import ProgressListener, RunOptions


class Engine(Protocol):
    """The module `worker_conformance.suite.engine`, as the command line uses it."""

    def run(self, options: RunOptions, listener: ProgressListener) -> RunResult:
        """Run the checks that `options` select. Raises the suite's errors."""
        ...

    def catalogue(self) -> tuple[CheckInfo, ...]:
        """Return every check there is, by ID."""
        ...

    def replay(self, path: Path, options: RunOptions) -> RunResult:
        """Play one vector file, wherever it lies."""
        ...

    def rejudge(self, trace: Trace, path: Path) -> RunResult:
        """Judge a saved Trace again."""
        ...


def engine_of(context: click.Context) -> Engine:
    """Return the engine that a test has put into the context, else the real one."""
    if context.obj is None:
        context.obj = import_module("worker_conformance.suite.engine")
    return cast(Engine, context.obj)
