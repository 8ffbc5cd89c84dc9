"""`--restart`: handed on with the address of a server, one job at a time, and refused elsewhere."""

from __future__ import annotations

import pytest

COMMAND = "sh -c 'exit 0'"


def test_the_restart_command_travels_with_the_address_of_the_server(command, an_engine) -> None:
    engine = an_engine()
    command("run", "--worker", "tcp:[::1]:4000", "--restart", COMMAND, "-j", "4", engine=engine)
    (asked,) = engine.asked
    assert asked.worker == """tcp:[::1]:4000 --restart 'sh -c '"'"'exit 0'"'"''"""
    assert asked.jobs == 1


def test_a_vector_is_replayed_against_a_server_that_can_be_restarted(command, an_engine) -> None:
    engine = an_engine()
    server = ("--worker", "tcp:127.0.0.1:4000", "--restart", "again")
    command("replay", "REPLAY-0001", *server, engine=engine)
    assert engine.asked[0].worker == "tcp:127.0.0.1:4000 --restart again"


@pytest.mark.parametrize("line", [("run",), ("replay", "REPLAY-0001"), ("promote", "found.yaml")])
def test_a_restart_command_without_a_server_is_refused(
    command, an_engine, line: tuple[str, ...]
) -> None:
    outcome = command(*line, "--restart", COMMAND, engine=an_engine())
    assert outcome.code == 2
    assert "names none" in outcome.err


def test_doctor_refuses_a_machine_that_is_not_this_one(command) -> None:
    outcome = command("doctor", "tcp:192.0.2.1:4000")
    assert outcome.code == 2
    assert "127.0.0.1" in outcome.out
