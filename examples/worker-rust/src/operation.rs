//! Operations outside a slot: each under a current lease, a token that fits, an open gate and a
//! budget, and under an idempotency key of its own (MWP-WRK-014, MWP-WRK-031, MWP-AUT-001).

use crate::canonical::content_hash;
use crate::capacity_slot::Run;
use crate::group_history::Tracked;
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
        let tracked = group.history.tracked(&run.work_item_id);
        let tracked = tracked.ok_or("no such WorkItem")?;
        self.standing(run, tracked)?;
        let kind = text(report, "effect");
        let is_outside = kind != "reversible";
        let token = self.token(run, kind, group.down_since.is_some() && !is_outside);
        let token = token.ok_or("no capability token allows it")?;
        let key = content_hash(&json!({
            "missionId": tracked.item.mission_id,
            "workItemId": run.work_item_id,
            "ownershipEpoch": run.ownership_epoch,
            "operationId": report["operationId"],
        }));
        if is_outside && !self.can_be_paid(run, tracked, token, &key) {
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

    /// Whether the work may do anything at all at this moment.
    fn standing(&self, run: &Run, tracked: &Tracked) -> Result<(), &'static str> {
        let group = &self.groups[run.group];
        let lease = self.current_lease(tracked);
        let is_cut_off = group.down_since.is_some();
        if lease.is_none_or(|lease| lease.id != run.lease_id) {
            Err("no current Execution Lease")
        } else if !group.is_member(&self.now) || group.history.mission_is_over {
            Err("the work has ended")
        } else if is_cut_off && self.is_beyond_grace(group) {
            Err("the grace of the outage is over")
        } else if !is_cut_off && !self.hears(group) {
            Err("the Group is not reconciled yet")
        } else if !self.gate_is_open(tracked) {
            Err("no Approval is in force")
        } else {
            Ok(())
        }
    }

    /// Whether the contract, the token and the Mission's budget leave room for one more effect;
    /// doing the same one again is none.
    fn can_be_paid(&self, run: &Run, tracked: &Tracked, token: &Value, key: &str) -> bool {
        let id = &run.work_item_id;
        let others = self
            .operations
            .others_carried_out(id, run.ownership_epoch, key);
        let left = self.policy.side_effects_left(&self.groups[run.group].id);
        let limits = [
            tracked.item.contract.limit("externalSideEffectLimit"),
            token["budget"]["externalSideEffectLimit"].as_f64(),
            left.map(|left| left + others),
        ];
        let mut known = limits.into_iter().flatten();
        known.all(|limit| others + 1.0 <= limit)
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
