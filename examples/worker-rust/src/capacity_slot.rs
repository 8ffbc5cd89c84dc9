//! The Capacity Slots: what begins in them, under which lease, and what ends it.

use crate::group_history::Tracked;
use crate::instant::Instant;
use crate::session::Session;
use crate::usage::Account;
use crate::work_item::{Checkpoint, State};
use serde_json::{json, Value};

/// The work in a slot.
pub struct Run {
    pub group: usize,
    pub work_item_id: String,
    pub lease_id: String,
    pub ownership_epoch: u64,
    pub since: Instant,
    pub phase: Phase,
    pub account: Account,
}

pub enum Phase {
    Running,
    /// A safe point was asked for.
    Preempting(Cause),
    /// The work stands at a safe point, and its Checkpoint is on its way; then the slot is for the
    /// item that waits, if there is one.
    Checkpointing(Checkpoint, Option<String>),
    /// The executor is done; what came of it is owed to the Group Authority.
    Finished(Outcome),
    /// The next attempt begins at that instant.
    Waiting(Instant),
}

/// Why work is to give way.
#[derive(Clone, PartialEq, Eq)]
pub enum Cause {
    /// An item of a higher class waits for the slot.
    Priority(String),
    /// It was accepted under an Agent Card that no longer holds (MWP-IDN-003).
    Upgrade,
    /// Its Approval runs out (MWP-AUT-003).
    Gate,
    /// Its budget is used up: the matter is escalated with these words (MWP-AUT-004).
    Budget(String),
    /// The grace of an outage nears its end (MWP-WRK-020).
    Grace,
}

pub enum Outcome {
    Completed {
        artifacts: Vec<Value>,
        evidence: Vec<Value>,
    },
    Blocked {
        checkpoint: Checkpoint,
        resolution: String,
    },
    Failed {
        reason: String,
        evidence: Vec<Value>,
    },
}

impl Session {
    pub fn slot_id(slot: usize) -> String {
        format!("slot-{}", slot + 1)
    }

    pub fn is_in_a_slot(&self, work_item_id: &str) -> bool {
        self.runs().any(|(_, run)| run.work_item_id == work_item_id)
    }

