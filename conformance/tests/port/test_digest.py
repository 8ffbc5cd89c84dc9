"""The digest of an adapter: over the files that its locator names, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from worker_conformance.port.digest import adapter_digest


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("worker.py").write_text("one\n")


def test_a_script_counts_and_the_interpreter_of_the_path_does_not() -> None:
    first = adapter_digest("stdio:python worker.py --fast")
    assert first is not None
    assert first.startswith("sha256:")
    assert adapter_digest("stdio:python3.12 worker.py") == first
    Path("worker.py").write_text("two\n")
    assert adapter_digest("stdio:python worker.py --fast") not in (first, None)


def test_a_program_given_by_its_path_counts() -> None:
    Path("program").write_bytes(b"\x7fELF")
    first = adapter_digest("stdio:./program")
    Path("program").write_bytes(b"\x7fELF2")
    assert None not in (first, adapter_digest("stdio:./program"))
    assert adapter_digest("stdio:./program") != first


def test_a_package_counts_with_all_its_modules() -> None:
    package = Path("package_of_a_worker")
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep" / "part.py").write_text("one\n")
    first = adapter_digest("package_of_a_worker.deep:make")
    (package / "deep" / "part.py").write_text("two\n")
    assert None not in (first, adapter_digest("package_of_a_worker:make"))
    assert adapter_digest("package_of_a_worker:make") != first
    assert "package_of_a_worker" not in sys.modules


@pytest.mark.parametrize(
    "spec",
    [
        "tcp:127.0.0.1:4000",
        "stdio:",
        "stdio:'",
        "stdio:true",
        "nothing_here:f",
        ":",
        "",
        "sys:exit",
    ],
)
def test_what_names_no_file_has_no_digest(spec: str) -> None:
    assert adapter_digest(spec) is None
