"""The in-process transport: isolation of both sides, and whose fault an exception is."""

import contextlib
import enum
import json
import signal
import threading
from collections.abc import Callable

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.documents.strict_json import parse
from worker_conformance.errors import AdapterError, SuiteError
from worker_conformance.port import alarm
from worker_conformance.port.contract import HookNotSupported
from worker_conformance.port.in_process import InProcessPort
from worker_conformance.port.isolation import NotJson, isolated, isolated_json

NOW = "2026-07-15T00:00:00Z"
DECLARATION = {"portVersion": "1", "name": "W", "version": "1", "language": "C", "profiles": []}


class Scripted:
    """A Worker whose `handle` is given, and which keeps what it saw and returned."""

    def __init__(self, handle: Callable[[JsonObject], object]) -> None:
        self.seen: list[JsonObject] = []
        self._handle = handle

    def initialize(self, params: JsonObject) -> JsonObject:
        self.seen.append(params)
        return DECLARATION  # type: ignore[return-value]

    def handle(self, stimulus: JsonObject) -> JsonObject:
        self.seen.append(stimulus)
        return self._handle(stimulus)  # type: ignore[return-value]

    def shutdown(self) -> JsonObject:
        return {}


def port_to(handle: Callable[[JsonObject], object]) -> tuple[InProcessPort, Scripted]:
    worker = Scripted(handle)
    port = InProcessPort(lambda: worker)
    port.initialize()
    return port, worker


def test_neither_side_can_change_what_the_other_holds() -> None:
    kept: JsonObject = {"frameType": "ACK", "list": [1]}
    port, worker = port_to(lambda _: {"effects": [{"type": "frame", "frame": kept}]})
    stimulus: JsonObject = {"type": "frames", "now": NOW, "frames": [{"frameType": "EVENT"}]}
    answer = port.handle(stimulus)
    kept["list"].append(2)  # type: ignore[union-attr]
    worker.seen[-1]["frames"].clear()  # type: ignore[union-attr]
    assert answer.effects[0]["frame"] == {"frameType": "ACK", "list": [1]}
    assert stimulus["frames"] == [{"frameType": "EVENT"}]


def test_an_exception_is_the_workers_fault_and_tells_where_it_was_raised() -> None:
    def fail(_: JsonObject) -> None:
        raise ValueError("no journal")

    port, _ = port_to(fail)
    with pytest.raises(AdapterError) as caught:
        port.handle({"type": "tick", "now": NOW})
    assert caught.value.code == "raised"
    assert "ValueError: no journal" in caught.value.cause
    assert "in fail" in caught.value.cause
    assert "in_process.py:" not in caught.value.cause.replace("test_in_process.py:", "")


def loop(_: JsonObject) -> None:
    while True:
        pass


def wait(_: JsonObject) -> None:
    threading.Event().wait()


def catch_whatever_comes(_: JsonObject) -> None:
    with contextlib.suppress(BaseException):
        wait(_)
    loop(_)


@pytest.mark.parametrize("hang", [loop, wait, catch_whatever_comes])
def test_a_call_that_does_not_return_is_interrupted(
    hang: Callable[[JsonObject], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alarm, "AGAIN_SECONDS", 0.05)
    port, _ = port_to(hang)
    port.timeout_seconds = 0.05
    with pytest.raises(AdapterError) as caught:
        port.handle({"type": "tick", "now": NOW})
    assert caught.value.code == "timeout"
    assert "no answer to handle 'tick' within 0.05 s" in caught.value.cause
    assert f"in {hang.__name__}" in caught.value.cause
    assert "alarm.py" not in caught.value.cause
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_another_ones_alarm_is_left_alone() -> None:
    left: list[float] = []

    def look(_: JsonObject) -> JsonObject:
        left.append(signal.getitimer(signal.ITIMER_REAL)[0])
        return {"effects": []}

    port, _ = port_to(look)
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 3600)
        port.handle({"type": "tick", "now": NOW})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert left[0] > port.timeout_seconds


