from __future__ import annotations

from collections.abc import Callable
from typing import Any


def kinds(effects: list[dict[str, Any]]) -> list[str]:
    return [
        e["frame"].get("command", {}).get("kind", e["frame"]["frameType"])
        if e["type"] == "frame"
        else e["type"]
        for e in effects
    ]


def test_one_work_item_goes_from_offer_to_verification(organization: Callable[..., Any]) -> None:
    org = organization()
    org.open()
    org.effects.clear()
    org.give("a1")
    org.complete("a1")
    assert kinds(org.effects) == [
        "work.accept_offer",
        "disclose",
        "ACK",
        "work.start",
        "ACK",
        "run",
        "disclose",
        "ACK",
        "artifact.publish",
        "work.submit",
        "ACK",
        "release",
        "ACK",
        "ACK",
    ]
    assert org.running() == {}


def test_a_restart_in_the_middle_starts_again_under_a_new_lease(
    organization: Callable[..., Any],
) -> None:
    org = organization()
    org.open()
    org.give("a1")
    first = org.running()["urn:test:item:a1"]["leaseId"]
    org.effects.clear()
    org.restart()
    assert org.running()["urn:test:item:a1"]["leaseId"] != first


def test_replay_after_the_loss_of_the_disk_ends_in_the_same_place(
    organization: Callable[..., Any],
) -> None:
    org = organization(slots=2)
    org.open()
    org.give("a1", "a2")
    org.complete("a1")
    org.effects.clear()
    org.restart(empty=True)
    assert list(org.running()) == ["urn:test:item:a2"]
    assert org.starts() == ["a2", "a2"] or org.starts() == ["a2"]
