"""Worlds that nobody wrote by hand: Hypothesis strategies whose results are Scenarios.

`organizations` draws the still picture (the Agent, its Groups, their WorkItems), `programs` one
step after another from what is possible now, both with the `draw` of a composite strategy. The
result is the same `Scenario` that a vector is: `dump` can write it, and `replay` can play it.
"""

from __future__ import annotations

from worker_conformance.scenario.generation.organizations import Draw, between, draw_organization
from worker_conformance.scenario.generation.programs import draw_action, possible_moves
from worker_conformance.scenario.generation.stage import GroupStage, Stage, WorkStage, is_possible
from worker_conformance.scenario.generation.taste import Taste

__all__ = [
    "Draw",
    "GroupStage",
    "Stage",
    "Taste",
    "WorkStage",
    "between",
    "draw_action",
    "draw_organization",
    "is_possible",
    "possible_moves",
]
