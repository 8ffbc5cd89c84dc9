"""Monitors: rules that are watched in every Trace, whatever its scenario was about.

One pass over a Trace feeds all of them. To add one: write the class and its MonitorInfo beside its
kin, and add the pair to `REGISTRY`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from worker_conformance.judge.facts import Facts
from worker_conformance.judge.monitors import (
    commands,
    estimates,
    frames,
    isolation,
    leases,
    positions,
    privacy,
    progress,
    recovery,
    slots,
)
from worker_conformance.judge.monitors.base import Breach, Context, Monitor, MonitorInfo
from worker_conformance.judge.trace import Entry, EntryKind, Trace

__all__ = ["REGISTRY", "Breach", "Context", "Monitor", "MonitorInfo", "watch"]

REGISTRY: Sequence[tuple[MonitorInfo, type[Monitor]]] = (
    (positions.NEVER_ABOVE_CONTIGUOUS, positions.NeverAboveContiguous),
    (frames.FRAMES_ARE_VALID, frames.FramesAreValid),
    (frames.COMMANDS_ARE_SIGNED, frames.CommandsAreSigned),
    (frames.EPOCHS_ARE_CURRENT, frames.EpochsAreCurrent),
    (frames.RETRIES_ARE_UNCHANGED, frames.RetriesAreUnchanged),
    (slots.CAPACITY_HOLDS, slots.CapacityHolds),
    (slots.QUOTA_HOLDS, slots.QuotaHolds),
    (slots.PREEMPTION_TAKES_ITS_STEPS, slots.PreemptionTakesItsSteps),
    (slots.NO_IDLE_SLOT, slots.NoIdleSlot),
    (leases.RUN_NEEDS_A_LEASE, leases.RunNeedsALease),
    (leases.ONE_RUN_PER_LEASE, leases.OneRunPerLease),
    (leases.NAMES_THE_CURRENT_LEASE, leases.NamesTheCurrentLease),
    (leases.NOTHING_FORBIDDEN, leases.NothingForbidden),
    (leases.GATES_HOLD, leases.GatesHold),
    (privacy.NOTHING_OF_ANOTHER_GROUP, privacy.NothingOfAnotherGroup),
    (privacy.SLOTS_ARE_ISOLATED, privacy.SlotsAreIsolated),
    (privacy.NO_CREDENTIAL_LEAVES, privacy.NoCredentialLeaves),
    (estimates.ESTIMATES_ARE_SOUND, estimates.EstimatesAreSound),
    (commands.KEEPS_TO_ITS_PART, commands.KeepsToItsPart),
    (commands.HEEDS_ITS_ANSWERS, commands.HeedsItsAnswers),
    (commands.GIVES_ITS_REVISION, commands.GivesItsRevision),
    (positions.ACKS_IN_TIME, positions.AcksInTime),
    (frames.REJECTIONS_NAME_THEIR_STAGE, frames.RejectionsNameTheirStage),
    (positions.REPETITIONS_ARE_NO_BREACH, positions.RepetitionsAreNoBreach),
    (privacy.PRESENCE_TELLS_NOTHING, privacy.PresenceTellsNothing),
    (privacy.LOGS_HOLD_NO_CONTENT, privacy.LogsHoldNoContent),
    (isolation.RESUMES_ITS_OWN_CHECKPOINT, isolation.ResumesItsOwnCheckpoint),
    (isolation.SLOT_BUDGET_IS_ITS_OWN, isolation.SlotBudgetIsItsOwn),
    (isolation.KEYS_NEVER_MEET, isolation.KeysNeverMeet),
    (estimates.ESTIMATES_HAVE_A_WINDOW, estimates.EstimatesHaveAWindow),
    (estimates.ESTIMATES_ARE_KEPT_UP, estimates.EstimatesAreKeptUp),
    (estimates.PRESENCE_IS_TRUE, estimates.PresenceIsTrue),
    (progress.PROGRESS_BEFORE_A_PAUSE, progress.ProgressBeforeAPause),
    (progress.NOT_PAUSED_TOO_OFTEN, progress.NotPausedTooOften),
    (progress.EVERY_PAUSE_HAS_A_CAUSE, progress.EveryPauseHasACause),
    (recovery.RESUMES_FROM_THE_LATEST, recovery.ResumesFromTheLatest),
    (recovery.ATTEMPTS_HOLD, recovery.AttemptsHold),
)


def watch(trace: Trace, context: Context) -> tuple[Monitor, ...]:
    """Run every monitor over a Trace in one pass; returns them with witness and breaches."""
    facts = Facts(discards=context.parameters.out_of_order == "discard")
    monitors = tuple(kind(info, context, facts) for info, kind in REGISTRY)
    hooks: dict[EntryKind, tuple[Callable[[Entry], None], ...]] = {
        EntryKind.STIMULUS: tuple(
            one.stimulus for one in monitors if type(one).stimulus is not Monitor.stimulus
        ),
        EntryKind.EFFECT: tuple(
            one.effect for one in monitors if type(one).effect is not Monitor.effect
        ),
        EntryKind.NOTE: tuple(one.note for one in monitors if type(one).note is not Monitor.note),
    }
    for entry in trace:
        facts.observe(entry)
        context.privacy.observe(entry)
        for hook in hooks[entry.kind]:
            hook(entry)
    for monitor in monitors:
        monitor.finish()
    return monitors
