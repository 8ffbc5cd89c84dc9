"""`replay`: vectors judged, Traces shown."""

from pathlib import Path

from worker_conformance.judge.trace import EntryKind, Trace


def test_a_vector_is_judged_and_told_in_full(command, an_engine, tmp_path: Path) -> None:
    (tmp_path / "v.yaml").write_text("id: X\n")
    engine = an_engine("failing")
    outcome = command("replay", "v.yaml", "--worker", "stdio:./w", "--seed", "3", engine=engine)
    assert outcome.code == 1
    assert (engine.asked[0].worker, engine.asked[0].seed) == ("stdio:./w", 3)
    assert "FAIL  REPLAY-0007" in outcome.out
    assert not (tmp_path / "conformance-report").exists()


def test_a_vector_of_the_suite_is_named_by_its_id(command, an_engine) -> None:
    engine = an_engine("failing")
    assert command("replay", "replay-0001", engine=engine).code == 1
    outcome = command("replay", "REPLAY-9999", engine=engine)
    assert (outcome.code, "there is no such file" in outcome.err) == (2, True)
    assert "did you mean 'REPLAY-" in outcome.err
    assert command("replay", "../*", engine=engine).code == 2


def test_a_trace_is_shown_message_by_message(command, tmp_path: Path) -> None:
    trace = Trace("REPLAY-0007", 5)
    trace.append(1, 0, EntryKind.STIMULUS, {"type": "tick", "now": "2026-07-15T00:00:00Z"})
    trace.append(1, 60_000_000, EntryKind.EFFECT, {"type": "run", "note": "\x1b[31m"})
    (tmp_path / "t.jsonl").write_text("\n".join(trace.to_lines()))
    out = command("replay", "t.jsonl", "--show").out
    assert '"now": "2026-07-15T00:00:00Z"' in out
    assert "00:01:00  worker" in out
    assert "\x1b" not in out


def test_what_is_no_trace_is_refused_in_words(command, tmp_path: Path) -> None:
    for content in ("", "{}", "[]", '{"scenario": "x", "seed": 1}\n{"call": 1}'):
        (tmp_path / "t.jsonl").write_text(content)
        outcome = command("replay", "t.jsonl")
        assert (outcome.code, "Traceback" in outcome.err) == (2, False)
        assert "this is no Trace" in outcome.err


def test_another_kind_of_file_is_refused(command, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("")
    outcome = command("replay", "v.txt")
    assert outcome.code == 2
    assert ".jsonl" in outcome.err
