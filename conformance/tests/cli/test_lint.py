"""`lint`: mistakes in vectors are told with their place."""

import shutil
from pathlib import Path

from worker_conformance.resources import vectors_path
from worker_conformance.scenario.loader import vector_files


def test_a_vector_that_cannot_be_read_is_a_finding_with_its_place(command, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("id: X-0001\nfnord: 1\n")
    outcome = command("lint", "bad.yaml")
    assert outcome.code == 1
    assert outcome.out.startswith("bad.yaml:2:1: ")
    assert "hint: " in outcome.out
    assert outcome.out.endswith("1 finding in 1 vector\n")


def test_an_id_that_the_suite_has_already_is_found_in_the_new_file(command, tmp_path: Path) -> None:
    original = vectors_path() / "replay" / "REPLAY-0001.yaml"
    copy = tmp_path / original.parent.name / original.name
    copy.parent.mkdir()
    copy.write_bytes(original.read_bytes())
    outcome = command("lint", str(tmp_path))
    assert outcome.code == 1
    assert "is given twice" in outcome.out
    assert outcome.out.startswith(f"{original.parent.name}/{original.name}:")


def test_only_the_files_named_are_told_about(command, tmp_path: Path) -> None:
    good = vector_files(vectors_path())[0]
    (tmp_path / "bad.yaml").write_text("id: 1\n")
    outcome = command("lint", str(good))
    assert "bad.yaml" not in outcome.out


def test_files_that_are_not_looked_at_are_told(command, tmp_path: Path) -> None:
    original = vectors_path() / "replay" / "REPLAY-0001.yaml"
    (tmp_path / "replay").mkdir()
    for name in ("replay/REPLAY-0999.yaml", "stray.yaml", "replay/short.yml", "requirements.yaml"):
        (tmp_path / name).write_bytes(original.read_bytes())
    told = command("lint", ".").out
    assert "not looked at: 2 files: replay/short.yml, stray.yaml" in told
    assert "in 1 vector\n" in told
    assert "not looked at" not in command("lint").out


def test_a_vector_of_the_suite_that_no_faulty_worker_fails_is_refused(
    command, tmp_path: Path, monkeypatch
) -> None:
    shutil.copytree(vectors_path(), tmp_path / "vectors")
    monkeypatch.setattr("worker_conformance.cli.lint.vectors_path", lambda: tmp_path / "vectors")
    original = tmp_path / "vectors" / "replay" / "REPLAY-0001.yaml"
    idle = original.with_name("REPLAY-0999.yaml")
    idle.write_text(original.read_text("utf-8").replace("REPLAY-0001", "REPLAY-0999"), "utf-8")
    outcome = command("lint", str(idle))
    assert outcome.code == 1
    assert "no faulty Worker is known that it fails" in outcome.out
    assert "no faulty Worker" not in command("lint", str(original)).out
