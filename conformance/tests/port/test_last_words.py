"""What is told of a Worker's stderr: the error above its stack, and once."""

from pathlib import Path

from worker_conformance.judge.verdicts import Verdict
from worker_conformance.port.line_port import STDERR_LINES_SHOWN, told_of_stderr, without_stderr
from worker_conformance.port.locate import PortFactory
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import scenarios


def test_nothing_is_told_of_an_empty_log() -> None:
    assert told_of_stderr("") == told_of_stderr("\n \n") == ""


def test_a_short_log_is_told_whole_without_its_empty_lines() -> None:
    assert told_of_stderr("one\n\ntwo\n") == "; its stderr ends with:\none\ntwo"


def test_of_a_long_log_the_end_is_told() -> None:
    told = told_of_stderr("\n".join(f"line {n}" for n in range(100)))
    assert told.splitlines()[1] == f"line {100 - STDERR_LINES_SHOWN}"
    assert told.endswith("line 99")


def test_the_error_above_a_long_stack_is_told_with_it() -> None:
    stack = "\n".join(f"    at frame {n}" for n in range(100))
    lines = told_of_stderr(f"started\njava.lang.Error: no such lease\n{stack}").splitlines()
    assert lines[1:3] == ["java.lang.Error: no such lease", "…"]
    assert lines[-1] == "    at frame 99"


def test_a_hint_can_be_had_without_it() -> None:
    assert without_stderr("flush" + told_of_stderr("x")) == "flush"
    assert without_stderr("flush") == "flush"


def test_a_check_that_breaks_the_adapter_tells_its_stderr_once(adapters: Path) -> None:
    factory = PortFactory("", ("python3", str(adapters / "throws_deep_down.py")))
    with Bench(factory) as bench:
        played = bench.play(scenarios()["REPLAY-0001"], 1)
    assert played.verdict is Verdict.ADAPTER_ERROR
    assert played.failure is not None
    assert "TypeError" in played.failure.stderr
    assert "TypeError" not in played.failure.observed
