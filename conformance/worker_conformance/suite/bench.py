"""The bench: one Worker behind one Port, and scenario after scenario played against it.

Opens the Port when first needed, replaces it after an adapter error, and gives each scenario a
folder of its own that is gone afterwards. Never decides which checks run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from attrs import evolve

from worker_conformance.errors import AdapterError, SuiteFailure
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import Failure, Verdict
from worker_conformance.port import guard
from worker_conformance.port.contract import Port
from worker_conformance.port.declaration import Declaration, Parameters
from worker_conformance.port.line_port import without_stderr
from worker_conformance.port.locate import PortFactory
from worker_conformance.scenario.model import CrashDuring, Drive, Scenario
from worker_conformance.suite.play import Played, play
from worker_conformance.suite.randomness import draws_lots
from worker_conformance.suite.rejudge import about_of
from worker_conformance.suite.room import with_room

Result = TypeVar("Result")

_MEMORY = "/dev/shm"  # noqa: S108 - mkdtemp makes a folder of our own in it
_MEMORY_FREE_BYTES = 1 << 30  # far more than the state directories of one run


class Bench:
    """A Worker on the bench. Use it as a context manager: on leaving, nothing is left behind."""

    def __init__(self, factory: PortFactory) -> None:
        self._factory = factory
        self._port: Port | None = None
        self._declaration: Declaration | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="worker-conformance-", dir=_memory()))
        guard.watch_folder(self._folder)
        self._played = 0
        self._draws_lots: bool | None = None

    def __enter__(self) -> Self:
        """Nothing is opened yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the Worker and remove every file of it."""
        self.close()

    def close(self) -> None:
        """End the Worker and remove every file of it; idempotent."""
        try:
            if self._port is not None:
                self._port.shutdown()
        finally:
            self._port = None
            shutil.rmtree(self._folder, ignore_errors=True)
            guard.forget_folder(self._folder)

    @property
    def folder(self) -> Path:
        """A folder for whatever has to be gone when this bench is."""
        return self._folder

    @property
    def transport(self) -> str:
        """How the Worker is reached."""
        return self._opened()[0].transport

    def declaration(self) -> Declaration:
        """What the Worker declares; opens it. Raises AdapterError where that goes wrong."""
        return self._opened()[1]

    @with_room
    def play(self, scenario: Scenario, seed: int) -> Played:
        """Play one scenario; an adapter that breaks on the way is replaced afterwards."""
        with self._workspace() as workspace:
            try:
                if _kills_during_a_call(scenario) and self.transport == "in-process":
                    return self._play_in_process_of_its_own(scenario, seed, workspace)
                return self._play(scenario, self._opened()[0], seed, workspace)
            except AdapterError as broken:
                return _broken(scenario, seed, broken, self._give_up_port())

    @with_room
    def lend(self, slots: int, use: Callable[[Port, Parameters, Path], Result]) -> Result:
        """Lend the Worker out for something else than one scenario.

        `use` gets the Port, the parameters that hold for `slots`, and an empty folder. What it
        raises passes on once the Port was discarded, for nobody knows what the Worker is left with.
        """
        with self._workspace() as workspace:
            try:
                port, declaration = self._opened()
                parameters, _ = declaration.parameters.effective_for(slots)
                return use(port, parameters, workspace)
            except BaseException:
                self._give_up_port()
                raise

    @contextmanager
    def _workspace(self) -> Iterator[Path]:
        self._played += 1
        workspace = self._folder / f"scenario-{self._played}"
        workspace.mkdir()
        try:
            yield workspace
        finally:
            shutil.rmtree(workspace, ignore_errors=True)

    def _play(self, scenario: Scenario, port: Port, seed: int, workspace: Path) -> Played:
        declared = self.declaration().parameters
        parameters, _ = declared.effective_for(scenario.agent.slots)
        if parameters.randomised and _drives(scenario):
            shown = self._shows_its_lots(port, parameters, seed, workspace)
            parameters = evolve(parameters, randomised=shown)
        played = play(scenario, port, parameters, seed, workspace)
        about = about_of(scenario, self.declaration())
        return evolve(played, trace=evolve(played.trace, about=about))

    def _shows_its_lots(
        self, port: Port, parameters: Parameters, seed: int, workspace: Path
    ) -> bool:
        """Whether the Worker draws lots by its seed; without that it gets no allowance for them."""
        if self._draws_lots is None:
            self._draws_lots = draws_lots(port, parameters, seed, workspace)
        return self._draws_lots

    def _play_in_process_of_its_own(self, scenario: Scenario, seed: int, workspace: Path) -> Played:
        """Nothing can kill an object in the middle of a call: serve it from a process."""
        port = self._factory.open_process()
        try:
            port.initialize()
            return self._play(scenario, port, seed, workspace)
        finally:
            port.shutdown()

    def _opened(self) -> tuple[Port, Declaration]:
        if self._port is None or self._declaration is None:
            port = self._factory.open()
            try:
                self._declaration = port.initialize()
            except BaseException:
                port.shutdown()
                raise
            self._port = port
        return self._port, self._declaration

    def _give_up_port(self) -> str:
        """Discard the Port; returns the end of what the Worker wrote to stderr."""
        if self._port is None:
            return ""
        stderr = self._port.stderr_tail()
        try:
            self._port.crash()
            self._port.shutdown()
        except SuiteFailure:
            pass  # it is broken already, and that is what is being reported
        finally:
            self._port = None
        return stderr


def _memory() -> str | None:
    """A folder in memory for state directories, where there is one with room; else the default.

    SIGKILL does not empty the page cache, so no verdict depends on a disk, and a Worker that
    synchronises after every stimulus is not slowed by it. TMPDIR overrides the choice.
    """
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return None
    return _MEMORY if shutil.disk_usage(_MEMORY).free > _MEMORY_FREE_BYTES else None


def _drives(scenario: Scenario) -> bool:
    return any(isinstance(step.action, Drive) for step in scenario.steps)


def _kills_during_a_call(scenario: Scenario) -> bool:
    return any(isinstance(step.action, CrashDuring) for step in scenario.steps)


def _broken(scenario: Scenario, seed: int, error: AdapterError, stderr: str) -> Played:
    hint = without_stderr(error.hint) if stderr else error.hint  # it is shown on its own, in full
    failure = Failure("an adapter that keeps the Worker Port", f"{error}; {hint}", (), stderr)
    return Played(
        verdict=Verdict.ADAPTER_ERROR,
        witness=0,
        reason=error.cause,
        failure=failure,
        measurements=(),
        sightings=(),
        trace=Trace(scenario.id, seed),
    )
