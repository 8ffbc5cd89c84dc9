"""`worker-conformance init`: write a starter, a small adapter that runs and claims nothing yet.

Copies files as they are: what a person gets is what the tests build and examine. Never overwrites
anything, and never builds or runs what it wrote.
"""

import difflib
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

import click
from attrs import frozen

from worker_conformance.cli.options import counted
from worker_conformance.errors import UsageError
from worker_conformance.resources import starters_path


@frozen
class Starter:
    """One language: how its starter is built, how it is reached, and which tools that takes.

    `build` and `spec` are what a person types in the starter's folder.
    """

    title: str
    build: str
    spec: str
    tools: tuple[str, ...]


STARTERS: Mapping[str, Starter] = {
    "python": Starter(
        "Python", "python3 -m py_compile worker.py", "stdio:python3 worker.py", ("python3",)
    ),
    "javascript": Starter(
        "JavaScript", "node --check worker.js", "stdio:node worker.js", ("node",)
    ),
    "rust": Starter("Rust", "cargo build --release", "stdio:target/release/my-worker", ("cargo",)),
    "go": Starter("Go", "go build -o my-worker .", "stdio:./my-worker", ("go",)),
    "java": Starter(
        "Java", "mvn -q package", "stdio:java -jar target/my-worker.jar", ("mvn", "java")
    ),
    "cpp": Starter(
        "C++",
        "cmake -S . -B build && cmake --build build",
        "stdio:build/worker",
        ("cmake", "c++"),
    ),
}

ALIASES: Mapping[str, str] = {
    "c++": "cpp",
    "golang": "go",
    "js": "javascript",
    "node": "javascript",
    "py": "python",
    "rs": "rust",
    "ts": "javascript",  # TypeScript takes plain JavaScript as it is
    "typescript": "javascript",
}


@click.command(short_help="Write a starter: an adapter that runs and claims nothing yet.")
@click.option(
    "--language",
    "-l",
    default="",
    metavar="L",
    help=f"One of {', '.join(STARTERS)}.",
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(language: str, folder: Path) -> int:
    """Write a starter to DIR: an adapter that runs, passes `doctor` and claims nothing yet."""
    name = read_language(language)
    files = starter_files(name)
    _refuse_occupied(folder)
    _write(name, files, folder)
    _tell(STARTERS[name], files, folder)
    return 0


def read_language(text: str) -> str:
    """Return the name of a starter, or raise `UsageError` with the nearest one."""
    known = f"there are starters for {', '.join(STARTERS)}"
    if not text:
        raise UsageError("no-language", "no language is named", f"add --language L; {known}")
    wanted = text.lower()
    name = ALIASES.get(wanted, wanted)
    if name in STARTERS:
        return name
    near = difflib.get_close_matches(wanted, (*STARTERS, *ALIASES), n=1)
    hint = f"did you mean '{near[0]}'?" if near else known
    raise UsageError("no-such-language", f"there is no starter for '{text}'", hint)


def starter_files(name: str) -> tuple[Path, ...]:
    """Return the files of a starter, relative to its folder."""
    source = starters_path() / name
    return tuple(
        path.relative_to(source)
        for path in sorted(source.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts  # left by whoever imported it
    )


def _refuse_occupied(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError("not-a-folder", f"'{folder}' is a file", "name a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(
            "folder-not-empty",
            f"'{folder}' is not empty, and nothing in it is overwritten",
            "name a folder that is empty or does not exist yet",
        )


def _write(name: str, files: tuple[Path, ...], folder: Path) -> None:
    try:
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(starters_path() / name / file, folder / file)
    except OSError as error:
        cause = f"the starter cannot be written: {error.strerror or error}"
        raise UsageError("cannot-write", cause, "name another folder", str(folder)) from None


def _tell(starter: Starter, files: tuple[Path, ...], folder: Path) -> None:
    click.echo(f"{counted(len(files), 'file')} for a Worker in {starter.title}, in {folder}:")
    for file in files:
        click.echo(f"  {file}")
    click.echo("\nNext:")
    click.echo(f"  cd {shlex.quote(str(folder))}")
    click.echo(f"  {starter.build}")
    click.echo(f'  worker-conformance doctor "{starter.spec}"')
    click.echo("\nREADME.md tells what comes then.")
    for tool in missing_tools(starter):
        click.echo(f"Note: there is no '{tool}' on the search path; install it first.")


def missing_tools(starter: Starter) -> list[str]:
    """Return the tools that are not on the search path."""
    return [tool for tool in starter.tools if shutil.which(tool) is None]
