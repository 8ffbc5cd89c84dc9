"""A Worker that is a server: reached over loopback, restarted by a command, nothing left behind."""

import select
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import AdapterError, UsageError
from worker_conformance.port.doctor import Outcome, run_doctor
from worker_conformance.port.locate import locate, with_restart
from worker_conformance.port.process import ProcessGroup, ServerProcess, living_in_group
from worker_conformance.port.tcp import Address, TcpPort

SERVER = Path(__file__).parent / "adapters" / "server.py"
SECONDS = 10.0

Open = Callable[..., TcpPort]


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[ProcessGroup]:
    """Every restart command that was run, in order."""
    started: list[ProcessGroup] = []
    start = ServerProcess.start

    def noted(command: tuple[str, ...]) -> ServerProcess:
        started.append(start(command))
        return started[-1]  # type: ignore[return-value]  # just put there

    monkeypatch.setattr(ServerProcess, "start", noted)
    return started


@pytest.fixture
def open_port(free_port: int) -> Iterator[Open]:
    """A Port to a server with a habit, which its restart command puts into the background."""
    opened: list[TcpPort] = []

    def make(habit: str = "", command: str | None = None) -> TcpPort:
        restart = in_background(free_port, habit) if command is None else command
        opened.append(
            TcpPort(
                Address("127.0.0.1", free_port),
                tuple(shlex.split(restart)),
                timeout_seconds=SECONDS,
                grace_seconds=0.3,
            )
        )
        return opened[-1]

    yield make
    for port in opened:
        port.close()


@pytest.fixture
def theirs(free_port: int) -> Iterator[ServerProcess]:
    """A server that is up already, and not the suite's."""
    server = ServerProcess.start(tuple(shlex.split(in_background(free_port))))
    wait_for(free_port)
    yield server
    server.end()


def in_background(port: int, habit: str = "") -> str:
    serve = f"{sys.executable} -S -E {SERVER} {port} {habit} &"
    return f"sh -c {shlex.quote(serve)}"


@pytest.mark.usefixtures("no_leaks")
def test_a_server_that_is_not_up_is_brought_up_and_gone_afterwards(
    open_port: Open, groups: list[ProcessGroup], tick: JsonObject, is_gone: Callable[[int], bool]
) -> None:
    port = open_port()
    assert port.initialize().name == "Port test Worker"
    assert port.handle(tick).effects == ()
    assert living_in_group(groups[0].group)
    port.shutdown()
    assert is_gone(groups[0].group)


@pytest.mark.usefixtures("no_leaks")
def test_a_crash_kills_the_server_and_a_restart_brings_up_another(
    open_port: Open, groups: list[ProcessGroup], tick: JsonObject, is_gone: Callable[[int], bool]
) -> None:
    port = open_port()
    port.initialize()
    port.crash()
    assert is_gone(groups[0].group)
    port.restart()
    assert port.handle(tick).effects == ()
    port.shutdown()
    assert len(groups) == 2
    assert is_gone(groups[1].group)


def test_a_server_of_the_user_is_used_and_left_alone(
    open_port: Open, theirs: ServerProcess, tick: JsonObject
) -> None:
    port = open_port(command="false")
    port.initialize()
    port.shutdown()
    again = open_port(command="false")
    again.initialize()
    assert again.handle(tick).effects == ()
    again.shutdown()
    assert living_in_group(theirs.group)


@pytest.mark.usefixtures("no_leaks")
def test_a_refused_connection_is_named_with_what_to_do(open_port: Open) -> None:
    with pytest.raises(AdapterError, match="nothing listens at 127") as caught:
        open_port(command="").initialize()
    assert caught.value.code == "cannot-connect"
    assert "--restart COMMAND" in caught.value.hint


def test_a_server_that_answers_nothing_is_restarted_once(
    open_port: Open, free_port: int, groups: list[ProcessGroup], tick: JsonObject
) -> None:
    mute = ServerProcess.start((sys.executable, "-S", "-E", str(SERVER), str(free_port), "mute"))
    wait_for(free_port)
    serve = f"{sys.executable} -S -E {SERVER} {free_port}"
    port = open_port(command=f"sh -c 'kill -9 {mute.group}; {serve} &'")
    port.timeout_seconds = 1.0
    port.initialize()
    port.timeout_seconds = SECONDS
    assert port.handle(tick).effects == ()
    port.shutdown()
    mute.end()
    assert len(groups) == 2  # the mute one itself, and one restart


BREACHES = [
    ("half-a-line", "timeout", "26 bytes of an unfinished line"),
    ("disconnect", "disconnected", "the disk is full"),
    ("die", "disconnected", "keep the connection open"),
    ("two-answers", "stdout-noise", "connection line 3 is"),
]


@pytest.mark.usefixtures("no_leaks")
@pytest.mark.parametrize(("habit", "code", "says"), BREACHES, ids=[row[0] for row in BREACHES])
def test_a_breach_is_named_and_the_next_life_begins_anew(
    habit: str, code: str, says: str, open_port: Open, tick: JsonObject
) -> None:
    port = open_port(habit)
    port.initialize()
    port.timeout_seconds = 0.3 if code == "timeout" else SECONDS
    with pytest.raises(AdapterError) as caught:
        port.handle(tick)
    assert caught.value.code == code
    assert says in f"{caught.value.cause} {caught.value.hint}"
    port.timeout_seconds = SECONDS
    port.crash()
    port.restart()
    port.shutdown()


