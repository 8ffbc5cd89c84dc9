"""Options that several commands share, and how their text becomes values.

Checks what a person typed before anything runs, and answers a mistake with the nearest thing that
exists. Never runs a check.
"""

from __future__ import annotations

import difflib
import math
import os
import secrets
from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from rich.console import Console

from worker_conformance.documents.strict_json import MAX_SAFE_INTEGER
from worker_conformance.errors import UsageError
from worker_conformance.port.contract import TIMEOUT_SECONDS
from worker_conformance.port.locate import FORMS
from worker_conformance.resources import vectors_to_extend
from worker_conformance.scenario.model import Profile

if TYPE_CHECKING:  # `--help` answers without loading the whole suite
    from worker_conformance.suite.checks import CheckInfo

DEFAULT_WORKER = "reference_worker:factory"
DRAWN = "random"  # the default: with a known seed, a recording of an earlier run could pass
SEED_BITS = 32
SEED_MAX = MAX_SAFE_INTEGER - 1  # a Worker is told it as a JSON number, and once the next one

Command = TypeVar("Command", bound=Callable[..., object])


def worker_option(command: Command) -> Command:
    """Add `--worker`."""
    return click.option(
        "--worker",
        "-w",
        default=DEFAULT_WORKER,
        show_default=True,
        metavar="SPEC",
        help=f"The Worker to judge: {FORMS}.",
    )(command)


def restart_option(command: Command) -> Command:
    """Add `--restart`."""
    return click.option(
        "--restart",
        default="",
        metavar="COMMAND",
        help="What ends a server of 'tcp:' without a word and starts it again, and then ends.",
    )(command)


def into_option(command: Command) -> Command:
    """Add `--into`."""
    return click.option(
        "--into",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder of vectors; by default that of the checkout.",
    )(command)


def seed_option(command: Command) -> Command:
    """Add `--seed`."""
    return click.option(
        "--seed",
        default=DRAWN,
        show_default=True,
        metavar="N|random",
        callback=lambda _, __, text: read_seed(text),
        help="Steers keys, identifiers and canaries. Drawn by default; every report names it.",
    )(command)


def jobs_option(explained: str) -> Callable[[Command], Command]:
    """Add `--jobs`; `explained` says what the processes share."""
    return click.option(
        "--jobs",
        "-j",
        default="auto",
        show_default=True,
        metavar="N|auto",
        callback=lambda _, __, text: read_jobs(text),
        help=explained,
    )


def timeout_option(command: Command) -> Command:
    """Add `--timeout`."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=TIMEOUT_SECONDS,
        metavar="S",
        callback=lambda _, __, seconds: finite(seconds),
        help=f"Longest wait for one answer, in real seconds (default {TIMEOUT_SECONDS:g}).",
    )(command)


def color_option(command: Command) -> Command:
    """Add `--color` and `--no-color`."""
    return click.option(
        "--color/--no-color",
        "no_color",
        default=None,
        callback=lambda _, __, color: None if color is None else not color,
        help="Colour always, or never. Else on a terminal, unless NO_COLOR is set.",
    )(command)


def profile_option(command: Command) -> Command:
    """Add `--profile`, which may be given more than once."""
    return click.option(
        "--profile",
        "-p",
        "profiles",
        multiple=True,
        metavar="AREA",
        callback=lambda _, __, names: tuple(map(read_profile, names)),
        help=f"Only this area; may be given again. Areas: {', '.join(Profile)}.",
    )(command)


def folder_of_vectors(into: Path | None) -> Path:
    """Return the folder that `--into` names, or the checkout's. Raises UsageError without both."""
    found = into or vectors_to_extend(Path.cwd())
    if found is None:
        cause = "the suite is installed, and no checkout of it is here to write into"
        raise UsageError("into", cause, "call it inside a checkout, or name a folder with --into")
    return found


def read_seed(text: str) -> int:
    """Return the seed a person named, or one drawn at random."""
    if text == DRAWN:
        return secrets.randbits(SEED_BITS)  # drawn here only; everything below gets it as a value
    try:
        seed = int(text)
    except ValueError:
        hint = "write a whole number, or 'random'; the report names what was drawn"
        raise UsageError("seed", f"'{text}' is no seed", hint) from None
    if not 0 <= seed <= SEED_MAX:
        hint = f"write a whole number from 0 to {SEED_MAX}, or 'random'"
        raise UsageError("seed", f"'{text}' is out of the range of seeds", hint)
    return seed


