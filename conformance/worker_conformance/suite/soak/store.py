"""The store of a campaign: a folder that is whole whenever its writer ends.

`campaign.json` says which campaign it is, `outcomes.jsonl` has a line for each world and is only
ever appended to, `counterexamples/` has the shortest failure of each signature. A counterexample is
written before the line that speaks of it, so that a crash in between plays its world again and
nothing else. Never plays.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import IO, Self

from attrs import evolve

from worker_conformance.errors import UsageError
from worker_conformance.suite.soak.campaign import Campaign
from worker_conformance.suite.soak.outcome import Outcome, name_of
from worker_conformance.suite.soak.tally import Tally

CAMPAIGN, OUTCOMES, COUNTEREXAMPLES = "campaign.json", "outcomes.jsonl", "counterexamples"

MAX_LINE_BYTES = 16 * 1024 * 1024  # far above the longest transcript that a world can have

_ELSEWHERE = "name another folder with --store"


def campaign_in(folder: Path) -> Campaign | None:
    """The campaign that a store is of; None where there is no store yet.

    Raises UsageError where the file cannot be read as one.
    """
    path = folder / CAMPAIGN
    try:
        text = path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None
    try:
        return Campaign.from_document(json.loads(text))
    except (ValueError, TypeError, RecursionError) as error:
        raise _unreadable(path, error) from None


def keep_if_new(folder: Path, outcome: Outcome) -> Path | None:
    """Write an outcome's counterexample unless the store has one of its signature; returns where.

    Raises UsageError where the folder cannot be written.
    """
    if outcome.flaw is None:
        return None
    path = folder / COUNTEREXAMPLES / name_of(outcome.check_id, outcome.flaw.signature)
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, outcome.flaw.text)
        except OSError as error:
            raise _unwritable(folder, error) from None
    return path


class Store:
    """An open store. `tally` sums up what it holds. Nobody else can open it meanwhile."""

    def __init__(self, folder: Path, campaign: Campaign) -> None:
        """Open the store of a campaign, or begin one; a half line at its end is removed.

        Raises UsageError where the folder cannot be written, is in use, is of another campaign, or
        has a line that this campaign cannot have written.
        """
        self.folder = folder
        self.campaign = campaign
        self.tally = Tally()
        try:
            (folder / COUNTEREXAMPLES).mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = (folder / OUTCOMES).open("a+b")
        except OSError as error:
            raise _unwritable(folder, error) from None
        try:
            self._lock()
            self._begin()
            self._load()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        """It is open already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of the folder."""
        self.close()

    def close(self) -> None:
        """Let go of the folder; idempotent."""
        self._file.close()

    def take(self, outcome: Outcome) -> bool:
        """Keep one outcome; returns False, and keeps nothing, where its number is known already."""
        self._refuse_foreign(outcome)
        if outcome.number in self.tally.numbers:
            return False
        try:
            if self.tally.add(outcome) and outcome.flaw is not None and outcome.flaw.text:
                self._keep(outcome.check_id, outcome.flaw.signature, outcome.flaw.text)
            self._file.write(outcome.to_line().encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        return True

    def counterexample(self, check_id: str, signature: str) -> Path:
        """Where the counterexample of a failure lies."""
        return self.folder / COUNTEREXAMPLES / name_of(check_id, signature)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            cause = "another campaign writes into this folder"
            raise UsageError("store-in-use", cause, _ELSEWHERE, str(self.folder)) from None

    def _begin(self) -> None:
        known = campaign_in(self.folder)
        if known is None:
            self._refuse_orphans()
            text = json.dumps(self.campaign.to_document(), indent=2) + "\n"
            try:
                _replace(self.folder / CAMPAIGN, text)
            except OSError as error:
                raise _unwritable(self.folder, error) from None
            return
        same_time = evolve(known, timeout_seconds=self.campaign.timeout_seconds)
        if same_time != self.campaign:
            raise UsageError(
                "other-campaign",
                f"this is the store of another campaign: {_difference(known, self.campaign)}",
                f"{_ELSEWHERE}, or repeat what was said then",
                str(self.folder),
            )

    def _refuse_orphans(self) -> None:
        if os.fstat(self._file.fileno()).st_size:
            cause = f"there is {OUTCOMES}, but no {CAMPAIGN} that says what it is of"
            raise UsageError("store", cause, _ELSEWHERE, str(self.folder))

    def _load(self) -> None:
        path, whole = self.folder / OUTCOMES, 0
        self._file.seek(0)
        for line_number in range(1, 1 << 62):
            line = self._file.readline(MAX_LINE_BYTES + 1)
            if not line.endswith(b"\n") and len(line) <= MAX_LINE_BYTES:
                break  # the end, or half a line that nobody has heard of
            try:
                self.tally.add(self._read(line))
            except (ValueError, TypeError) as error:
                raise _unreadable(path, error, line_number) from None
            whole = self._file.tell()
        self._file.truncate(whole)

    def _read(self, line: bytes) -> Outcome:
        if len(line) > MAX_LINE_BYTES:
            raise ValueError(f"it is longer than {MAX_LINE_BYTES} bytes")
        outcome = Outcome.from_line(line)
        self._refuse_foreign(outcome)
        return outcome

    def _refuse_foreign(self, outcome: Outcome) -> None:
        wanted = self.campaign.property_of(outcome.number).check_id
        if outcome.check_id != wanted:
            raise ValueError(f"world {outcome.number} is one of {wanted}, not {outcome.check_id}")

    def _keep(self, check_id: str, signature: str, text: str) -> None:
        _replace(self.counterexample(check_id, signature), text)


def _replace(path: Path, text: str) -> None:
    """Write a file that is there whole, or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(text.encode("utf-8", "backslashreplace"))
    beside.replace(path)


def _difference(known: Campaign, given: Campaign) -> str:
    members = (
        ("seed", known.seed, given.seed),
        ("Worker", known.worker, given.worker),
        ("the Worker's name", known.name, given.name),
        ("the Worker's version", known.version, given.version),
        ("suite", known.suite, given.suite),
    )
    for what, then, now in members:
        if then != now:
            return f"{what} {then}, not {now}"
    return "the Worker claimed other areas then"


def _unreadable(path: Path, error: Exception, line: int | None = None) -> UsageError:
    told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    where = f"{path}:{line}" if line else str(path)
    return UsageError("store", f"this is no store of a campaign: {told}", _ELSEWHERE, where)


def _unwritable(folder: Path, error: OSError) -> UsageError:
    cause = f"the store cannot be written: {error.strerror or error}"
    return UsageError("store", cause, _ELSEWHERE, str(folder))
