"""Every way to break the transport: named, in bounded time, and leaving nothing behind."""

from collections.abc import Callable

import pytest
from attrs import frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import AdapterError, SuiteError, render
from worker_conformance.port.subprocess_port import StdioPort

PortTo = Callable[..., StdioPort]
IsGone = Callable[[int | None], bool]


@frozen
class Breach:
    """An adapter, the error it has to cause, and what the error has to say."""

    adapter: str
    code: str
    says: str
    timeout_seconds: float = 10.0


IN_HANDLE = [
    Breach("no_answer", "timeout", "flush stdout", 0.3),
    Breach("slow", "timeout", "within 0.1 s", 0.1),
    Breach("half_a_line", "timeout", "30 bytes of an unfinished line", 0.3),
    Breach("endless_stderr", "timeout", "the disk is full", 0.5),
    Breach("two_answers", "stdout-noise", 'stdout line 3 is \'{"jsonrpc"'),
    Breach("wrong_id", "wrong-id", "carries the id 77, the request 2"),
    Breach("endless_line", "line-too-long", "16777216 bytes"),
    Breach("invalid_utf8", "invalid-utf8", r"\xe9t\xe9"),
    Breach("byte_order_mark", "byte-order-mark", r"\xef\xbb\xbf"),
    Breach("deep_nesting", "too-deep", "'[[[[[["),
    Breach("huge_number", "not-json", "beyond binary64"),
    Breach("duplicate_members", "not-json", "'id' occurs more than once"),
    Breach("bare_result", "not-json-rpc", '{"effects": []}'),
    Breach("unknown_member", "not-port-envelope", "mood"),
    Breach("error_response", "error-response", "the journal is locked"),
    Breach("exits_in_handle", "exited", "exited with status 7"),
    Breach("exits_in_the_middle_of_a_line", "exited", "exited with status 7"),
    Breach("closes_stdout", "closed-stdout", "lives on"),
]

IN_INITIALIZE = [
    Breach("endless_stdout", "not-json", "stdout line 1 is 'starting up'"),
    Breach("banner", "not-json", r"stdout line 1 is 'Example Worker 1.4.0 \x1b[32mready\x1b[0m'"),
    Breach("exits_at_once", "exited", "configuration missing"),
    Breach("closes_stdin", "timeout", "no answer to 'initialize'", 0.5),
    Breach("other_port_version", "port-version", "version '2'"),
]


def names(breaches: list[Breach]) -> list[str]:
    return [breach.adapter for breach in breaches]


@pytest.mark.usefixtures("no_leaks")
@pytest.mark.parametrize("breach", IN_HANDLE, ids=names(IN_HANDLE))
def test_a_breach_in_handle_is_named_and_leaves_nothing(
    breach: Breach, port_to: PortTo, is_gone: IsGone, tick: JsonObject
) -> None:
    port = port_to(breach.adapter)
    port.initialize()
    port.timeout_seconds = breach.timeout_seconds
    group = port.process_group()
    with pytest.raises(AdapterError) as caught:
        port.handle(tick)
    port.close()
    assert caught.value.code == breach.code
    assert breach.says in f"{caught.value.cause}\n{caught.value.hint}"
    assert is_gone(group)


@pytest.mark.usefixtures("no_leaks")
@pytest.mark.parametrize("breach", IN_INITIALIZE, ids=names(IN_INITIALIZE))
def test_a_breach_in_initialize_is_named_and_leaves_nothing(
    breach: Breach, port_to: PortTo
) -> None:
    port = port_to(breach.adapter, breach.timeout_seconds)
    with pytest.raises(AdapterError) as caught:
        port.initialize()
    assert caught.value.code == breach.code
    assert breach.says in f"{caught.value.cause}\n{caught.value.hint}"
    assert port.process_group() is None


def test_no_error_carries_a_control_character_to_the_terminal(port_to: PortTo) -> None:
    with pytest.raises(AdapterError) as caught:
        port_to("banner").initialize()
    assert all(c.isprintable() or c == "\n" for c in render(caught.value))


