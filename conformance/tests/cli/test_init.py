"""`init`: a starter for each language that builds, passes `doctor`, and claims nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from worker_conformance.cli.init import ALIASES, STARTERS, missing_tools, starter_files
from worker_conformance.port.doctor import run_doctor
from worker_conformance.resources import schemas_path, starters_path

SOURCE_LINES_MAX = 149
BUILD_SECONDS_MAX = 300
SOURCES = {".py", ".js", ".rs", ".go", ".java", ".cpp"}

ABSENT = {
    "rust": re.compile(
        r"no matching package|failed to (?:get|download|load source)|could not choose a version",
        re.I,
    ),
    "java": re.compile(r"in offline mode|could not be resolved", re.I),
    "cpp": re.compile(r"package configuration file provided by", re.I),
}
"""What a build says without a network or a toolchain: of the JSON library, or of itself."""


def stimuli() -> set[str]:
    text = (schemas_path() / "port" / "stimulus.schema.json").read_text(encoding="utf-8")
    return set(re.findall(r'"type": \{\s*"const": "(\w+)"', text))


def sources(language: str) -> list[Path]:
    files = starter_files(language)
    return [starters_path() / language / file for file in files if file.suffix in SOURCES]


@pytest.mark.parametrize("language", STARTERS)
def test_a_starter_has_one_marked_place_for_each_stimulus(language: str) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sources(language))
    places = re.findall(r"TODO\((\w+)\)", text)
    assert sorted(places) == sorted(stimuli())


@pytest.mark.parametrize("language", STARTERS)
def test_a_starter_is_short(language: str) -> None:
    for path in sources(language):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= SOURCE_LINES_MAX


@pytest.mark.parametrize("language", STARTERS)
def test_the_readme_of_a_starter_names_its_two_commands(language: str) -> None:
    text = (starters_path() / language / "README.md").read_text(encoding="utf-8")
    starter = STARTERS[language]
    assert f"\n{starter.build}\n" in text
    assert f'worker-conformance doctor "{starter.spec}"' in text
    assert starter.title in text.splitlines()[0]


@pytest.mark.parametrize("language", STARTERS)
def test_the_readme_of_a_starter_tells_how_to_sign(language: str) -> None:
    text = (starters_path() / language / "README.md").read_text(encoding="utf-8")
    _, signing = text.split("\n## To sign\n")
    assert 'see\n   "To sign" below' in text
    assert "Ed25519" in signing
    assert "RFC 8785" in signing


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_starter_that_needs_no_compiler_passes_doctor(language, command, monkeypatch) -> None:
    written(language, command, monkeypatch)
    examined(language)


@pytest.mark.long  # a compiler's work, the same for every interpreter of ours
@pytest.mark.usefixtures("cargo_without_network")
@pytest.mark.parametrize("language", ["rust", "go", "java", "cpp"])
def test_a_starter_that_is_compiled_builds_and_passes_doctor(
    language, command, monkeypatch, tmp_path
) -> None:
    written(language, command, monkeypatch)
    without_network(language, monkeypatch, tmp_path)
    examined(language)


def written(language: str, command: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = missing_tools(STARTERS[language])
    if lacking:
        pytest.skip(f"{language}: there is no {', no '.join(lacking)} here")
    outcome = command("init", "--language", language, "mine")
    assert outcome.code == 0
    assert STARTERS[language].build in outcome.out
    monkeypatch.chdir("mine")


def examined(language: str) -> None:
    starter = STARTERS[language]
    built = subprocess.run(  # noqa: S602 - a line as a person types it, from our own table
        starter.build,
        shell=True,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS_MAX,
        check=False,
    )
    told = built.stdout + built.stderr
    absent = ABSENT.get(language, re.compile(r"(?!)")).search(told)
    if built.returncode and absent:
        pytest.skip(f"{language}: its starter cannot be built here: {absent[0]}")
    assert built.returncode == 0, told
    report = run_doctor(starter.spec)
    assert report.healthy, report.findings
    assert report.declaration is not None
    assert report.declaration.profiles == frozenset()


def without_network(language: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have the build take what is on this machine; its command stays as it is."""
    if language == "java":
        Path(".mvn").mkdir()
        Path(".mvn/maven.config").write_text("-o\n")
    if language == "go":
        monkeypatch.setenv("GOFLAGS", "-mod=mod")
        monkeypatch.setenv("GOPROXY", "off")
        monkeypatch.setenv("GOCACHE", str(tmp_path / "go-cache"))


def test_a_folder_that_is_not_empty_is_left_alone(command, tmp_path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_text("mine")
    outcome = command("init", "-l", "python", "mine")
    assert outcome.code == 2
    assert "not empty" in outcome.err
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["kept.txt"]


def test_an_empty_folder_and_a_nested_new_one_are_written_to(command, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    assert command("init", "-l", "js", "empty").code == 0
    assert command("init", "-l", "c++", "new/within").code == 0
    assert json.loads((tmp_path / "empty" / "package.json").read_text())["type"] == "module"
    assert (tmp_path / "new" / "within" / "worker.cpp").is_file()


MISTAKES = [
    (("init", "mine"), "no language is named", "python, javascript, rust, go, java, cpp"),
    (("init", "-l", "pyton", "mine"), "no starter for 'pyton'", "did you mean 'python'?"),
    (("init", "-l", "fortran", "mine"), "no starter for 'fortran'", "there are starters for"),
    (("init", "-l", "go"), "missing argument", "--help"),
]


@pytest.mark.parametrize(("arguments", "cause", "hint"), MISTAKES)
def test_a_mistake_writes_nothing_and_is_told(arguments, cause, hint, command, tmp_path) -> None:
    outcome = command(*arguments)
    assert outcome.code == 2
    assert cause in outcome.err
    assert hint in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(command, tmp_path) -> None:
    (tmp_path / "mine").write_text("")
    assert "is a file" in command("init", "-l", "go", "mine").err


def test_a_folder_that_cannot_be_written_is_told(command, monkeypatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "copyfile", refused)
    outcome = command("init", "-l", "go", "mine")
    assert outcome.code == 2
    assert "cannot be written: Permission denied" in outcome.err


def test_every_alias_names_a_starter() -> None:
    assert set(ALIASES.values()) <= set(STARTERS)


def test_a_missing_tool_is_named(command, monkeypatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert "there is no 'cargo' on the search path" in command("init", "-l", "rust", "mine").out
