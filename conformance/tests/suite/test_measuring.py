"""Measuring: what figures there are, and for whom. Never how large one is: no test is timed."""

from __future__ import annotations

import json
import sys

import pytest
from attrs import evolve

from worker_conformance.judge.verdicts import WorkerIdentity
from worker_conformance.port.locate import locate
from worker_conformance.report import figures as page
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.measuring.catalogue import measured
from worker_conformance.suite.measuring.figures import Figure, Measured, Point, shown
from worker_conformance.suite.measuring.rounds import Plan, play_rounds
from worker_conformance.suite.measuring.scene import Scene
from worker_conformance.suite.measuring.stopwatch import Lap

REFERENCE = "reference_worker:factory"
TINY = Plan(backlogs=(2, 5), rounds=1, decisions=3)
OF_EVERYBODY = {
    "decision",
    "decisions",
    "growth",
    "replay",
    "restart",
    "disclosure",
    "disclosed",
    "steps",
    "suite",
}


def measure(spec: str, plan: Plan = TINY) -> tuple[Measured, list[str]]:
    factory, heard = locate(spec), list[str]()
    with Bench(factory) as bench:
        declaration, transport = bench.declaration(), bench.transport
    rounds = play_rounds(factory, plan, heard.append)
    return measured(spec, declaration, transport, plan, rounds), heard


def test_an_object_is_measured_beside_a_process_and_beside_itself_alone() -> None:
    found, heard = measure(REFERENCE)
    assert {one.key for one in found.figures} == OF_EVERYBODY | {"stdio", "bare"}
    assert [one.x for one in found.figures[0].points] == [2, 5]
    assert found.notes == ("Memory is not measured: an object shares its process with the suite.",)
    assert heard[0] == "round 1 of 1"


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is told by /proc")
def test_a_process_is_measured_with_its_memory() -> None:
    found, _ = measure(f"stdio:{sys.executable} -m reference_worker", evolve(TINY, backlogs=(2,)))
    assert {one.key for one in found.figures} == OF_EVERYBODY - {"growth"} | {"memory"}
    (memory,) = [one for one in found.figures if one.key == "memory"]
    assert memory.points[0].median > 1


@pytest.mark.parametrize("kind", ["silent", "refuses_everything"])
def test_a_worker_that_does_not_follow_has_no_figures(kind: str) -> None:
    spec = f"worker_conformance.selftest.null_workers:{kind}"
    found, _ = measure(spec, evolve(TINY, backlogs=(2,)))
    assert found.figures == ()
    assert found.notes[0] == "A backlog of 2 is not measured: the Worker does not hold it."
    assert b"does not hold it" in page.to_html(found)


def test_a_figure_is_the_median_of_its_rounds() -> None:
    assert Point.of(7, [3.0, 1.0, 8.0]) == Point(7, 3.0, 1.0, 8.0)


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.0123449, "0.01234"), (12.3456, "12.35"), (123456, "123,500")]
)
def test_values_are_shown_as_exact_as_they_are(value: float, text: str) -> None:
    assert shown(value) == text


def scene(backlog: int, seconds: float) -> Scene:
    lap = Lap(seconds=seconds, calls=10, events=4)
    return Scene(backlog, backlog, 2, lap, 1.0, 50, lap, evolve(lap, events=0), None, 1.0)


def test_ratios_are_taken_within_a_round() -> None:
    from worker_conformance.suite.measuring.rounds import Round

    rounds = [Round({1: scene(1, fast), 2: scene(2, 3 * fast)}) for fast in (1.0, 100.0)]
    with Bench(locate(REFERENCE)) as bench:
        declaration = bench.declaration()
    found = measured("x:y", declaration, "tcp", Plan((1, 2), 2), rounds)
    (growth,) = [one for one in found.figures if one.key == "growth"]
    assert growth.points == (Point(None, 3.0, 3.0, 3.0),)
    assert "replay" not in {one.key for one in found.figures}  # no Event came: there is no rate
    assert len(found.notes) == 2


HOSTILE = WorkerIdentity("<script>x</script>", "\x1b[31m", "\ud800", None, "a:b", "stdio")


def test_the_files_say_what_was_measured_whatever_a_worker_calls_itself() -> None:
    points = (Point(10, 1.0, 0.5, 2.0), Point(100, 3.0, 3.0, 3.0))
    figure = Figure("decision", "Cost of a decision", "ms", "WorkItems waiting", "About.", points)
    ratio = Figure("bare", "Beside", "ratio", "", "About.", (Point(None, 1.5, 1.5, 1.5),))
    found = Measured(HOSTILE, 1, 3, (figure, ratio), ("A note.",))
    document = json.loads(found.to_json())
    assert document["format"] == "worker-conformance-bench-1"
    assert "busy" in document["caveat"]
    assert document["figures"][0]["points"][1] == {
        "x": 100,
        "median": 3.0,
        "least": 3.0,
        "greatest": 3.0,
    }
    text = page.to_html(found).decode()
    assert "<script>" not in text
    assert "\x1b" not in text
    assert text.count("<svg") == 1
    assert "http" not in text.replace("http-equiv", "")


def test_a_plot_has_a_place_for_each_point_inside_its_frame() -> None:
    points = tuple(Point(10**n, float(n), 0.0, float(2 * n)) for n in range(1, 5))
    plot = page.plot_of(Figure("k", "Title", "ms", "things", "About.", points))
    assert plot is not None
    assert [float(x) for x, _ in plot.dots] == sorted(float(x) for x, _ in plot.dots)
    for x, y in plot.dots:
        assert 0 <= float(x) <= plot.width
        assert 0 <= float(y) <= plot.height
    assert plot.label == "Title in ms over things: 1 at 10, 2 at 100, 3 at 1,000, 4 at 10,000"
    assert page.plot_of(Figure("k", "T", "ms", "x", "A.", points[:1])) is None
