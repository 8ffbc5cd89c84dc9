"""The catalogue of checks that compare worlds: permanent ID, requirement, level and area of each.

How each is judged stands in `registry`; this page alone is needed to list and explain them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from worker_conformance.scenario.model import Level, Profile


@frozen
class ComparisonInfo:
    """A check's permanent identity; as in `MonitorInfo`."""

    check_id: str
    title: str
    stake: str
    requirement: str
    level: Level
    profile: Profile
    needs: tuple[str, ...] = ()


COMPARISONS: Sequence[ComparisonInfo] = (
    ComparisonInfo(
        "PRIV-0001",
        "A neighbour's secrets change nothing for a Group that waits",
        "What a Group sees while it waits is the same byte for byte, whatever others work on.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    ComparisonInfo(
        "PRIV-0002",
        "A neighbour's secrets change nothing for a Group that is preempted",
        "The handing over of a slot, and back, shows nothing of the one who had it in between.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    ComparisonInfo(
        "PRIV-0003",
        "A neighbour's secrets change nothing over crashes, Snapshots and sessions",
        "What is restored from disk and from history is each Group's own.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    ComparisonInfo(
        "PRIV-0004",
        "A neighbour's secrets change nothing when work ends otherwise than planned",
        "Cancellation, failure, leaving and returning, and operations of others leave no trace.",
        "WRK-012.h",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    ComparisonInfo(
        "PRIV-0005",
        "Goals and Messages do not change the order of starts",
        "A Scheduler that reads what work is about serves whoever writes the loudest goals.",
        "WRK-028.b",
        Level.MUST,
        Profile.ISOLATION,
    ),
    ComparisonInfo(
        "PRIV-0006",
        "No number that a Group sees is the global queue position",
        "The exact place in the shared queue tells how much the neighbours have to do.",
        "WRK-012.g",
        Level.MUST,
        Profile.DISCLOSURE,
    ),
    ComparisonInfo(
        "PRIV-0007",
        "The backlog of others cannot be read off estimates exactly",
        "Every honest estimate tells something; how much is measured in bits.",
        "WRK-012.i",
        Level.READING,
        Profile.DISCLOSURE,
        ("estimates",),
    ),
    ComparisonInfo(
        "PRIV-0008",
        "The count in Presence does not tell the backlog of others",
        "The schema requires a count that the clause forbids to expose; both can be satisfied.",
        "IDN-006.b",
        Level.READING,
        Profile.DISCLOSURE,
        ("presence",),
    ),
    ComparisonInfo(
        "PRIV-0009",
        "Estimates come true as often as they say, and say something",
        "An estimate that is always wrong, or that excludes nothing, keeps every other rule.",
        "WRK-012.k",
        Level.READING,
        Profile.DISCLOSURE,
        ("estimates",),
    ),
    ComparisonInfo(
        "TWIN-0001",
        "Who declares to be deterministic does the same twice",
        "What cannot be repeated cannot be debugged, and comparisons of worlds show nothing of it.",
        "WRK-010.a",
        Level.READING,
        Profile.SCHEDULING,
    ),
    ComparisonInfo(
        "TWIN-0002",
        "A higher class never makes an item later",
        "One item of a queue is raised to a class in which nothing else waits.",
        "WRK-010.d",
        Level.SHOULD,
        Profile.SCHEDULING,
    ),
    ComparisonInfo(
        "TWIN-0003",
        "A nearer deadline never makes an item later",
        "One item of a queue is given a deadline before that of its equals.",
        "WRK-010.e",
        Level.SHOULD,
        Profile.SCHEDULING,
    ),
    ComparisonInfo(
        "TWIN-0004",
        "A longer wait never makes an item later",
        "One item of a queue is offered before its equals instead of with them.",
        "WRK-010.f",
        Level.SHOULD,
        Profile.SCHEDULING,
    ),
)
"""All of them, in the order of their IDs. IDs are permanent and never used again."""

BY_ID = {info.check_id: info for info in COMPARISONS}

SWEPT = frozenset({"PRIV-0006", "PRIV-0007", "PRIV-0008"})
"""Those that look at the same sweep of worlds."""
