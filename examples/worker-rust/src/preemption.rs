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
            if let Some(cause) = self.duty_to_stop(run) {
                self.ask_for_safe_point(slot, cause);
            } else if let Some(end) = self.stops_by(run) {
                self.wake_at(end);
            }
        }
        self.serve_higher_classes();
    }

    /// Why a run has to stop whatever waits behind it.
    fn duty_to_stop(&self, run: &Run) -> Option<Cause> {
        let group = &self.groups[run.group];
        let tracked = group.history.tracked(&run.work_item_id)?;
        if !self.suits_card(tracked) {
            return Some(Cause::Upgrade);
        }
        let is_due = |end: Option<Instant>| {
            end.is_some_and(|end| end.seconds_since(&self.now) <= MARGIN_SECONDS)
        };
        if is_due(self.grace_ends_at(group)) {
            return Some(Cause::Grace);
        }
        is_due(self.gate_closes_at(tracked)).then_some(Cause::Gate)
    }

    /// The next instant at which that may change.
    fn stops_by(&self, run: &Run) -> Option<Instant> {
        let group = &self.groups[run.group];
        let tracked = group.history.tracked(&run.work_item_id)?;
        let ends = [self.grace_ends_at(group), self.gate_closes_at(tracked)];
        let soonest = ends.into_iter().flatten().min()?;
        let seconds = soonest.seconds_since(&self.now) - MARGIN_SECONDS;
        Some(self.now.plus(seconds_long(seconds)))
    }

    /// Work goes on if what it was to give way to has been cancelled or started elsewhere.
    fn withdraw_preemptions(&mut self) {
        let candidates = self.candidates();
        for slot in 0..self.slots.len() {
            let Some(run) = &mut self.slots[slot] else {
                continue;
            };
            let Phase::Preempting(Cause::Priority(waiting)) = &run.phase else {
                continue;
            };
            if candidates
                .iter()
                .any(|candidate| candidate.work_item_id == *waiting)
            {
                continue;
            }
            run.phase = Phase::Running;
            let work_item_id = run.work_item_id.clone();
            self.effect(json!({
                "type": "continue",
                "slotId": Self::slot_id(slot),
                "workItemId": work_item_id,
            }));
        }
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
            may_give_way.then_some((rank, slot, &run.since))
        });
        let (_, slot, since) =
            lower.min_by(|one, other| one.0.cmp(&other.0).then(other.2.cmp(one.2)))?;
        Some((slot, since.plus(seconds_long(PROGRESS_SECONDS))))
    }
}
