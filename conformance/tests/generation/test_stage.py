"""What a generated world may do next."""

from __future__ import annotations

import pytest

from worker_conformance.scenario.generation.stage import GroupStage, Stage, is_possible
from worker_conformance.scenario.model import Forge

GROUP = GroupStage(name="A", events=4, delivered=2)
STAGE = Stage(
    work={}, groups={"A": GROUP}, alive=True, connected=True, automatic=False, wiped=False
)


@pytest.mark.parametrize("how", ["sequence_twin", "id_twin"])
def test_a_twin_is_a_forgery_only_of_what_has_come(how: str) -> None:
    assert is_possible(Forge("A", 2, how), STAGE)
    assert not is_possible(Forge("A", 3, how), STAGE)


def test_any_other_forgery_may_come_before_the_true_event() -> None:
    assert is_possible(Forge("A", 4, "signature"), STAGE)
    assert not is_possible(Forge("A", 5, "signature"), STAGE)
