"""`doctor`: what it finds is shown, and its exit code is the command's."""

import pytest

from worker_conformance.cli import doctor
from worker_conformance.port.doctor import DoctorReport, Finding, Outcome


@pytest.mark.parametrize(("outcome", "code"), [(Outcome.OK, 0), (Outcome.PROBLEM, 3)])
def test_findings_are_shown_and_decide_the_exit_code(
    outcome, code, command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def examined(spec: str, timeout: float) -> DoctorReport:
        assert (spec, timeout) == ("stdio:./w", 2.0)
        return DoctorReport(spec, (Finding("starts", outcome, "it was seen"),), None, code)

    monkeypatch.setattr(doctor, "run_doctor", examined)
    result = command("doctor", "--timeout", "2", "stdio:./w")
    assert result.code == code
    assert "it was seen" in result.out


def test_a_worker_that_is_not_there_is_a_usage_error(command) -> None:
    result = command("doctor", "no_such_module_anywhere:factory")
    assert result.code == 2
    assert "no_such_module_anywhere" in result.out
