"""Crashes by choice, and Workers that must not outlive a suite that ends in any way."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port.locate import PortFactory, locate
from worker_conformance.port.subprocess_port import StdioPort

PortTo = Callable[..., StdioPort]
IsGone = Callable[[int | None], bool]


def test_a_crash_is_followed_by_a_new_process(port_to: PortTo, tick: JsonObject) -> None:
    port = port_to("well_behaved")
    port.initialize()
    before = port.process_group()
    port.crash()
    assert port.process_group() is None
    port.restart()
    assert port.process_group() != before
    assert port.handle(tick).effects == ()
    port.shutdown()


def test_a_worker_can_be_killed_with_a_request_under_way(
    port_to: PortTo, is_gone: IsGone, tick: JsonObject
) -> None:
    port = port_to("no_answer")
    port.initialize()
    group = port.process_group()
    port.kill_after_send(tick)
    assert is_gone(group)
    port.restart()


def test_a_worker_can_be_killed_when_it_has_answered_and_nobody_has_read(
    port_to: PortTo, tmp_path: Path
) -> None:
    port = port_to("remembers_ticks")
    port.initialize()
    tick = {"type": "start", "now": "2026-07-15T00:00:00Z", "stateDirectory": str(tmp_path)}
    port.handle_unchecked(tick)
    port.kill_before_reading({"type": "tick", "now": "2026-07-15T00:00:00Z"})
    assert (tmp_path / "ticks").read_text() == "1"


def test_killing_before_reading_needs_an_answer_to_come(port_to: PortTo, tick: JsonObject) -> None:
    port = port_to("no_answer")
    port.initialize()
    port.timeout_seconds = 0.2
    with pytest.raises(AdapterError) as caught:
        port.kill_before_reading(tick)
    assert caught.value.code == "timeout"


def test_a_port_that_is_not_up_is_the_suites_fault(port_to: PortTo, tick: JsonObject) -> None:
    with pytest.raises(SuiteError):
        port_to("well_behaved").handle(tick)


def test_an_object_can_be_served_by_a_process(adapters: Path, tick: JsonObject) -> None:
    program = f"import sys; sys.path.insert(0, {str(adapters)!r}); sys.argv[0] = 'serve'; "
    program += "from worker_conformance.port.serve import main; main(['well_behaved:Worker'])"
    port = PortFactory("served", (sys.executable, "-c", program)).open()
    port.initialize()
    assert port.handle(tick).effects == ()
    port.shutdown()


def test_the_factory_of_an_object_offers_a_process_too(adapters: Path) -> None:
    port = locate("well_behaved:Worker").open_process()
    assert port.command[1:] == ("-m", "worker_conformance.port.serve", "well_behaved:Worker")
    assert adapters.is_dir()


SUITE = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and one under nohup this
from worker_conformance.port.subprocess_port import StdioPort
port = StdioPort((sys.executable, "-S", "-E", sys.argv[1]))
port.initialize()
print(port.process_group(), flush=True)
if sys.argv[2] == "exception":
    raise RuntimeError("the suite has a bug")
if sys.argv[2] == "wait":
    signal.pause()
"""
"""A suite in small that never closes its Port."""

ENDS = {
    "it returns": "return",
    "it raises": "exception",
    "SIGINT": signal.SIGINT,
    "SIGTERM": signal.SIGTERM,
    "SIGHUP": signal.SIGHUP,
    "SIGKILL": signal.SIGKILL,
}


@pytest.mark.parametrize("how", list(ENDS.values()), ids=list(ENDS))
def test_no_worker_and_no_child_of_it_outlives_the_suite_however_it_ends(
    how: str | signal.Signals, adapters: Path, is_gone: IsGone
) -> None:
    given = how if isinstance(how, str) else "wait"
    adapter = str(adapters / "leaves_children.py")
    with subprocess.Popen(  # noqa: S603 - our own interpreter and the program above
        [sys.executable, "-c", SUITE, adapter, given],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as suite:
        assert suite.stdout is not None
        group = int(suite.stdout.readline())
        if isinstance(how, signal.Signals):
            suite.send_signal(how)
        try:
            suite.wait(20)
        finally:
            suite.kill()
    assert is_gone(group)