def finite(seconds: float) -> float:
    """Return `seconds`, or say that it is no length of time: `nan` and `inf` are numbers too."""
    if math.isfinite(seconds):
        return seconds
    raise UsageError("timeout", f"'{seconds}' is no time to wait", "write seconds, such as 30")


def read_jobs(text: str) -> int:
    """Return the number of processes: `auto` is one for each core this process may use."""
    if text == "auto":
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise UsageError("jobs", f"'{text}' is no number of jobs", "write a number from 1, or 'auto'")


def read_profile(name: str) -> str:
    """Return the name of an area, or say which one may have been meant."""
    if name in set(Profile):
        return name
    raise UsageError("no-such-profile", f"there is no area '{name}'", did_you_mean(name, Profile))


def choose(catalogue: Iterable[CheckInfo], patterns: Sequence[str]) -> tuple[CheckInfo, ...]:
    """Return the checks that any of `patterns` names, by ID; all of them without a pattern.

    A pattern is a check ID, a requirement ID, a clause ID, or any of these with `*`, `?` and `[…]`.
    Raises `UsageError` for a pattern that names nothing.
    """
    checks = tuple(catalogue)
    for pattern in patterns:
        if not any(_named(check, pattern) for check in checks):
            names = {name for check in checks for name in _names(check)}
            hint = did_you_mean(_in_full(pattern, names), names)
            raise UsageError("no-such-check", f"no check is named by '{pattern}'", hint)
    return tuple(c for c in checks if not patterns or any(_named(c, each) for each in patterns))


def refuse_left_out(
    catalogue: Iterable[CheckInfo], patterns: Sequence[str], profiles: Sequence[str]
) -> None:
    """Raise UsageError for a pattern that names checks of other areas than `profiles` alone."""
    checks = tuple(catalogue)
    for pattern in patterns:
        named = [check for check in checks if _named(check, pattern)]
        areas = sorted({str(check.profile) for check in named})
        if profiles and not set(areas) & set(profiles):
            which = "area" if len(areas) == 1 else "areas"
            cause = f"{pattern} is of the {which} {', '.join(areas)}, which --profile leaves out"
            hint = f"leave out --profile, or add --profile {areas[0]}"
            raise UsageError("left-out", cause, hint)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known word, or where to find them."""
    names = sorted(known)
    upper = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(word.casefold(), upper, n=1)
    if near:
        return f"did you mean '{upper[near[0]]}'?"
    return "'worker-conformance list' names all checks and areas"


def _in_full(word: str, names: Collection[str]) -> str:
    """Return the name that lacks only zeros or the start of a clause in `word`; else `word`."""
    area, dash, number = word.upper().rpartition("-")
    for name in (f"MWP-{word.upper()}", f"{area}{dash}{number:0>4}", f"{area}{dash}{number:0>3}"):
        if name in names:
            return name
    return word


def console_for(*, no_color: bool | None, stderr: bool = False) -> Console:
    """Return a console that leaves text as it is: no markup, no guessing what to colour.

    `no_color` False colours whatever it is written to, True nothing, None a terminal, unless
    NO_COLOR is set to anything.
    """
    return Console(
        stderr=stderr,
        no_color=no_color,
        force_terminal=True if no_color is False else None,
        color_system="standard" if no_color is False else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def counted(number: int, what: str) -> str:
    """Return `1 check`, `2 checks`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def near(path: Path) -> Path:
    """Return `path` as seen from the working directory, where it lies below that."""
    here = Path.cwd()
    return path.resolve().relative_to(here) if path.resolve().is_relative_to(here) else path


def _names(check: CheckInfo) -> tuple[str, ...]:
    return (check.check_id, check.requirement, *check.clauses)


def _named(check: CheckInfo, pattern: str) -> bool:
    wanted = pattern.upper()
    return any(fnmatchcase(name.upper(), wanted) for name in _names(check))
