"""`claim` and `verify` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from worker_conformance.suite import checks


@pytest.fixture(autouse=True)
def _the_suite_of_the_stored_results(an_engine, monkeypatch: pytest.MonkeyPatch) -> None:
    result = an_engine().result
    monkeypatch.setattr(checks, "requirement_digest", lambda: result.requirement_digest)
    monkeypatch.setattr(checks, "vector_digest", lambda: result.vector_digest)


def test_a_claim_is_written_and_verified(command, an_engine, tmp_path: Path) -> None:
    engine = an_engine()
    command("run", engine=engine)
    made = command("claim", "conformance-report/result.json", engine=engine)
    assert made.code == 0, made.err
    assert "passes the core Worker areas of suite" in made.out
    folder = tmp_path / "conformance-report"
    assert (folder / "claim.md").read_text("utf-8").startswith("# Claim")
    outcome = command("verify", "conformance-report/claim.json", engine=engine)
    assert (outcome.code, engine.asked[-1].seed) == (0, engine.result.seed)
    assert outcome.out.startswith("Verified: Example Worker 1.4.0 passes the core")


def test_what_differs_has_its_own_line_and_exit_code(command, an_engine) -> None:
    engine = an_engine()
    command("run", engine=engine)
    command("claim", "conformance-report/result.json", "-o", "c.json", engine=engine)
    engine.result = evolve(engine.result, worker=evolve(engine.result.worker, version="2"))
    outcome = command("verify", "c.json", "--worker", "stdio:./here", engine=engine)
    assert outcome.code == 1
    assert "differs  Worker version: claimed 1.4.0, found 2" in outcome.out
    assert engine.asked[-1].worker == "stdio:./here"


def test_another_suite_is_told_before_anything_runs(
    command, an_engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = an_engine()
    command("run", engine=engine)
    command("claim", "conformance-report/result.json", "-o", "c.json", engine=engine)
    monkeypatch.setattr(checks, "vector_digest", lambda: "sha256:" + "9" * 64)
    asked = len(engine.asked)
    outcome = command("verify", "c.json", engine=engine)
    assert (outcome.code, len(engine.asked)) == (5, asked)
    assert "differs  vector set: claimed sha256:b07c" in outcome.out


@pytest.mark.parametrize("name", ["claim", "badge", "verify"])
def test_a_folder_is_answered_with_the_file_in_it(name, command, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    outcome = command(name, "out")
    assert outcome.code == 2
    assert f"name the file: out/{'claim' if name == 'verify' else 'result'}.json" in outcome.err


@pytest.mark.parametrize(("member", "value"), [("quick", True), ("checks", ["REPLAY-0007"])])
def test_a_narrowed_run_is_refused_with_its_reason(
    member, value, command, an_engine, tmp_path: Path
) -> None:
    command("run", engine=an_engine())
    path = tmp_path / "conformance-report" / "result.json"
    document = json.loads(path.read_bytes())
    document["run"]["selection"][member] = value
    path.write_text(json.dumps(document))
    outcome = command("claim", str(path), engine=an_engine())
    assert outcome.code == 1
    assert outcome.err.startswith("no claim: ")
    assert not (path.parent / "claim.json").exists()


@pytest.mark.parametrize("name", ["claim", "verify", "baseline", "badge", "compare"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"schemaVersion": "99"}', b"\x00"])
def test_a_hostile_file_is_one_clear_error(name, content, command, tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    if content is not None:
        file.write_bytes(content)
    arguments = (str(file), str(file)) if name == "compare" else (str(file),)
    outcome = command(name, *arguments)
    assert outcome.code == 2
    assert outcome.err.startswith("usage error [")
    assert "odd.json" in outcome.err
    assert "hint: " in outcome.err
    assert "Traceback" not in outcome.err
