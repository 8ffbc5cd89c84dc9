"""A file of results: one line of JSON each, under a head that says what they are results of.

Each line is written as soon as it is known, so that what takes hours goes on where it was ended.
Never knows what a result is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from worker_conformance.errors import UsageError, render


@frozen
class Logbook:
    """The file at `path`. Results of another `head` are never mixed with these."""

    path: Path
    head: Mapping[str, object]

    def open(self) -> list[dict[str, Any]]:
        """What an earlier run has written; half a line at its end is left out, and closed.

        Begins the file where there is none. Raises UsageError for one with another head.
        """
        if not self.path.exists():
            self.append(self.head)
            return []
        written = self.path.read_text(encoding="utf-8")
        found = list(_read(written))
        earlier = found[0] if found else {}
        other = [name for name, value in self.head.items() if earlier.get(name) != value]
        if other:
            cause = f"these are results of another {' and another '.join(other)}"
            raise UsageError("results", cause, "begin a new file", str(self.path))
        if not written.endswith("\n"):
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n")
        return found[1:]

    def rewrite(self, lines: Iterable[Mapping[str, object]]) -> None:
        """Put these results in the place of all that was written, at one blow."""
        beside = self.path.with_name(f"{self.path.name}.new")
        with beside.open("w", encoding="utf-8") as file:
            file.writelines(f"{_text(line)}\n" for line in (self.head, *lines))
        beside.replace(self.path)

    def append(self, line: Mapping[str, object]) -> None:
        """Write one result down."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{_text(line)}\n")


def _text(line: Mapping[str, object]) -> str:
    return json.dumps(line, ensure_ascii=False)


def _read(written: str) -> Iterator[dict[str, Any]]:
    for line in written.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def arguments_of(
    arguments: Sequence[str], count: int, usage: str | None
) -> tuple[Path, tuple[int, ...]]:
    """The file of a campaign and so many whole numbers; raises UsageError for anything else."""
    file, *numbers = arguments or ("",)
    if not file or len(numbers) != count or not all(map(str.isdecimal, numbers)):
        raise UsageError("arguments", "these are no arguments of a campaign", usage or "")
    return Path(file), tuple(map(int, numbers))


def told(main: Callable[[Sequence[str]], int]) -> int | str:
    """What a campaign's command line ends with: its exit code, or what was wrong with it."""
    try:
        return main(sys.argv[1:])
    except UsageError as mistake:
        return render(mistake)
