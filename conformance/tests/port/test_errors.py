"""The suite's failures as values: equality, pickling, exit codes, and how they read."""

import pickle

import pytest

from worker_conformance.errors import (
    AdapterError,
    SuiteError,
    SuiteFailure,
    UsageError,
    VectorError,
    render,
)

FAILURES: list[tuple[SuiteFailure, int]] = [
    (UsageError("no-such-check", "there is no check X", "see list"), 2),
    (VectorError("gap.yaml:14:7", "unknown step 'advence'", "did you mean 'advance'?"), 2),
    (AdapterError("timeout", "no answer", "flush", "stdout line 1"), 3),
    (SuiteError("invalid-message", "a bad stimulus"), 4),
]


@pytest.mark.parametrize(("failure", "exit_code"), FAILURES)
def test_a_failure_has_an_exit_code_and_survives_pickling(
    failure: SuiteFailure, exit_code: int
) -> None:
    copied = pickle.loads(pickle.dumps(failure))  # noqa: S301 - our own bytes
    assert failure.exit_code == exit_code
    assert copied == failure
    assert hash(copied) == hash(failure)
    assert str(copied) == str(failure)


def test_failures_of_different_kinds_or_facts_differ() -> None:
    assert UsageError("a", "b") != AdapterError("a", "b")
    assert UsageError("a", "b") != UsageError("a", "c")
    assert UsageError("a", "b") == UsageError("a", "b")


def test_a_rendered_failure_tells_code_cause_place_and_hint_without_a_traceback() -> None:
    text = render(VectorError("gap.yaml:14:7", "unknown step", "did you mean 'advance'?"))
    assert text.splitlines() == [
        "vector error [vector]: unknown step",
        "  at:   gap.yaml:14:7",
        "  hint: did you mean 'advance'?",
    ]


def test_a_rendered_failure_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in render(AdapterError("not-json", "it said \x1b[2J", "\x07"))


def test_a_fault_of_the_suite_says_whose_fault_it_is() -> None:
    assert "not of the Worker" in render(SuiteError("x", "y"))
