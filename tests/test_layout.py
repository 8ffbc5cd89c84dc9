"""Rules of the whole repository: sizes, independence, and what its texts may not say."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {
    "reference_worker": ROOT / "reference" / "reference_worker",
    "worker_conformance": ROOT / "conformance" / "worker_conformance",
}
FUNCTION_LINES_MAX = 70
MODULE_LINES_MAX = 600

FORBIDDEN_WORDS = re.compile(
    r"(?<![\w.~])/(?:home|root|users|work|tmp)/\w|\.\./shared"
    r"|pypi\.org|files\.pythonhosted|registry\.npmjs",
    re.IGNORECASE,
)
"""Paths of one machine and hosts of registries: the project speaks of itself alone."""

FOREIGN_PATHS_ALLOWED = {".ci/run", "tests/test_layout.py"}


def sources() -> list[Path]:
    return sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py"))


def tracked_texts() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files"],  # noqa: S607 - git is found on the path
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if name not in FOREIGN_PATHS_ALLOWED and path.is_file():
            yield path


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_keep_their_size(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MODULE_LINES_MAX
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES_MAX
    ]
    assert not long


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_responsible_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_the_reference_worker_imports_nothing_of_the_suite() -> None:
    guilty = [
        path
        for path in PACKAGES["reference_worker"].rglob("*.py")
        if any(name.split(".")[0] == "worker_conformance" for name in imported_modules(path))
    ]
    assert not guilty


def test_only_the_selftest_knows_the_reference_worker() -> None:
    package = PACKAGES["worker_conformance"]
    guilty = [
        path
        for path in package.rglob("*.py")
        if package / "selftest" not in path.parents
        and any(name.split(".")[0] == "reference_worker" for name in imported_modules(path))
    ]
    assert not guilty


def test_no_text_names_a_machine_or_a_registry() -> None:
    guilty = []
    for path in tracked_texts():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        guilty += [f"{path.relative_to(ROOT)}: {found}" for found in FORBIDDEN_WORDS.findall(text)]
    assert not guilty


def test_both_packages_have_one_version() -> None:
    versions = {importlib.import_module(package).__version__ for package in PACKAGES}
    declared = re.findall(
        r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M
    )
    assert versions == set(declared)
    assert f"## {declared[0]}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
