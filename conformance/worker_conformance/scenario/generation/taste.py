"""Tastes: what a family of worlds is about, as weights.

A taste makes what it is about likely and never certain; a weight of 0 leaves a move or a kind of
WorkItem out. Never draws anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, field, frozen


@frozen
class Taste:
    """How worlds of one family are drawn.

    `moves` weighs the moves of `programs`, `work` the kinds of WorkItems of `organizations`.
    `groups`, `items`, `slots` and `steps` are inclusive ranges.
    """

    name: str
    moves: Mapping[str, int]
    work: Mapping[str, int]
    groups: tuple[int, int] = (1, 2)
    items: tuple[int, int] = (3, 5)
    slots: tuple[int, int] = (1, 2)
    steps: tuple[int, int] = (16, 30)
    quotas: bool = False
    manual: bool = field(default=False)


ORDINARY_WORK: Mapping[str, int] = {"ordinary": 3, "long": 2, "gated": 3, "dependent": 4}

_ARRIVALS = {"arrive": 10, "flood": 2}
_PROGRESS = {"advance": 12, "accept_result": 8, "grant": 8, "grant_again": 4, "unblock": 8}

CALM = Taste(
    "calm",
    {
        **_ARRIVALS,
        **_PROGRESS,
        "accept_result": 16,
        "blocked": 4,
        "challenge": 14,
        **dict.fromkeys(("message", "weight"), 1),
    },
    {**ORDINARY_WORK, "slow_safe_point": 1},
    items=(3, 4),
)
"""Work comes, is done and verified. Nothing goes wrong: the ground for comparing two runs."""

NEIGHBOURS = evolve(CALM, name="neighbours", groups=(2, 2))
"""As calm, and never with one Group alone: for what one Group's trouble is to another."""

EVERYTHING = Taste(
    "everything",
    {
        **_ARRIVALS,
        **_PROGRESS,
        **dict.fromkeys(
            ("message", "extension", "offer", "extend_offer", "withdraw", "race", "taken"), 2
        ),
        **dict.fromkeys(("offer_other", "revise", "fail", "cancel", "promote"), 2),
        **dict.fromkeys(("cancel_mission", "terminate_mission"), 1),
        **dict.fromkeys(("replace_coordinator", "move_membership", "end_membership"), 1),
        **dict.fromkeys(("class", "challenge", "weight", "quota", "policy_gate", "limits"), 2),
        **dict.fromkeys(("progress", "blocked", "failed", "completed", "safe_point"), 2),
        **dict.fromkeys(("late_report", "answer", "silence", "ping"), 2),
        **dict.fromkeys(("crash", "stop", "wipe", "truncate", "cut", "cut_group"), 2),
        **dict.fromkeys(("manual", "deliver", "again", "ahead", "forge"), 2),
        **dict.fromkeys(("start", "heal", "heal_group", "automatic"), 14),
    },
    {
        **ORDINARY_WORK,
        **dict.fromkeys(("slow_safe_point", "manual_safe_point", "endless", "retrying"), 1),
        **dict.fromkeys(("short_offer", "short_ownership", "short_lease", "unsuited"), 1),
    },
    quotas=True,
)
"""Every move and every kind of WorkItem."""

NETWORK = Taste(
    "network",
    {
        **_ARRIVALS,
        **_PROGRESS,
        **dict.fromkeys(("message", "extension", "ping", "forge", "crash"), 2),
        **dict.fromkeys(("deliver", "again", "ahead"), 8),
        **dict.fromkeys(("manual", "cut", "cut_group"), 3),
        **dict.fromkeys(("heal", "heal_group", "automatic", "start"), 10),
    },
    {"ordinary": 6, "long": 2, "gated": 1},
    groups=(1, 3),
    manual=True,
)
"""Events come late, twice, out of order, over links that break."""

SESSIONS = Taste(
    "sessions",
    {
        **_ARRIVALS,
        **_PROGRESS,
        **dict.fromkeys(("crash", "cut", "stop"), 4),
        **dict.fromkeys(("wipe", "truncate"), 8),
        **dict.fromkeys(("silence", "blocked", "class"), 3),
        **dict.fromkeys(("start", "heal"), 16),
        "manual": 2,
        "deliver": 2,
        "automatic": 8,
    },
    {**ORDINARY_WORK, "slow_safe_point": 1, "short_lease": 1},
)
"""Runtime sessions end and begin at every moment, with and without the disk."""

ENDINGS = Taste(
    "endings",
    {
        **_ARRIVALS,
        **_PROGRESS,
        "flood": 0,
        "unheard": 14,
        **dict.fromkeys(("withdraw", "offer"), 12),
        "taken": 6,
        **dict.fromkeys(("race", "offer_other", "extend_offer"), 3),
        **dict.fromkeys(("revise", "fail", "cancel", "promote"), 3),
        **dict.fromkeys(("cancel_mission", "terminate_mission"), 1),
        "end_membership": 8,
        "move_membership": 24,
        "silence": 20,
        "late_report": 3,
        **dict.fromkeys(("manual", "deliver"), 2),
        "automatic": 8,
    },
    {
        **ORDINARY_WORK,
        **dict.fromkeys(("short_offer", "short_ownership", "short_lease", "endless"), 2),
    },
    groups=(2, 3),
)
"""Offers, ownership, Memberships and Missions end, often while a Command is under way."""

GATES = Taste(
    "gates",
    {
        **_ARRIVALS,
        **_PROGRESS,
        "flood": 8,
        "grant": 8,
        "grant_again": 1,
        "grant_briefly": 12,
        "policy_gate": 4,
        "offer": 20,
        "fail": 1,
        "manual": 8,
        "deliver": 12,
        "automatic": 5,
        "crash": 2,
        "start": 16,
    },
    {"gated": 5, "gated_briefly_owned": 5, "policy_gated": 2, "long": 6, "dependent": 1},
    groups=(1, 1),
    slots=(1, 1),
    items=(4, 6),
)
"""Approvals are granted, run out, and belong to an ownership that is over."""

CONTENTION = Taste(
    "contention",
    {
        **_ARRIVALS,
        **_PROGRESS,
        "flood": 6,
        "challenge": 16,
        **dict.fromkeys(("weight", "quota", "limits", "blocked", "safe_point"), 3),
    },
    {"ordinary": 2, "long": 3, "slow_safe_point": 6, "manual_safe_point": 1},
    items=(3, 7),
    quotas=True,
)
"""More work than slots, and a policy that changes its mind."""

CHECKPOINTS = Taste(
    "checkpoints",
    {
        **_ARRIVALS,
        **_PROGRESS,
        "flood": 5,
        "challenge": 40,
        "blocked": 4,
        "crash": 8,
        "cut": 2,
        **dict.fromkeys(("wipe", "truncate"), 40),
        **dict.fromkeys(("start", "heal"), 30),
    },
    {"long": 5, "slow_safe_point": 2, "ordinary": 1},
    slots=(1, 1),
    items=(2, 5),
)
"""Work is set aside and taken up again, over crashes and lost disks."""

FAILURES = Taste(
    "failures",
    {
        "arrive": 10,
        "advance": 10,
        "failed": 20,
        "crash": 12,
        "stop": 1,
        "cut": 2,
        **dict.fromkeys(("start", "heal"), 20),
    },
    {"retrying": 8, "ordinary": 1},
    items=(1, 3),
    steps=(14, 26),
)
"""Attempts fail, and sessions end between them."""
