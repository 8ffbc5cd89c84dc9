//! Which WorkItem is next: start-time fair queueing between the Groups, and within a Group a due
//! time made of deadline, waiting and class (MWP-WRK-010).
//!
//! Each Group has a start tag: the virtual time at which its next dispatch is due. The Group with
//! the smallest is served, and the tag of what it is served with is the new virtual time. A Group
//! that comes back from idleness begins at the virtual time, so it has earned nothing by it.

use crate::group_history::Tracked;
use crate::instant::{seconds_long, Instant};
use crate::outbox::{Draft, Intent};
use crate::session::Session;
use crate::work_item::State;
use serde_json::json;
use std::cmp::Ordering;
use std::collections::HashMap;

/// How much more the highest class gets than the lowest.
const CLASS_RATIO: f64 = 4.0;
/// The waiting time after which the lowest class outranks any new item of the highest, as declared.
const STARVATION_HORIZON_SECONDS: f64 = 3600.0;
/// Of the horizon, how much a deadline may lie ahead and count, and how much the highest class is
/// worth: together no more than the horizon.
const DEADLINE_SECONDS: f64 = STARVATION_HORIZON_SECONDS * 0.6;
const CLASS_SECONDS: f64 = STARVATION_HORIZON_SECONDS * 0.4;

#[derive(Default)]
pub struct Scheduler {
    virtual_time: f64,
    /// By Group, the virtual time at which its service so far has been paid for.
    finish: HashMap<usize, f64>,
    /// By item, what its last dispatch cost its Group.
    charges: HashMap<String, f64>,
}

impl Scheduler {
    fn start_tag(&self, group: usize) -> f64 {
        let finish = self.finish.get(&group).copied().unwrap_or(0.0);
        finish.max(self.virtual_time)
    }

    fn charge(&mut self, group: usize, work_item_id: &str, weight: f64) {
        let start = self.start_tag(group);
        self.virtual_time = self.virtual_time.max(start);
        self.finish.insert(group, start + 1.0 / weight);
        self.charges.insert(work_item_id.to_owned(), 1.0 / weight);
    }

    /// A start that was refused is not charged.
    pub fn refund(&mut self, group: usize, work_item_id: &str) {
        if let (Some(charge), Some(finish)) = (
            self.charges.remove(work_item_id),
            self.finish.get_mut(&group),
        ) {
            *finish -= charge;
        }
    }

    /// New weights count from now on; what a Group has had in advance keeps its size in service.
    pub fn reweigh(&mut self, weights: Vec<(f64, f64)>) {
        for (group, (old, new)) in weights.into_iter().enumerate() {
            if let Some(finish) = self.finish.get_mut(&group) {
                let ahead = (*finish - self.virtual_time).max(0.0);
                *finish = self.virtual_time + ahead * old / new;
            }
        }
    }
}

/// An item that may start now. The smaller of two goes first.
#[derive(Clone)]
pub struct Candidate {
    pub group: usize,
    pub work_item_id: String,
    pub rank: usize,
    due: f64,
    accepted: f64,
}

impl Candidate {
    fn order(&self, other: &Self) -> Ordering {
        let by_due = self.due.total_cmp(&other.due);
        by_due.then(self.accepted.total_cmp(&other.accepted))
    }
}

impl Session {
    /// Asks for the Execution Leases of what is next, as long as there are slots for it.
    pub fn start_next(&mut self) {
        let mut free = self.free_slots();
        while free > 0 {
            let Some(next) = self.next_item() else {
                break;
            };
            let weight = self.service_weight(next.group, next.rank);
            self.scheduler
                .charge(next.group, &next.work_item_id, weight);
            self.ask_for_start(&next);
            free -= 1;
        }
        self.promised.clear();
        let now = self.now.clone();
        self.held_back.retain(|_, until| now < *until);
        if let Some(until) = self.held_back.values().min().cloned() {
            self.wake_at(until);
        }
        let pauses = self
            .groups
            .iter()
            .filter_map(|group| group.paused_until.clone());
        if let Some(until) = pauses.filter(|until| now < *until).min() {
            self.wake_at(until);
        }
    }

