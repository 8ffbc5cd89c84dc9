"""The catalogue of checks over several worlds: permanent ID, requirement, level and area of each.

How each is judged stands in `registry`; this page alone is needed to list and explain them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from worker_conformance.scenario.model import Level, Profile


@frozen
class PrivacyInfo:
    """A check's permanent identity; as in `MonitorInfo`."""

    check_id: str
    title: str
    stake: str
    requirement: str
    level: Level
    profile: Profile
    needs: tuple[str, ...] = ()


PRIVACY: Sequence[PrivacyInfo] = (
    PrivacyInfo(
        "PRIV-0001",
        "A neighbour's secrets change nothing for a Group that waits",
        "What a Group sees while it waits is the same byte for byte, whatever others work on.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    PrivacyInfo(
        "PRIV-0002",
        "A neighbour's secrets change nothing for a Group that is preempted",
        "The handing over of a slot, and back, shows nothing of the one who had it in between.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    PrivacyInfo(
        "PRIV-0003",
        "A neighbour's secrets change nothing over crashes, Snapshots and sessions",
        "What is restored from disk and from history is each Group's own.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    PrivacyInfo(
        "PRIV-0004",
        "A neighbour's secrets change nothing when work ends otherwise than planned",
        "Cancellation, failure, leaving and returning, and operations of others leave no trace.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    PrivacyInfo(
        "PRIV-0005",
        "Goals and Messages do not change the order of starts",
        "A Scheduler that reads what work is about serves whoever writes the loudest goals.",
        "WRK-028.b",
        Level.MUST,
        Profile.ISOLATION,
    ),
    PrivacyInfo(
        "PRIV-0006",
        "No number that a Group sees is the global queue position",
        "The exact place in the shared queue tells how much the neighbours have to do.",
        "WRK-012.g",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    PrivacyInfo(
        "PRIV-0007",
        "The backlog of others cannot be read off estimates exactly",
        "Every honest estimate tells something; how much is measured in bits.",
        "WRK-012.i",
        Level.READING,
        Profile.DISCLOSURE,
        ("estimates",),
    ),
    PrivacyInfo(
        "PRIV-0008",
        "The count in Presence does not tell the backlog of others",
        "The schema requires a count that the clause forbids to expose; both can be satisfied.",
        "IDN-006.b",
        Level.READING,
        Profile.DISCLOSURE,
        ("presence",),
    ),
    PrivacyInfo(
        "PRIV-0009",
        "Estimates come true as often as they say, and say something",
        "An estimate that is always wrong, or that excludes nothing, keeps every other rule.",
        "WRK-012.k",
        Level.READING,
        Profile.DISCLOSURE,
        ("estimates",),
    ),
)
"""All of them, in the order of their IDs. IDs are permanent and never used again."""

BY_ID = {info.check_id: info for info in PRIVACY}