@pytest.mark.usefixtures("no_leaks")
def test_a_server_that_keeps_the_connection_after_shutdown_is_named(open_port: Open) -> None:
    port = open_port("stays")
    port.initialize()
    with pytest.raises(AdapterError) as caught:
        port.shutdown()
    assert caught.value.code == "did-not-close"


FAILURES = [
    ("sh -c 'echo no licence >&2; exit 3'", "restart-failed", "exited with status 3", "no licence"),
    ("sleep 60", "restart-timeout", "did not end within 0.3 s", "into the background"),
    ("true", "cannot-connect", "ended well, but nothing listens", "SO_REUSEADDR"),
    ("no-such-command", "cannot-start", "does not start", "by hand"),
]


@pytest.mark.usefixtures("no_leaks")
@pytest.mark.parametrize(("command", "code", "cause", "hint"), FAILURES)
def test_a_restart_command_that_fails_is_named_and_leaves_nothing(
    command: str, code: str, cause: str, hint: str, open_port: Open, groups: list[ProcessGroup]
) -> None:
    port = open_port(command=command)
    port.timeout_seconds = 0.3
    with pytest.raises(AdapterError) as caught:
        port.initialize()
    assert caught.value.code == code
    assert cause in caught.value.cause
    assert hint in caught.value.hint
    assert not any(living_in_group(group.group) for group in groups)


@pytest.mark.usefixtures("theirs")
def test_without_a_restart_command_a_crash_cannot_be_survived_and_says_so(open_port: Open) -> None:
    port = open_port(command="")
    port.initialize()
    port.crash()
    with pytest.raises(AdapterError) as caught:
        port.restart()
    assert caught.value.code == "cannot-restart"


@pytest.mark.usefixtures("no_leaks")
def test_a_stimulus_is_sent_and_the_server_killed_before_it_is_read(
    open_port: Open, tick: JsonObject
) -> None:
    port = open_port()
    port.initialize()
    port.kill_before_reading(tick)
    port.restart()
    port.kill_after_send(tick)
    port.restart()
    port.shutdown()


def test_what_a_server_logs_is_kept_as_its_stderr(open_port: Open, tick: JsonObject) -> None:
    port = open_port("disconnect")
    port.initialize()
    with pytest.raises(AdapterError):
        port.handle(tick)
    assert "the disk is full" in port.stderr_tail()


@pytest.mark.usefixtures("no_leaks")
def test_the_examination_passes_a_server_that_can_be_restarted(free_port: int) -> None:
    spec = with_restart(f"tcp:127.0.0.1:{free_port}", in_background(free_port))
    report = run_doctor(spec, SECONDS)
    assert report.healthy, report.findings
    assert "exits at the end of its input" not in [finding.name for finding in report.findings]


@pytest.mark.usefixtures("theirs")
def test_the_examination_skips_the_restart_of_a_server_that_nothing_restarts(
    free_port: int,
) -> None:
    report = run_doctor(f"tcp:127.0.0.1:{free_port}", SECONDS)
    assert report.healthy, report.findings
    skipped = [each.name for each in report.findings if each.outcome is Outcome.SKIPPED]
    assert skipped == ["restarts after a crash"]


MISTAKES = [
    ("tcp:", "tcp-address"),
    ("tcp:4000", "tcp-address"),
    ("tcp:127.0.0.1:http", "tcp-address"),
    ("tcp:127.0.0.1:0", "tcp-address"),
    ("tcp:127.0.0.1:70000", "tcp-address"),
    ("tcp:127.0.0.1:4000 --restrt true", "tcp-address"),
    ("tcp:127.0.0.1:4000 --restart", "tcp-address"),
    ("tcp:127.0.0.1:4000 --restart ''", "command-line"),
    ("tcp:127.0.0.1:4000 --restart no-such-command", "command-not-found"),
    ("tcp:192.0.2.1:4000", "not-loopback"),
    ("tcp:example.org:4000", "not-loopback"),
]


@pytest.mark.parametrize(("spec", "code"), MISTAKES)
def test_a_mistake_in_the_address_is_named_before_anything_runs(spec: str, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        locate(spec)
    assert caught.value.code == code


def test_a_restart_command_is_for_servers_alone() -> None:
    with pytest.raises(UsageError, match="names none"):
        with_restart("stdio:./worker", "true")
    assert with_restart("stdio:./worker", "") == "stdio:./worker"


def test_an_address_is_read_with_its_restart_command() -> None:
    factory = locate(with_restart("tcp:[::1]:4000", "sh -c 'exit 0'"))
    assert factory.address == Address("::1", 4000)
    assert factory.command == ("sh", "-c", "exit 0")
    assert factory.transport == "tcp"
    assert factory.describe() == "the server at [::1]:4000, restarted by 'sh -c 'exit 0''"


def wait_for(port: int) -> None:
    for _ in range(1000):
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        select.select([], [], [], 0.01)
    pytest.fail("the server did not come up")
