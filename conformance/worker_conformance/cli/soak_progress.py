"""What a person sees of a campaign: a live line on a terminal, plain lines elsewhere.

Shows worlds, their rate, what they reached, what failed, and the time left. Never plays.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from worker_conformance.cli.options import counted
from worker_conformance.report.telling import visible

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.suite.soak.cluster import Limits
    from worker_conformance.suite.soak.outcome import Outcome
    from worker_conformance.suite.soak.tally import Tally

PLAIN_LINES = 10  # as for a run: enough to see that it moves
FAILURES_SHOWN_MAX = 4  # in one line; the report has them all
REFRESHES_PER_SECOND = 4


class PlainProgress:
    """A line for each tenth, and one for each new failure: for logs and pipes."""

    def __init__(
        self,
        console: Console,
        tally: Tally,
        limits: Limits,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._console, self._tally, self._limits, self._clock = console, tally, limits, clock
        self._began = clock()
        self._earlier = tally.worlds
        self._parts = int(self.share() * PLAIN_LINES)
        self._known = {
            (check_id, signature)
            for check_id, one in tally.checks.items()
            for signature in one.found
        }

    def __enter__(self) -> Self:
        """Say what is there already."""
        if self._earlier:
            told = f"{counted(self._earlier, 'world')} played earlier; going on"
            self._console.print(Text(told))
        return self

    def __exit__(self, *_: object) -> None:
        """Say how far it came."""
        self._console.print(Text(self.told()))

    def heard(self, outcome: Outcome) -> None:
        """Show one more world, which the tally has taken in."""
        self._tell_new_failure(outcome)
        parts = int(self.share() * PLAIN_LINES)
        if parts > self._parts and parts < PLAIN_LINES:  # the last one is said at the end
            self._console.print(Text(self.told()))
        self._parts = parts

    def share(self) -> float:
        """How much is done, from 0 to 1, by the limit that is nearer."""
        shares = [0.0]
        if self._limits.seconds:
            shares.append((self._clock() - self._began) / self._limits.seconds)
        if self._limits.worlds:
            shares.append(self._tally.worlds / self._limits.worlds)
        return min(max(shares), 1.0)

    def told(self) -> str:
        """All figures in one line."""
        states = counted(self._tally.reached("state"), "state")
        transitions = counted(self._tally.reached("transition"), "transition")
        parts = [
            counted(self._tally.worlds, "world"),
            f"{self._rate():.1f}/s",
            f"{states}, {transitions}",
            self._failures(),
            self._left(),
        ]
        return " · ".join(part for part in parts if part)

    def _rate(self) -> float:
        seconds = self._clock() - self._began
        return (self._tally.worlds - self._earlier) / seconds if seconds > 0 else 0.0

    def _failures(self) -> str:
        failures = [f"{name} {count}" for name, count in self._tally.failures().items()]
        if not failures:
            return "none failed"
        more = len(failures) - FAILURES_SHOWN_MAX
        shown = ", ".join(failures[:FAILURES_SHOWN_MAX])
        return f"failed: {shown}" + (f" and {more} more" if more > 0 else "")

    def _left(self) -> str:
        left = []
        if self._limits.seconds is not None:
            left.append(self._limits.seconds - (self._clock() - self._began))
        if self._limits.worlds is not None and self._rate() > 0:
            left.append((self._limits.worlds - self._tally.worlds) / self._rate())
        if not left or min(left) <= 0:
            return ""
        minutes, seconds = divmod(round(min(left)), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02d}:{seconds:02d} left"

    def _tell_new_failure(self, outcome: Outcome) -> None:
        flaw = outcome.flaw
        if flaw is None or (outcome.check_id, flaw.signature) in self._known:
            return
        self._known.add((outcome.check_id, flaw.signature))
        line = Text("FAIL", "bold red")
        line.append(f"  {outcome.check_id}  ", "bold")
        line.append(visible(f"world {outcome.number}: expected {flaw.failure.expected}"))
        self._console.print(line)


class LiveProgress(PlainProgress):
    """One line that moves."""

    def __enter__(self) -> Self:
        """Take the line."""
        self._live = Live(
            get_renderable=lambda: Text(self.told(), no_wrap=True, overflow="ellipsis"),
            console=self._console,
            refresh_per_second=REFRESHES_PER_SECOND,
            transient=True,
        )
        self._live.start()
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        """Give the line back."""
        self._live.stop()

    def heard(self, outcome: Outcome) -> None:
        """Show a new failure above the line; the line itself is drawn as time goes by."""
        self._tell_new_failure(outcome)