def test_an_exception_with_the_code_of_an_unsupported_hook_is_none() -> None:
    class UnsupportedError(Exception):
        code = -32001

    def refuse(_: JsonObject) -> None:
        raise UnsupportedError

    port, _ = port_to(refuse)
    with pytest.raises(HookNotSupported) as caught:
        port.handle({"type": "tick", "now": NOW})
    assert caught.value.stimulus_type == "tick"


def test_a_result_that_is_no_json_is_the_workers_fault() -> None:
    port, _ = port_to(lambda _: {"effects": {1, 2}})
    with pytest.raises(AdapterError, match="'set'") as caught:
        port.handle({"type": "tick", "now": NOW})
    assert caught.value.code == "not-json"


def test_a_stimulus_out_of_form_is_the_suites_fault_and_never_reaches_the_worker() -> None:
    port, worker = port_to(lambda _: {"effects": []})
    with pytest.raises(SuiteError):
        port.handle({"type": "tick"})
    with pytest.raises(SuiteError):
        port.handle({"type": "tick", "now": NOW, "x": float("nan")})
    assert len(worker.seen) == 1


def test_a_crash_drops_the_object_and_a_restart_makes_another() -> None:
    made: list[Scripted] = []

    def factory() -> Scripted:
        made.append(Scripted(lambda _: {"effects": []}))
        return made[-1]

    port = InProcessPort(factory)
    port.initialize()
    port.crash()
    with pytest.raises(SuiteError):
        port.handle({"type": "tick", "now": NOW})
    port.restart()
    port.handle({"type": "tick", "now": NOW})
    port.shutdown()
    port.shutdown()
    assert [len(worker.seen) for worker in made] == [1, 2]


def test_a_shutdown_that_answers_nothing_is_refused() -> None:
    port, worker = port_to(lambda _: {"effects": []})
    worker.shutdown = lambda: None  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(AdapterError, match="shutdown"):
        port.shutdown()


class Colour(enum.StrEnum):
    RED = "red"


SAME_AS_TEXT: dict[str, object] = {
    "nested": {"a": [{"b": [1, 2.5, True, None, "ä"]}], "": {}},
    "a tuple": (1, (2, 3)),
    "an enumeration": {"colour": Colour.RED},
    "an unsafe integer": 2**60 + 1,
    "a whole float": 3.0,
}


@pytest.mark.parametrize("name", SAME_AS_TEXT)
def test_a_value_passes_as_its_text_would(name: str) -> None:
    value = SAME_AS_TEXT[name]
    copied, parsed = isolated(value), parse(json.dumps(value))
    assert copied == parsed
    assert json.dumps(copied) == json.dumps(parsed)


@pytest.mark.parametrize("name", SAME_AS_TEXT)
def test_what_is_built_of_json_values_is_copied_alike(name: str) -> None:
    value = {"value": SAME_AS_TEXT[name]}
    copied = isolated_json(value)  # type: ignore[arg-type]  # tuples and enumerations too
    assert copied == isolated(value)
    assert json.dumps(copied) == json.dumps(isolated(value))
    assert copied is not value


def test_a_number_that_is_not_finite_is_refused_also_in_haste() -> None:
    with pytest.raises(NotJson):
        isolated_json({"value": float("nan")})


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


NO_JSON: dict[str, tuple[object, str]] = {
    "a set": ({1}, "not-json"),
    "bytes": (b"x", "not-json"),
    "an infinity": ([float("inf")], "not-json"),
    "an integer beyond binary64": (10**400, "not-json"),
    "half a surrogate pair": ("\ud800", "not-json"),
    "half a surrogate pair in a name": ({"\ud800": 1}, "not-json"),
    "a name that is no string": ({1: 2}, "not-json"),
    "129 levels": (deep(129), "too-deep"),
}


@pytest.mark.parametrize("name", NO_JSON)
def test_what_no_text_can_carry_is_refused(name: str) -> None:
    value, code = NO_JSON[name]
    with pytest.raises(NotJson) as caught:
        isolated(value)
    assert caught.value.code == code


def test_128_levels_pass_as_they_do_over_stdio() -> None:
    assert isolated(deep(128)) == deep(128)
