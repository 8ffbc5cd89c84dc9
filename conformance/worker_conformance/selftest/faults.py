"""Which check catches which unfair Scheduler, and in which trial.

A judge that misses one of these is too weak. The table in docs/fairness.md is made from this one
(by `tables`).
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from worker_conformance.selftest import unfair
from worker_conformance.selftest import unfair_rules as rules
from worker_conformance.selftest.schedulers import Scheduler


@frozen
class Fault:
    """An unfair Scheduler, the trial that shows its fault, and the check that must catch it.

    `weights` names a weight set of the examination, `slots` the number of slots.
    """

    scheduler: type[Scheduler]
    trial: str
    check: str
    weights: str = "1:2:4"
    slots: int = 2


UNFAIR: Mapping[str, Fault] = {
    "first come, first served": Fault(unfair.FirstComeFirstServed, "flood", "flood"),
    "newest first": Fault(unfair.NewestFirst, "starve by nothing", "starve", "equal", 1),
    "shortest first": Fault(unfair.ShortestFirst, "mixed-sizes", "mixed-sizes"),
    "most urgent first": Fault(unfair.MostUrgentFirst, "inflate", "inflate", "equal"),
    "nearest deadline first": Fault(unfair.NearestDeadlineFirst, "inflate", "inflate", "equal"),
    "highest class first": Fault(unfair.HighestClassFirst, "starve by class", "starve", "equal", 1),
    "longest queue first": Fault(unfair.LongestQueueFirst, "flood", "flood", "equal"),
    "tickets per job": Fault(unfair.TicketsPerJob, "flood", "flood", "equal"),
    "weight ignored": Fault(unfair.WeightIgnored, "share", "share"),
    "weights rounded": Fault(unfair.WeightsRounded, "share", "share", "fractional"),
    "weight inverted": Fault(unfair.WeightInverted, "share", "share"),
    "weight cached": Fault(unfair.WeightCached, "reweigh", "reweigh"),
    "history rescaled": Fault(unfair.HistoryRescaled, "reweigh", "reweigh"),
    "weight squared": Fault(unfair.WeightSquared, "share", "share"),
    "inactive Groups counted": Fault(unfair.InactiveCounted, "idle Group", "share"),
    "smooth weights, sums not normalised": Fault(
        unfair.UnnormalisedSmooth, "pulse", "pulse", "16:1:1", 4
    ),
    "strict list order": Fault(unfair.StrictListOrder, "share", "share", "equal"),
    "state not kept": Fault(unfair.StateNotKept, "share", "share", "equal"),
    "sticky": Fault(unfair.Sticky, "share", "share", "equal"),
    "credit kept while idle": Fault(unfair.CreditKeptIdle, "hoard", "hoard", "equal"),
    "deficit kept while idle": Fault(unfair.DeficitKeptIdle, "hoard", "hoard", "equal"),
    "credit not clamped": Fault(unfair.CreditUnclamped, "hoard", "hoard", "equal"),
    "debt lost on leaving": Fault(unfair.DebtLostOnLeaving, "rejoin", "rejoin"),
    "debt lost when empty": Fault(unfair.DebtLostWhenEmpty, "pulse", "pulse", "equal", 1),
    "newcomer last": Fault(unfair.NewcomerLast, "pulse", "pulse", "equal"),
    "busy Groups age": Fault(unfair.BusyGroupsAge, "share", "share", "equal"),
    "key finer than the Group": Fault(unfair.FinerKey, "split", "split", "equal"),
    "another unit than declared": Fault(unfair.OtherUnit, "mixed-sizes", "mixed-sizes", "equal"),
    "charge capped": Fault(unfair.LongJobsFree, "mixed-sizes", "mixed-sizes", "equal"),
    "cancelled work charged": Fault(unfair.CancelledCharged, "cancel", "cancel", "equal"),
    "slot affinity": Fault(unfair.FirstSlotOnly, "share", "share", "equal"),
    "ageing saturates": Fault(rules.AgeingSaturates, "starve by class", "starve", "equal", 1),
    "ageing restarts": Fault(rules.AgeingRestarts, "starve by class", "starve", "equal", 1),
    "ageing too slow": Fault(rules.AgeingTooSlow, "starve by class", "starve", "equal", 1),
    "class ratio unbounded": Fault(
        rules.ClassRatioUnbounded, "starve by class", "starve", "equal", 1
    ),
    "keys cached at enqueue": Fault(rules.KeysCachedAtEnqueue, "reorder", "reorder"),
    "reordered to the end": Fault(rules.ReorderedToTheEnd, "reorder", "reorder"),
    "deadlines backwards": Fault(rules.DeadlineBackwards, "monotone", "monotone"),
    "seed not used": Fault(rules.SeedNotUsed, "deterministic", "deterministic", "equal"),
    "quota ignored": Fault(rules.QuotaIgnored, "quota", "quota"),
    "quota off by one": Fault(rules.QuotaOffByOne, "quota", "quota"),
    "quota leaks": Fault(rules.QuotaLeaks, "quota", "live"),
    "candidates cut": Fault(rules.CandidatesCut, "quota wall", "prompt"),
    "wake-up lost": Fault(rules.WakeUpLost, "quota", "live"),
    "gate ignored": Fault(rules.GateIgnored, "blocked", "safe"),
    "gate stuck": Fault(rules.GateStuck, "blocked", "live"),
    "cancelled work runs": Fault(rules.CancelledRuns, "cancel", "safe"),
    "started twice": Fault(rules.StartedTwice, "share", "safe"),
    "slot left empty": Fault(rules.SlotLeft, "share", "prompt"),
    "one Group refused": Fault(rules.OneGroupRefused, "share", "share", "equal"),
    "one Group delayed": Fault(rules.OneGroupDelayed, "share", "share", "equal"),
    "completions forgotten": Fault(rules.CompletionForgotten, "share", "share", "equal"),
    "mutual preemption": Fault(rules.MutualPreemption, "preempt", "preempt", "equal", 1),
    "favourite of the hour": Fault(rules.RandomVictims, "share", "share", "equal"),
}
