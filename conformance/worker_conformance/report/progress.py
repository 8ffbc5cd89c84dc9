"""What a person sees while the checks run: a live line on a terminal, plain lines elsewhere.

Each class here is a `ProgressListener` of the engine and a context manager. Shows names, counts
and, on a terminal, the time left. Never decides what is run, and never prints the run's result.
"""

from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from worker_conformance.judge.verdicts import CheckResult
from worker_conformance.report.telling import Consequences, visible
from worker_conformance.report.terminal import print_headline

PLAIN_LINES = 10  # lines of progress in a log: enough to see that it moves, too few to drown it
BESIDE_CHARACTERS = 44  # bar, counts, time left, and how many others are running


class QuietProgress:
    """Shows nothing (`--quiet`)."""

    def __enter__(self) -> Self:
        """Show nothing."""
        return self

    def __exit__(self, *_: object) -> None:
        """Show nothing."""

    def planned(self, total: int) -> None:
        """Show nothing."""

    def started(self, check_id: str, title: str) -> None:
        """Show nothing."""

    def finished(self, result: CheckResult) -> None:
        """Show nothing."""


class PlainProgress(QuietProgress):
    """A line now and then, and one for each unexpected verdict: for logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._total = 0
        self._done = 0
        self._unexpected = 0
        self._consequences = Consequences()

    def planned(self, total: int) -> None:
        """Say how many checks there are."""
        self._total = total
        self._console.print(Text(f"{total} {'check' if total == 1 else 'checks'} to run"))

    def finished(self, result: CheckResult) -> None:
        """Count, and say so when another part is done."""
        self._done += 1
        self._total = max(self._total, self._done)  # monitors are summed up after the planned ones
        if result.verdict.breaks_the_run:
            self._unexpected += 1
            if not self._consequences.contain(result):
                print_headline(self._console, result)
        if self._part(self._done) > self._part(self._done - 1):
            what = "check" if self._total == 1 else "checks"
            told = f"{self._done} of {self._total} {what} done{self._so_far()}"
            self._console.print(Text(told))

    def _part(self, done: int) -> int:
        return done * PLAIN_LINES // max(self._total, 1)

    def _so_far(self) -> str:
        return f", {self._unexpected} not passed so far" if self._unexpected else ""


class LiveProgress(QuietProgress):
    """One line that moves: bar, counts, time left, and what is running."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            BarColumn(bar_width=16),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("left  {task.description}", markup=False),
            console=console,
            transient=True,
        )
        self._task: TaskID | None = None
        self._total = 0
        self._done = 0
        self._has_told = False
        self._running: dict[str, str] = {}  # by check ID, in the order they were started
        self._consequences = Consequences()

    def __enter__(self) -> Self:
        """Take the line."""
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the line back; what was told above it stands apart from what follows."""
        self._progress.stop()
        if self._has_told:
            self._console.print()

    def planned(self, total: int) -> None:
        """Draw the bar."""
        self._total = total
        self._task = self._progress.add_task("", total=total)

    def started(self, check_id: str, title: str) -> None:
        """Name the check beside the bar."""
        self._running[check_id] = title
        self._show()

    def finished(self, result: CheckResult) -> None:
        """Move the bar; an unexpected verdict gets a line of its own above it."""
        self._running.pop(result.check_id, None)
        if result.verdict.breaks_the_run and not self._consequences.contain(result):
            self._has_told = True
            print_headline(self._progress.console, result)
        self._show(advance=1)

    def _show(self, advance: int = 0) -> None:
        if self._task is None:
            return
        self._done += advance
        self._total = max(self._total, self._done)
        name = ""
        if self._running:
            check_id, title = next(iter(self._running.items()))
            others = len(self._running) - 1
            name = f"{check_id} {visible(title)}"[: max(0, self._console.width - BESIDE_CHARACTERS)]
            name += f" +{others}" if others else ""
        self._progress.update(self._task, completed=self._done, total=self._total, description=name)
