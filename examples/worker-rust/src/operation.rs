//! Operations outside a slot: each under a current lease, a token that fits, an open gate and a
//! budget, and under an idempotency key of its own (MWP-WRK-014, MWP-WRK-031, MWP-AUT-001).

use crate::canonical::content_hash;
use crate::capacity_slot::Run;
use crate::instant::Instant;
use crate::json::{count, owned, text, texts};
use crate::session::Session;
use serde_json::{json, Value};
use std::collections::HashSet;

#[derive(Default)]
pub struct Operations {
    tokens: Vec<Value>,
    /// Idempotency keys of the effects outside that were carried out, with their item and epoch.
    carried_out: HashSet<(String, u64, String)>,
}

impl Operations {
    pub fn add_token(&mut self, token: &Value) {
        self.tokens.push(token.clone());
    }

    pub fn revoke(&mut self, token_id: &str) {
        self.tokens
            .retain(|token| text(token, "tokenId") != token_id);
    }

    pub fn note(&mut self, record: &Value) {
        let epoch = count(record, "ownershipEpoch");
        let key = owned(record, "idempotencyKey");
        self.carried_out
            .insert((owned(record, "workItemId"), epoch, key));
    }

    /// How many effects outside an item has had under an Ownership Epoch, but for one of that key.
    fn others_carried_out(&self, work_item_id: &str, ownership_epoch: u64, key: &str) -> f64 {
        let others = self.carried_out.iter().filter(|(item, epoch, other)| {
            item == work_item_id && *epoch == ownership_epoch && other != key
        });
        others.count() as f64
    }
}

impl Session {
    /// Answers the wish for an operation: carried out, or refused with the reason.
    pub fn answer_operation(&mut self, slot: Option<usize>, stimulus: &Value) {
        let report = &stimulus["report"];
        let mut effect = json!({
            "type": "operation",
            "slotId": stimulus["slotId"],
            "workItemId": stimulus["workItemId"],
            "operationId": report["operationId"],
        });
        let run = slot.and_then(|slot| self.slots[slot].as_ref());
        match run
            .ok_or("no run under this lease")
            .and_then(|run| self.permit(run, report))
        {
            Ok(permit) => {
                effect["leaseId"] = json!(permit.lease_id);
                effect["tokenId"] = json!(permit.token_id);
                effect["idempotencyKey"] = json!(permit.key);
                if permit.is_outside {
                    let record = json!({
                        "workItemId": stimulus["workItemId"],
                        "ownershipEpoch": permit.ownership_epoch,
                        "idempotencyKey": permit.key,
                    });
                    self.operations.note(&record);
                    self.journal.append(&json!({"operation": record}));
                }
            }
            Err(reason) => effect["refused"] = json!(reason),
        }
        self.effect(effect);
    }

    fn permit(&self, run: &Run, report: &Value) -> Result<Permit, &'static str> {
        let group = &self.groups[run.group];
        let tracked = group
            .history
            .tracked(&run.work_item_id)
            .ok_or("no such WorkItem")?;
        let lease = self
            .current_lease(tracked)
            .filter(|lease| lease.id == run.lease_id);
        lease.ok_or("no current Execution Lease")?;
        let is_cut_off = group.down_since.is_some();
        if !group.is_member(&self.now) || group.history.mission_is_over {
            return Err("the work has ended");
        }
        if is_cut_off && self.is_beyond_grace(group) {
            return Err("the grace of the outage is over");
        }
        if !is_cut_off && !self.hears(group) {
            return Err("the Group is not reconciled yet");
        }
        if !self.gate_is_open(tracked) {
            return Err("no Approval is in force");
        }
        let kind = text(report, "effect");
        let is_outside = kind != "reversible";
        let token = self.token(run, kind, is_cut_off && !is_outside);
        let token = token.ok_or("no capability token allows it")?;
        let key = content_hash(&json!({
            "missionId": tracked.item.mission_id,
            "workItemId": run.work_item_id,
            "ownershipEpoch": run.ownership_epoch,
            "operationId": report["operationId"],
        }));
        let others =
            self.operations
                .others_carried_out(&run.work_item_id, run.ownership_epoch, &key);
        let limits = [
            tracked.item.contract.limit("externalSideEffectLimit"),
            token["budget"]["externalSideEffectLimit"].as_f64(),
            self.policy
                .side_effects_left(&group.id)
                .map(|left| left + others),
        ];
        if is_outside
            && limits
                .into_iter()
                .flatten()
                .any(|limit| others + 1.0 > limit)
        {
            return Err("the budget for side effects is used up");
        }
        Ok(Permit {
            lease_id: run.lease_id.clone(),
            token_id: owned(token, "tokenId"),
            key,
            ownership_epoch: run.ownership_epoch,
            is_outside,
        })
    }

    /// A token that is bound to the run in every respect, names the kind, and has not expired;
    /// in an outage expiry may be overlooked for what is reversible.
    fn token(&self, run: &Run, kind: &str, overlooks_expiry: bool) -> Option<&Value> {
        self.operations.tokens.iter().find(|token| {
            let in_force =
                Instant::parse(text(token, "expiresAt")).is_some_and(|end| self.now < end);
            text(token, "leaseId") == run.lease_id
                && text(token, "agentId") == self.agent.id
                && count(token, "sessionEpoch") == self.epoch
                && text(token, "workItemId") == run.work_item_id
                && count(token, "ownershipEpoch") == run.ownership_epoch
                && texts(token, "operations").iter().any(|one| one == kind)
                && (in_force || overlooks_expiry)
        })
    }
}

struct Permit {
    lease_id: String,
    token_id: String,
    key: String,
    ownership_epoch: u64,
    is_outside: bool,
}