    fn next_item(&mut self) -> Option<Candidate> {
        let candidates = self.candidates();
        while let Some(promised) = self.promised.pop() {
            if let Some(next) = candidates.iter().find(|one| one.work_item_id == promised) {
                return Some(next.clone());
            }
        }
        let mut best: HashMap<usize, &Candidate> = HashMap::new();
        for candidate in &candidates {
            let known = best.entry(candidate.group).or_insert(candidate);
            if candidate.order(known) == Ordering::Less {
                *known = candidate;
            }
        }
        let next = best.into_values().min_by(|one, other| {
            let tags = self
                .scheduler
                .start_tag(one.group)
                .total_cmp(&self.scheduler.start_tag(other.group));
            tags.then(other.rank.cmp(&one.rank))
                .then(one.order(other))
                .then(one.group.cmp(&other.group))
        });
        next.cloned()
    }

    /// All items that may start now, in all Groups below their quota.
    pub fn candidates(&self) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (position, group) in self.groups.iter().enumerate() {
            let quota = self.policy.slot_quota(&group.id);
            if !self.speaks(position) || quota.is_some_and(|quota| self.slots_of(position) >= quota)
            {
                continue;
            }
            for tracked in &group.history.items {
                if self.is_startable(position, tracked)
                    && self.may_send(position, &start_intent(tracked))
                {
                    candidates.push(self.candidate(position, tracked));
                }
            }
        }
        candidates
    }

    /// Whether an item is eligible: ours, queued, with nothing in its way.
    pub fn is_startable(&self, group: usize, tracked: &Tracked) -> bool {
        let known = &self.groups[group];
        let contract = &tracked.item.contract;
        self.is_queued(tracked)
            && !tracked.is_barred
            && !known.history.mission_is_over
            && self.ownership_lasts(tracked)
            && known.history.dependencies_are_met(tracked)
            && self.gate_is_worth_it(tracked)
            && self.suits_card(tracked)
            && self.is_capable(contract)
            && !self.policy.is_spent(&known.id, contract)
            && !self.is_held_back(&tracked.item.id)
            && !self.has_failed(tracked)
            && !self.is_in_a_slot(&tracked.item.id)
            && !self.has_buffered(&tracked.item.id)
    }

    /// Whether an item of ours waits for a lease: queued, or active under a lease that a new session
    /// has revoked (MWP-WRK-014).
    pub fn is_queued(&self, tracked: &Tracked) -> bool {
        let is_ours = tracked.item.epoch_of(&self.agent.id).is_some();
        let lease = tracked.execution.as_ref();
        let was_revoked = lease.is_some_and(|lease| lease.session_epoch < self.epoch);
        let is_queued = match tracked.item.state {
            State::Queued => true,
            State::Active => was_revoked,
            _ => false,
        };
        is_ours && is_queued
    }

    /// Whether the ownership lease runs, and start-by has not passed for what never started.
    fn ownership_lasts(&self, tracked: &Tracked) -> bool {
        let epoch = tracked.item.epoch_of(&self.agent.id);
        let lease = tracked
            .ownership
            .as_ref()
            .filter(|lease| Some(lease.ownership_epoch) == epoch);
        let was_started = tracked
            .execution
            .as_ref()
            .is_some_and(|lease| Some(lease.ownership_epoch) == epoch);
        lease.is_none_or(|lease| {
            let is_in_time = lease
                .start_by
                .as_ref()
                .is_none_or(|start_by| self.now < *start_by);
            lease.holds_at(&self.now) && (was_started || is_in_time)
        })
    }

    /// Whether nothing is gated, or an Approval for this Ownership Epoch is in force (MWP-AUT-003).
    pub fn gate_is_open(&self, tracked: &Tracked) -> bool {
        self.gate_closes_at(tracked)
            .is_none_or(|end| self.now < end)
    }

    /// Whether the gate is open, and not about to close upon work that was stopped for it already.
    fn gate_is_worth_it(&self, tracked: &Tracked) -> bool {
        let end = self.gate_closes_at(tracked);
        let was_stopped = end.is_some() && self.stopped_for.get(&tracked.item.id) == end.as_ref();
        self.gate_is_open(tracked) && !was_stopped
    }

    /// When the gate of an item closes: at once where it is not open; `None` where there is none.
    pub fn gate_closes_at(&self, tracked: &Tracked) -> Option<Instant> {
        if !self.policy.is_gated(&tracked.item) {
            return None;
        }
        let epoch = tracked.item.epoch_of(&self.agent.id);
        let approvals = tracked.approvals.iter();
        let fitting = approvals.filter(|approval| Some(approval.ownership_epoch) == epoch);
        let last = fitting.map(|approval| approval.expires_at.clone()).max();
        Some(last.unwrap_or_else(|| self.now.clone()))
    }

    /// Whether the acceptance holds under the present Agent Card (MWP-IDN-003).
    pub fn suits_card(&self, tracked: &Tracked) -> bool {
        let owner = tracked.item.owner.as_ref();
        owner.is_some_and(|owner| {
            self.policy
                .is_compatible(owner.card_version, self.agent.card_version)
        })
    }

    fn candidate(&self, group: usize, tracked: &Tracked) -> Candidate {
        let rank = self.policy.rank(&self.groups[group].id, &tracked.item.id);
        let owner = tracked.item.owner.as_ref();
        let accepted_at = owner.and_then(|owner| owner.accepted_at.clone());
        let accepted_at = accepted_at.unwrap_or_else(|| self.now.clone());
        let latest = accepted_at.plus(seconds_long(DEADLINE_SECONDS));
        let deadline = tracked
            .item
            .contract
            .deadline
            .clone()
            .unwrap_or_else(|| latest.clone());
        let above = (self.policy.ranks() - 1).max(1) as f64;
        let lead = CLASS_SECONDS * rank as f64 / above;
        Candidate {
            group,
            work_item_id: tracked.item.id.clone(),
            rank,
            due: deadline.min(latest).seconds_since(&self.began_at) - lead,
            accepted: accepted_at.seconds_since(&self.began_at),
        }
    }

    /// The weight of a Group by policy, raised by the class of the item that it is served with.
    fn service_weight(&self, group: usize, rank: usize) -> f64 {
        let above = (self.policy.ranks() - 1).max(1) as f64;
        self.policy.weight(&self.groups[group].id) * CLASS_RATIO.powf(rank as f64 / above)
    }

    fn ask_for_start(&mut self, next: &Candidate) {
        let history = &self.groups[next.group].history;
        let Some(tracked) = history.tracked(&next.work_item_id) else {
            return;
        };
        let ownership_epoch = tracked.item.epoch_of(&self.agent.id);
        self.send(Draft {
            intent: start_intent(tracked),
            group: next.group,
            payload: json!({"workItemId": next.work_item_id, "ownershipEpoch": ownership_epoch}),
            extensions: None,
        });
    }
}

fn start_intent(tracked: &Tracked) -> Intent {
    Intent {
        kind: "work.start",
        work_item_id: tracked.item.id.clone(),
        key: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each Group is served when all of them always have work.
    fn served(scheduler: &mut Scheduler, weights: &[f64], times: usize) -> Vec<usize> {
        let mut counts = vec![0; weights.len()];
        for _ in 0..times {
            let tag = |group: &usize| scheduler.start_tag(*group);
            let next = (0..weights.len()).min_by(|one, other| tag(one).total_cmp(&tag(other)));
            let next = next.unwrap();
            scheduler.charge(next, "item", weights[next]);
            counts[next] += 1;
        }
        counts
    }

    #[test]
    fn fractional_weights_share_as_they_should() {
        let counts = served(&mut Scheduler::default(), &[1.5, 0.5, 3.2], 520);
        for (count, due) in counts.into_iter().zip([150, 50, 320]) {
            assert!(count.abs_diff(due) <= 2);
        }
    }

    #[test]
    fn idle_time_earns_nothing() {
        let mut scheduler = Scheduler::default();
        served(&mut scheduler, &[1.0], 100);
        let counts = served(&mut scheduler, &[1.0, 1.0], 10);
        assert!(counts[1] <= 6);
    }
}
