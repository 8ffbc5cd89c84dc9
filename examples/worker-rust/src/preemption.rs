//! Preemption in its five steps: request, safe point, Checkpoint, pause, release (MWP-WRK-015).

use crate::capacity_slot::{Cause, Phase, Run};
use crate::instant::{seconds_long, Instant};
use crate::scheduler::Candidate;
use crate::session::Session;
use serde_json::json;

/// Each run gets somewhere before it may be asked to give way.
const PROGRESS_SECONDS: f64 = 1.0;
/// How often one item may be set aside, as declared.
const SET_ASIDE_MAX: u32 = 3;
/// How long before an Approval or the grace of an outage ends a safe point is asked for.
const MARGIN_SECONDS: f64 = 30.0;

impl Session {
    /// Asks the executor for a safe point.
    pub fn ask_for_safe_point(&mut self, slot: usize, cause: Cause) {
        let Some(run) = &mut self.slots[slot] else {
            return;
        };
        run.phase = Phase::Preempting(cause);
        let work_item_id = run.work_item_id.clone();
        self.effect(json!({
            "type": "preempt",
            "slotId": Self::slot_id(slot),
            "workItemId": work_item_id,
        }));
    }

    /// Has running work give way: to an Agent Card, a gate, an outage, or a higher class.
    pub fn preempt(&mut self) {
        self.withdraw_preemptions();
        for slot in 0..self.slots.len() {
            let Some(run) = self.slots[slot]
                .as_ref()
                .filter(|run| matches!(run.phase, Phase::Running))
            else {
                continue;
            };
            let Some((due_at, cause)) = self.duty_to_stop(run) else {
                continue;
            };
            if due_at <= self.now {
                self.note_gate(slot, &cause);
                self.ask_for_safe_point(slot, cause);
            } else {
                self.wake_at(due_at);
            }
        }
        self.serve_higher_classes();
    }

    /// Work that is stopped for its Approval is not started again under the same one.
    fn note_gate(&mut self, slot: usize, cause: &Cause) {
        let Some(run) = self.slots[slot].as_ref().filter(|_| *cause == Cause::Gate) else {
            return;
        };
        let tracked = self.groups[run.group].history.tracked(&run.work_item_id);
        if let Some(end) = tracked.and_then(|tracked| self.gate_closes_at(tracked)) {
            self.stopped_for.insert(run.work_item_id.clone(), end);
        }
    }

    /// When and why a run has to stop, whatever waits behind it: in time for a safe point, and not
    /// before it has got somewhere.
    fn duty_to_stop(&self, run: &Run) -> Option<(Instant, Cause)> {
        let group = &self.groups[run.group];
        let tracked = group.history.tracked(&run.work_item_id)?;
        let upgrade = (!self.suits_card(tracked)).then(|| (run.since.clone(), Cause::Upgrade));
        let cut_at = group
            .down_since
            .as_ref()
            .unwrap_or(&run.since)
            .max(&run.since);
        let grace = self
            .grace_ends_at(group)
            .map(|end| (before(&end, cut_at), Cause::Grace));
        let gate = self
            .gate_closes_at(tracked)
            .map(|end| (before(&end, &run.since), Cause::Gate));
        let duties = [upgrade, grace, gate].into_iter().flatten();
        let (due_at, cause) = duties.min_by(|one, other| one.0.cmp(&other.0))?;
        Some((due_at.max(progress_at(run)), cause))
    }

    /// Work goes on if what it was to give way for is no more.
    fn withdraw_preemptions(&mut self) {
        let candidates = self.candidates();
        for slot in 0..self.slots.len() {
            let Some(run) = &self.slots[slot] else {
                continue;
            };
            let Phase::Preempting(cause) = &run.phase else {
                continue;
            };
            let stands = match cause {
                Cause::Budget(_) => true,
                Cause::Priority(waiting) => candidates
                    .iter()
                    .any(|candidate| candidate.work_item_id == *waiting),
                _ => self
                    .duty_to_stop(run)
                    .is_some_and(|(due_at, _)| due_at <= self.now),
            };
            if !stands {
                self.go_on(slot);
            }
        }
    }

    /// Withdraws the wish for a safe point.
    fn go_on(&mut self, slot: usize) {
        let Some(run) = &mut self.slots[slot] else {
            return;
        };
        run.phase = Phase::Running;
        let work_item_id = run.work_item_id.clone();
        self.effect(json!({
            "type": "continue",
            "slotId": Self::slot_id(slot),
            "workItemId": work_item_id,
        }));
    }

    /// One running item of a lower class gives way for each item of a higher class that waits.
    fn serve_higher_classes(&mut self) {
        let mut waiting = self.candidates();
        waiting.sort_by_key(|candidate| std::cmp::Reverse(candidate.rank));
        let mut slots_to_come = self.slots_to_come();
        for candidate in waiting {
            if slots_to_come > 0 {
                slots_to_come -= 1;
                continue;
            }
            let Some((slot, ready_at)) = self.victim(&candidate) else {
                break;
            };
            if ready_at <= self.now {
                self.ask_for_safe_point(slot, Cause::Priority(candidate.work_item_id));
            } else {
                self.wake_at(ready_at);
                break;
            }
        }
    }

    /// How many slots are free or will be before anything more is set aside.
    fn slots_to_come(&self) -> usize {
        let leaving = self
            .runs()
            .filter(|(_, run)| !matches!(run.phase, Phase::Running | Phase::Waiting(_)));
        self.free_slots() + leaving.count()
    }

    /// The run of the lowest class below a candidate's, and when it has got somewhere.
    fn victim(&self, candidate: &Candidate) -> Option<(usize, Instant)> {
        let lower = self.runs().filter_map(|(slot, run)| {
            let group = &self.groups[run.group];
            let rank = self.policy.rank(&group.id, &run.work_item_id);
            let tracked = group.history.tracked(&run.work_item_id)?;
            let may_give_way = matches!(run.phase, Phase::Running)
                && rank < candidate.rank
                && tracked.times_set_aside < SET_ASIDE_MAX
                && group.is_reachable();
            may_give_way.then_some((rank, slot, run))
        });
        let (_, slot, run) = lower.min_by(|one, other| {
            let by_rank = one.0.cmp(&other.0);
            by_rank.then(other.2.since.cmp(&one.2.since))
        })?;
        Some((slot, progress_at(run)))
    }
}

/// When a run has got somewhere.
fn progress_at(run: &Run) -> Instant {
    run.since.plus(seconds_long(PROGRESS_SECONDS))
}

/// Some time before an end, at most half of the time from `start` to it.
fn before(end: &Instant, start: &Instant) -> Instant {
    let whole = end.seconds_since(start);
    start.plus(seconds_long(whole - MARGIN_SECONDS.min(whole / 2.0)))
}
