//! Work out of reach: how long it goes on, what is buffered, and how it is reconciled
//! (MWP-WRK-020, MWP-WRK-021).

use crate::capacity_slot::Run;
use crate::execution::told;
use crate::group::Group;
use crate::instant::{seconds_long, Instant};
use crate::json::{count, owned};
use crate::outbox::{Draft, Intent};
use crate::session::Session;
use crate::work_item::{Checkpoint, State, OFFLINE_EXTENSION};
use serde_json::{json, Value};

/// A Checkpoint that waits for the link, with what binds it to the lease of then.
pub struct Buffered {
    pub checkpoint: Checkpoint,
    group_id: String,
    work_item_id: String,
    binding: Value,
}

impl Buffered {
    pub fn read(record: &Value) -> Self {
        let binding = record["binding"].clone();
        Self {
            checkpoint: Checkpoint::read(record),
            group_id: owned(&binding, "groupId"),
            work_item_id: owned(&binding, "workItemId"),
            binding,
        }
    }
}

impl Session {
    /// Whether the Group of the work in a slot is cut off.
    pub fn is_out_of_reach(&self, slot: usize) -> bool {
        let run = self.slots[slot].as_ref();
        run.is_some_and(|run| self.groups[run.group].down_since.is_some())
    }

    /// When the grace of an outage ends.
    pub fn grace_ends_at(&self, group: &Group) -> Option<Instant> {
        let down_since = group.down_since.as_ref()?;
        Some(down_since.plus(seconds_long(self.policy.offline_grace_seconds())))
    }

    pub fn is_beyond_grace(&self, group: &Group) -> bool {
        self.grace_ends_at(group).is_some_and(|end| end <= self.now)
    }

    pub fn has_buffered(&self, work_item_id: &str) -> bool {
        let mut buffered = self.buffered.iter();
        buffered.any(|buffered| buffered.work_item_id == work_item_id)
    }

    /// Keeps a Checkpoint for when the link is back, and frees the slot.
    pub fn buffer(&mut self, slot: usize, checkpoint: Checkpoint, effects: &[&str]) {
        let Some(run) = &self.slots[slot] else {
            return;
        };
        if let Some(binding) = self.binding(run) {
            let record = json!({
                "checkpointId": checkpoint.id,
                "checkpointHash": checkpoint.hash,
                "binding": binding,
            });
            self.buffered.push(Buffered::read(&record));
            self.journal.append(&json!({"buffered": record}));
        }
        self.free(slot, effects);
    }

    /// The ten members that bind a buffered Command to its lease and outage.
    fn binding(&self, run: &Run) -> Option<Value> {
        let group = &self.groups[run.group];
        let tracked = group.history.tracked(&run.work_item_id)?;
        let lease = self.current_lease(tracked)?;
        Some(json!({
            "agentId": self.agent.id,
            "groupId": group.id,
            "workItemId": run.work_item_id,
            "sessionEpoch": self.epoch,
            "ownershipEpoch": run.ownership_epoch,
            "executionLeaseId": run.lease_id,
            "disconnectedAt": group.down_since.as_ref()?.spelled(),
            "bufferedAt": self.now.spelled(),
            "graceDeadline": self.grace_ends_at(group)?.spelled(),
            "executionLeaseExpiresAt": lease.expires_at.spelled(),
            "resourceUsageDelta": run.account.owed().told(),
        }))
    }

    /// Sends what was buffered, rebased to the present session, before anything else is done for
    /// the item.
    pub fn reconcile(&mut self) {
        for buffered in std::mem::take(&mut self.buffered) {
            if self.is_settled(&buffered) {
                self.journal
                    .append(&json!({"reconciled": buffered.checkpoint.id}));
                continue;
            }
            if let Some(group) = self.group_position(&buffered.group_id) {
                self.send_buffered(group, &buffered);
            }
            self.buffered.push(buffered);
        }
    }

    fn send_buffered(&mut self, group: usize, buffered: &Buffered) {
        let intent = buffered_intent(buffered);
        if !self.may_send(group, &intent) {
            return;
        }
        let payload = json!({
            "workItemId": buffered.work_item_id,
            "ownershipEpoch": buffered.binding["ownershipEpoch"],
            "executionLeaseId": buffered.binding["executionLeaseId"],
            "checkpoint": told(&buffered.checkpoint),
        });
        let extension = json!({"version": "1.0.0", "critical": true, "data": buffered.binding});
        self.send(Draft {
            intent,
            group,
            payload,
            extensions: Some(json!({OFFLINE_EXTENSION: extension})),
        });
    }

    /// Whether a buffered Checkpoint has become a fact, was refused, or is for an item that is not
    /// ours any more. As long as its Group's facts are not all known nothing is settled.
    fn is_settled(&self, buffered: &Buffered) -> bool {
        let Some(position) = self.group_position(&buffered.group_id) else {
            return false;
        };
        let group = &self.groups[position];
        if !self.hears(group) {
            return false;
        }
        let Some(tracked) = group.history.tracked(&buffered.work_item_id) else {
            return true;
        };
        let epoch = tracked.item.epoch_of(&self.agent.id);
        tracked.item.state != State::Active
            || epoch != Some(count(&buffered.binding, "ownershipEpoch"))
            || self.is_refused(position, &buffered_intent(buffered))
    }
}

fn buffered_intent(buffered: &Buffered) -> Intent {
    Intent {
        kind: "work.checkpoint",
        work_item_id: buffered.work_item_id.clone(),
        key: buffered.checkpoint.id.clone(),
    }
}
