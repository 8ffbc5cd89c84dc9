"""Mistakes of a person: told in words, with a hint, exit code 2, never a traceback."""

import pytest

from worker_conformance import __version__

MISTAKES = [
    (("rum",), "there is no command 'rum'", "did you mean 'run'?"),
    (("fnord",), "there is no command 'fnord'", "known: badge, baseline"),
    (("run", "--sed", "1"), "no such option '--sed'", "did you mean '--seed'?"),
    (("run", "--seed", "x"), "'x' is no seed", "whole number"),
    (("run", "--seed", "-1"), "'-1' is out of the range of seeds", "from 0 to 9007199254740990"),
    (("run", "--seed", "9007199254740991"), "is out of the range of seeds", "or 'random'"),
    (("replay", "--seed", "-1", "x.yaml"), "'-1' is out of the range of seeds", "or 'random'"),
    (("selftest", "--seed", "-1"), "'-1' is out of the range of seeds", "or 'random'"),
    (("soak", "--seed", "-1"), "'-1' is out of the range of seeds", "or 'random'"),
    (("bench", "--seed", "9" * 23), "is out of the range of seeds", "or 'random'"),
    (("promote", "--seed", "-1", "x.yaml"), "'-1' is out of the range of seeds", "or 'random'"),
    (("run", "--jobs", "0"), "'0' is no number of jobs", "'auto'"),
    (("run", "--jobs", "²"), "is no number of jobs", "'auto'"),
    (("run", "--timeout", "-1"), "--timeout", "--help"),
    (("run", "--timeout", "nan"), "'nan' is no time to wait", "such as 30"),
    (("doctor", "x", "--timeout", "inf"), "'inf' is no time to wait", "such as 30"),
    (("run", "--profile", "replai"), "there is no area 'replai'", "did you mean 'replay'?"),
    (("run", "REPLAY-1"), "no check is named by 'REPLAY-1'", "did you mean 'REPLAY-0001'?"),
    (("explain", "wrk-029"), "named by 'wrk-029'", "did you mean 'MWP-WRK-029'?"),
    (("run", "REPLAY-0070"), "no check is named by 'REPLAY-0070'", "did you mean 'REPLAY-00"),
    (("run", "zzzz"), "no check is named by 'zzzz'", "worker-conformance list"),
    (("run", "-q", "-v"), "--quiet and --verbose", "give one"),
    (("run", "--report"), "--report", "--help"),
    (
        ("run", "--profile", "leases", "REPLAY-0001"),
        "replay-0001 is of the area replay, which --profile leaves out",
        "add --profile replay",
    ),
    (("explain",), "missing argument", "--help"),
    (("explain", "REPLAY-7"), "no check is named", "REPLAY-00"),
    (("list", "--profile", "offline", "REPLAY-*"), "nothing is left to list", "filter"),
    (("replay", "nothing.yaml"), "there is no such file", "explain ID"),
    (("replay", "."), "there is no such file", "explain ID"),
    (("lint", "nothing"), "there are no vectors here", "name a vector"),
    (("doctor",), "missing argument", "--help"),
    (("bench", "--backlog", "many"), "'many' is no list of backlogs", "100,1000"),
    (("bench", "--backlog", "1,2,1000000"), "is no list of backlogs", "100,000"),
    (("bench", "--backlog", "9", "--thorough"), "--thorough and --backlog", "give one"),
    (("soak", "--budget", "soon"), "'soon' is no length of time", "1h30m"),
    (("soak", "--worlds", "0"), "--worlds", "--help"),
    (("soak", "--seed", "x"), "'x' is no seed", "whole number"),
]


@pytest.mark.parametrize(("arguments", "cause", "hint"), MISTAKES, ids=lambda part: str(part)[:40])
def test_a_mistake_is_told_with_its_cause_and_a_hint(
    arguments, cause, hint, command, an_engine
) -> None:
    outcome = command(*arguments, engine=an_engine())
    assert outcome.code == 2
    assert cause in outcome.err.lower() or cause in outcome.err
    assert hint in outcome.err
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_no_command_shows_the_help(command) -> None:
    outcome = command()
    assert outcome.code == 2
    assert "Exit codes" in outcome.out


@pytest.mark.parametrize(
    "name",
    ["run", "list", "explain", "replay", "lint", "doctor", "init", "soak", "bench"],
)
def test_every_command_explains_itself(name, command) -> None:
    outcome = command(name, "--help")
    assert outcome.code == 0
    assert "Usage: worker-conformance" in outcome.out
    assert all(len(line) <= 80 for line in outcome.out.splitlines())


def test_the_version_is_told(command) -> None:
    assert __version__ in command("--version").out
