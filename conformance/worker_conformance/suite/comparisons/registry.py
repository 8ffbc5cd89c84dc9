"""How each check over several worlds is judged, by its ID. Who they are stands in `catalogue`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from worker_conformance.suite.comparisons import pairs, scenes, sweep, twins
from worker_conformance.suite.comparisons.calibration import judge_calibration
from worker_conformance.suite.comparisons.outcome import Outcome
from worker_conformance.suite.comparisons.stage import Stage

Judge = Callable[[Stage], Outcome]


def _views(where: tuple[str, ...]) -> Judge:
    return lambda stage: pairs.judge_views(stage, scenes.by_id(where))


JUDGES: Mapping[str, Judge] = {
    "PRIV-0001": _views(scenes.WAITING),
    "PRIV-0002": _views(scenes.PREEMPTION),
    "PRIV-0003": _views(scenes.INTERRUPTION),
    "PRIV-0004": _views(scenes.ENDINGS),
    "PRIV-0005": lambda stage: pairs.judge_order(stage, (scenes.telling(),)),
    "PRIV-0006": lambda stage: sweep.judge_positions(sweep.of(stage)),
    "PRIV-0007": lambda stage: sweep.judge_inference(sweep.of(stage)),
    "PRIV-0008": lambda stage: sweep.judge_presence(sweep.of(stage)),
    "PRIV-0009": judge_calibration,
    "TWIN-0001": twins.judge_repetition,
    "TWIN-0002": twins.judge_improvement(twins.CLASS),
    "TWIN-0003": twins.judge_improvement(twins.DEADLINE),
    "TWIN-0004": twins.judge_improvement(twins.WAITING),
}
"""One for each entry of the catalogue."""
