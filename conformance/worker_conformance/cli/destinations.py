"""Whether the files of a long command can be written, asked before its work.

Makes the folders; leaves alone what stands in the files until there is something to write. Never
writes anything itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from worker_conformance.errors import UsageError


def make_room(files: Iterable[Path], what: str, option: str) -> None:
    """Make the folders of `files`, and see that each file can be written.

    Raises UsageError, which says `what` cannot be written and names the `option` to change.
    """
    for file in files:
        try:
            _try(file)
        except OSError as error:
            cause = f"{what} cannot be written: {error.strerror or error}"
            hint = f"choose another place with {option}"
            raise UsageError("report", cause, hint, str(file)) from None


def _try(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    is_new = not file.exists()
    with file.open("ab"):  # an older file keeps what it holds: the work may be interrupted
        pass
    if is_new:
        file.unlink()