    pub fn runs(&self) -> impl Iterator<Item = (usize, &Run)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(slot, run)| run.as_ref().map(|run| (slot, run)))
    }

    /// How many slots neither hold work nor wait for the answer to a start.
    pub fn free_slots(&self) -> usize {
        let used = self.runs().count() + self.outbox.starting().count() + self.granted().len();
        self.slots.len().saturating_sub(used)
    }

    /// How many slots a Group uses or has asked for.
    pub fn slots_of(&self, group: usize) -> u64 {
        let running = self.runs().filter(|(_, run)| run.group == group).count();
        let starting = self
            .outbox
            .starting()
            .filter(|(other, _)| *other == group)
            .count();
        let granted = self
            .granted()
            .iter()
            .filter(|(other, _)| *other == group)
            .count();
        (running + starting + granted) as u64
    }

    /// Ends the runs that have lost their right to go on, and frees their slots.
    pub fn guard_slots(&mut self) {
        for slot in 0..self.slots.len() {
            let Some(run) = &self.slots[slot] else {
                continue;
            };
            match self.ending(run) {
                Some(effects) => self.free(slot, effects),
                None => {
                    let group = &self.groups[run.group];
                    let tracked = group.history.tracked(&run.work_item_id);
                    let lease = tracked.and_then(|tracked| self.current_lease(tracked));
                    if let Some(end) = lease.map(|lease| lease.expires_at.clone()) {
                        self.wake_at(end);
                    }
                }
            }
        }
    }

    /// The effects that end a run; `None` while it may go on.
    fn ending(&self, run: &Run) -> Option<&'static [&'static str]> {
        let group = &self.groups[run.group];
        let tracked = group.history.tracked(&run.work_item_id);
        let lease = tracked.and_then(|tracked| self.current_lease(tracked));
        let holds = lease.is_some_and(|lease| lease.id == run.lease_id);
        let may_run = holds
            && !self.is_fenced()
            && group.is_member(&self.now)
            && !group.history.mission_is_over;
        match &run.phase {
            Phase::Checkpointing(checkpoint, _)
                if tracked.is_some_and(|tracked| is_set_aside(tracked, checkpoint)) =>
            {
                Some(&["pause", "release"])
            }
            Phase::Finished(_) | Phase::Waiting(_) if !may_run => Some(&["release"]),
            Phase::Running | Phase::Preempting(_) if self.is_beyond_grace(group) => {
                Some(&["cancel", "release"])
            }
            _ if !may_run => Some(&["cancel", "release"]),
            _ => None,
        }
    }

    /// Emits effects about the work in a slot, and frees it.
    pub fn free(&mut self, slot: usize, effects: &[&str]) {
        if let Some(run) = self.slots[slot].take() {
            if let Phase::Checkpointing(_, Some(waiting)) = run.phase {
                self.promised.push(waiting);
            }
            for effect in effects {
                self.effect(json!({
                    "type": effect,
                    "slotId": Self::slot_id(slot),
                    "workItemId": run.work_item_id,
                }));
            }
        }
    }

    /// Begins the work whose Execution Lease has come: the lease starts it, not the Worker's own
    /// Command (MWP-WRK-013).
    pub fn run_granted(&mut self) {
        for (group, work_item_id) in self.granted() {
            let free = self.slots.iter().position(Option::is_none);
            if let Some(slot) = free {
                self.run(slot, group, &work_item_id);
            }
        }
    }

    /// The items with a current lease under which nothing has run yet.
    fn granted(&self) -> Vec<(usize, String)> {
        let mut granted = Vec::new();
        for (position, group) in self.groups.iter().enumerate() {
            if self.is_fenced() || !self.hears(group) || group.history.mission_is_over {
                continue;
            }
            for tracked in &group.history.items {
                let lease = self.current_lease(tracked);
                let is_new = lease.is_some_and(|lease| !self.used_leases.contains(&lease.id));
                if is_new
                    && !tracked.is_barred
                    && self.gate_is_open(tracked)
                    && self.suits_card(tracked)
                {
                    granted.push((position, tracked.item.id.clone()));
                }
            }
        }
        granted
    }

    fn run(&mut self, slot: usize, group: usize, work_item_id: &str) {
        let Some(tracked) = self.groups[group].history.tracked(work_item_id) else {
            return;
        };
        let Some(lease) = self.current_lease(tracked) else {
            return;
        };
        let run = Run {
            group,
            work_item_id: work_item_id.to_owned(),
            lease_id: lease.id.clone(),
            ownership_epoch: lease.ownership_epoch,
            since: self.now.clone(),
            phase: Phase::Running,
            account: Account::default(),
        };
        self.wake_at(lease.expires_at.clone());
        self.used_leases.insert(run.lease_id.clone());
        self.emit_run(slot, &run);
        self.slots[slot] = Some(run);
    }

    /// The context is everything the slot is given, and its own Group's alone (MWP-WRK-011).
    pub fn emit_run(&mut self, slot: usize, run: &Run) {
        let group = &self.groups[run.group];
        let Some(tracked) = group.history.tracked(&run.work_item_id) else {
            return;
        };
        let mut effect = json!({
            "type": "run",
            "slotId": Self::slot_id(slot),
            "groupId": group.id,
            "workItemId": run.work_item_id,
            "leaseId": run.lease_id,
            "context": {
                "missionContext": group.mission_context,
                "credentials": group.credentials,
                "budget": tracked.item.contract.budget,
                "sideEffectScope": group.id,
            },
        });
        if let Some(checkpoint) = &tracked.checkpoint {
            effect["resumeFrom"] = json!({
                "checkpointId": checkpoint.id,
                "checkpointHash": checkpoint.hash,
            });
        }
        self.effect(effect);
    }
}

/// Whether the fact of a Checkpoint has been delivered: the lease is released, the item queued.
fn is_set_aside(tracked: &Tracked, checkpoint: &Checkpoint) -> bool {
    let is_recorded = tracked.checkpoint.as_ref() == Some(checkpoint);
    let lease_is_closed = tracked
        .execution
        .as_ref()
        .is_none_or(|lease| !lease.is_open);
    is_recorded && lease_is_closed && tracked.item.state == State::Queued
}