def test_a_command_that_cannot_run_is_named() -> None:
    with pytest.raises(AdapterError) as caught:
        StdioPort(("/no/such/program",)).initialize()
    assert caught.value.code == "cannot-start"


def test_a_slow_answer_within_the_timeout_is_an_answer(port_to: PortTo, tick: JsonObject) -> None:
    port = port_to("slow")
    port.initialize()
    assert port.handle(tick).effects == ()


def test_a_worker_that_dies_after_its_answer_is_found_dead_at_the_next_call(
    port_to: PortTo, tick: JsonObject
) -> None:
    port = port_to("exits_after_answer")
    port.initialize()
    port.handle(tick)
    with pytest.raises(AdapterError) as caught:
        port.handle(tick)
    assert caught.value.code == "exited"


def test_a_long_stderr_neither_blocks_the_worker_nor_fills_the_memory(
    port_to: PortTo, tick: JsonObject
) -> None:
    port = port_to("talkative_stderr")
    port.initialize()
    port.handle(tick)
    tail = port.stderr_tail()
    assert tail.endswith("xxx\nlast words\n")
    assert len(tail) <= 64 * 1024
    assert port.stderr_tail() == ""


def test_stderr_outlives_the_process(port_to: PortTo) -> None:
    port = port_to("exits_at_once")
    with pytest.raises(AdapterError):
        port.initialize()
    assert port.stderr_tail() == "configuration missing\n"


def test_an_exit_status_at_shutdown_is_named(port_to: PortTo) -> None:
    port = port_to("exits_badly_at_shutdown")
    port.initialize()
    with pytest.raises(AdapterError, match="exited with status 7") as caught:
        port.shutdown()
    assert caught.value.code == "exit-status"


def test_a_worker_that_ignores_shutdown_and_sigterm_is_killed_and_named(
    port_to: PortTo, is_gone: IsGone
) -> None:
    port = port_to("stays_after_shutdown")
    port.initialize()
    group = port.process_group()
    with pytest.raises(AdapterError) as caught:
        port.shutdown()
    assert caught.value.code == "did-not-exit"
    assert is_gone(group)
    port.shutdown()  # idempotent


@pytest.mark.parametrize("end", ["shutdown", "crash", "close"])
def test_children_left_in_the_group_end_with_it(
    end: str, port_to: PortTo, is_gone: IsGone, living: Callable[[int | None], tuple[int, ...]]
) -> None:
    port = port_to("leaves_children")
    port.initialize()
    group = port.process_group()
    assert len(living(group)) == 2
    getattr(port, end)()
    assert is_gone(group)


def test_a_changed_declaration_after_a_restart_is_refused(port_to: PortTo) -> None:
    port = port_to("changes_its_declaration")
    port.initialize()
    port.crash()
    with pytest.raises(AdapterError, match="version was") as caught:
        port.restart()
    assert caught.value.code == "declaration-changed"


def test_an_interrupt_in_the_middle_of_a_call_ends_the_process(
    port_to: PortTo, is_gone: IsGone, tick: JsonObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = port_to("well_behaved")
    port.initialize()
    group = port.process_group()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("worker_conformance.port.line_port.read_response", interrupted)
    with pytest.raises(KeyboardInterrupt):
        port.handle(tick)
    assert is_gone(group)


UNSENDABLE: dict[str, object] = {
    "no JSON": {"x"},
    "an infinity": float("inf"),
    "half a surrogate pair": "\ud800",
    "too long a line": "x" * (16 * 1024 * 1024),
}


@pytest.mark.parametrize("content", UNSENDABLE.values(), ids=list(UNSENDABLE))
def test_a_request_that_no_line_can_carry_is_the_suites_fault(
    content: object, port_to: PortTo, tick: JsonObject
) -> None:
    port = port_to("well_behaved")
    port.initialize()
    with pytest.raises(SuiteError):
        port.handle({**tick, "type": "frames", "frames": [{"content": content}]})
