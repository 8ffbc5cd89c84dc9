"""The suite's failures: what stops a run, who has to act, and what to try next.

A run can stop for four reasons, each with a class of its own. Whoever called the suite made a
mistake (`UsageError`), or the mistake stands in a vector (`VectorError`): exit code 2. The adapter
breaks the Worker Port, so that nothing it says can be judged (`AdapterError`): exit code 3. The
suite is wrong, say because it built a stimulus that its own schema refuses (`SuiteError`): 4.

A Worker that breaks a clause is none of these: that is a verdict, never an exception.
This module never prints and never exits; the command line does both.
"""

from collections.abc import Callable
from typing import ClassVar

EXIT_USAGE = 2
EXIT_ADAPTER = 3
EXIT_SUITE = 4


class SuiteFailure(Exception):  # noqa: N818 - its subclasses are the errors
    """Why a run cannot go on.

    `code` is a short stable name for programs, `cause` one sentence saying what happened, `hint`
    what to try next (may be empty), `where` the place it was found at, where there is one. Two
    failures are equal if these facts are.
    """

    exit_code: ClassVar[int] = EXIT_SUITE

    def __init__(self, code: str, cause: str, hint: str = "", where: str | None = None) -> None:
        super().__init__(code, cause, hint, where)
        self.code = code
        self.cause = cause
        self.hint = hint
        self.where = where

    def __str__(self) -> str:
        """Return the cause, and where it was found."""
        return f"{self.where}: {self.cause}" if self.where else self.cause

    def __repr__(self) -> str:
        """Return the class and all facts."""
        return f"{type(self).__name__}({', '.join(map(repr, self.facts))})"

    def __eq__(self, other: object) -> bool:
        """Compare by class and facts."""
        return (
            isinstance(other, SuiteFailure)
            and type(self) is type(other)
            and self.facts == other.facts
        )

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((type(self), self.facts))

    def __reduce__(self) -> tuple[Callable[..., "SuiteFailure"], tuple[object, ...]]:
        """Pickle by facts: parallel runs send failures between processes."""
        return _rebuild, (type(self), *self.facts)

    @property
    def facts(self) -> tuple[str, str, str, str | None]:
        """`code`, `cause`, `hint` and `where`, in this order."""
        return (self.code, self.cause, self.hint, self.where)


class UsageError(SuiteFailure):
    """The suite was called in a way it cannot follow."""

    exit_code: ClassVar[int] = EXIT_USAGE


class VectorError(SuiteFailure):
    """A vector cannot be read. `where` is `file:line:column`."""

    exit_code: ClassVar[int] = EXIT_USAGE

    def __init__(self, where: str, cause: str, hint: str = "") -> None:
        super().__init__("vector", cause, hint, where)


class AdapterError(SuiteFailure):
    """The adapter broke the Worker Port: no JSON, no JSON-RPC, no Port message, or not there."""

    exit_code: ClassVar[int] = EXIT_ADAPTER


class SuiteError(SuiteFailure):
    """A fault of the suite itself, never of the Worker under test."""

    exit_code: ClassVar[int] = EXIT_SUITE


def render(failure: SuiteFailure) -> str:
    """Tell `failure` to a person at a terminal: no traceback, no control characters, no colour."""
    lines = [f"{_TITLES.get(type(failure), 'error')} [{failure.code}]: {printable(failure.cause)}"]
    if failure.where:
        lines.append(f"  at:   {printable(failure.where)}")
    if failure.hint:
        lines.append(f"  hint: {printable(failure.hint)}")
    if isinstance(failure, SuiteError):
        lines.append("  This is a fault of the suite, not of the Worker: please report it.")
    return "\n".join(lines)


def printable(text: str) -> str:
    """Escape what would move a cursor or change a colour; keep line breaks, indented."""
    return "\n        ".join(
        "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
        for line in text.split("\n")
    )


_TITLES: dict[type[SuiteFailure], str] = {
    UsageError: "usage error",
    VectorError: "vector error",
    AdapterError: "adapter error",
    SuiteError: "suite error",
}


def _rebuild(
    kind: type[SuiteFailure], code: str, cause: str, hint: str, where: str | None
) -> SuiteFailure:
    failure = kind.__new__(kind)
    SuiteFailure.__init__(failure, code, cause, hint, where)
    return failure
