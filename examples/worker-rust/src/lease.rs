//! Renewal of Execution Leases: at half of their time, so that a lost answer loses no lease.

use crate::capacity_slot::Phase;
use crate::instant::seconds_long;
use crate::outbox::{Draft, Intent, RENEW};
use crate::session::Session;
use serde_json::json;

impl Session {
    /// Renews the lease of each run that still needs it, naming it (MWP-WRK-013).
    pub fn renew_leases(&mut self) {
        for slot in 0..self.slots.len() {
            let Some(run) = &self.slots[slot] else {
                continue;
            };
            let (group, work_item_id) = (run.group, run.work_item_id.clone());
            let is_leaving = matches!(run.phase, Phase::Checkpointing(..));
            let history = &self.groups[group].history;
            let lease = history
                .tracked(&work_item_id)
                .and_then(|tracked| self.current_lease(tracked));
            let Some(lease) = lease
                .filter(|_| !is_leaving && !self.is_stuck(run))
                .cloned()
            else {
                continue;
            };
            let half = lease.expires_at.seconds_since(&lease.renewed_at) / 2.0;
            let due_at = lease.renewed_at.plus(seconds_long(half));
            let intent = Intent {
                kind: RENEW,
                key: format!("{} {}", lease.id, lease.expires_at.spelled()),
                work_item_id,
            };
            if self.now < due_at {
                self.wake_at(due_at);
            } else if self.may_send(group, &intent) {
                let payload = json!({
                    "workItemId": intent.work_item_id,
                    "ownershipEpoch": lease.ownership_epoch,
                    "executionLeaseId": lease.id,
                });
                self.send(Draft {
                    intent,
                    group,
                    payload,
                    extensions: None,
                });
            }
        }
    }
}
