"""The drawing of a measured series, and its way through the reports."""

from pathlib import Path

from attrs import evolve

from worker_conformance.judge.verdicts import CheckResult, Measurement, RunResult
from worker_conformance.report import html, json_report
from worker_conformance.report.picture import HEIGHT, WIDTH, picture_of

LAG = Measurement("lag", 2.0, 4.0, "dispatches", "", ((0, 0.0), (60, 0.5), (120, 0.25)))
BEYOND = evolve(LAG, series=((0, 0.1), (600, 2.0)))


def with_figure(result: RunResult, measurement: Measurement) -> RunResult:
    first, *others = result.checks
    measured: CheckResult = evolve(first, measurements=(measurement,))
    return evolve(result, checks=(measured, *others))


def test_a_figure_without_a_series_has_no_picture() -> None:
    assert picture_of(evolve(LAG, series=())) is None


def test_the_line_stays_inside_and_below_the_bound() -> None:
    picture = picture_of(LAG)
    assert picture is not None
    points = [tuple(map(float, point.split(","))) for point in picture.points.split()]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    assert points[0][0] < points[1][0] < points[2][0]
    assert all(y > float(picture.bound_y) for _, y in points)
    assert not picture.over


def test_a_series_beyond_its_bound_crosses_the_line_and_says_so() -> None:
    picture = picture_of(BEYOND)
    assert picture is not None
    assert picture.over
    assert float(picture.points.split(",")[-1]) < float(picture.bound_y)
    assert "at most 2.00" in picture.label


def test_the_page_draws_the_series_in_the_colours_of_the_page(passing: RunResult) -> None:
    page = html.to_bytes(with_figure(passing, BEYOND), timing=False).decode()
    assert '<svg class="series over"' in page
    assert "<polyline points=" in page
    assert "stroke=" not in page  # colours come from the style sheet, dark mode included


def test_a_series_survives_the_json_result(tmp_path: Path, passing: RunResult) -> None:
    told = with_figure(passing, LAG)
    json_report.write(told, tmp_path / "result.json")
    assert json_report.read(tmp_path / "result.json") == told
