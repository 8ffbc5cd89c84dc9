//! Failed attempts: counted over crashes, tried again within the contract's bounds, and reported with
//! Evidence in the end (MWP-WRK-018).
use crate::capacity_slot::{Outcome, Phase};
use crate::group_history::Tracked;
use crate::instant::seconds_long;
use crate::json::{count, entries, owned};
use crate::outbox::{Draft, Intent};
use crate::session::Session;
use crate::work_item::RetryPolicy;
use serde_json::{json, Value};
use std::collections::HashMap;
use std::time::Duration;

/// The failed attempts at each item under one Ownership Epoch. They outlast a crash (MWP-WRK-018).
#[derive(Default)]
pub struct Failures(HashMap<(String, u64), Failure>);

#[derive(Default)]
struct Failure {
    attempts: u64,
    is_final: bool,
    reason: String,
    evidence: Vec<Value>,
}

impl Failures {
    pub fn note(&mut self, record: &Value) {
        let key = (owned(record, "workItemId"), count(record, "ownershipEpoch"));
        let failure = self.0.entry(key).or_default();
        failure.attempts += 1;
        failure.is_final = record["isFinal"] == true;
        failure.reason = owned(record, "reason");
        failure.evidence = entries(record, "evidence").to_vec();
    }

    fn attempts(&self, work_item_id: &str, ownership_epoch: u64) -> u64 {
        let failure = self.0.get(&(work_item_id.to_owned(), ownership_epoch));
        failure.map_or(0, |failure| failure.attempts)
    }
}

impl Session {
    /// A failed attempt: tried again within the contract's attempts, delay and deadline (MWP-WRK-018).
    pub fn take_failure(&mut self, slot: usize, report: &Value) {
        let Some(run) = &self.slots[slot] else {
            return;
        };
        let (work_item_id, epoch) = (run.work_item_id.clone(), run.ownership_epoch);
        let Some(tracked) = self.groups[run.group].history.tracked(&work_item_id) else {
            return;
        };
        let contract = &tracked.item.contract;
        let attempts = self.failures.attempts(&work_item_id, epoch) + 1;
        let next_at = self.now.plus(delay(&contract.retry, attempts));
        let reason = owned(report, "code");
        let is_retryable = contract.retry.retryable_failures.contains(&reason)
            && attempts < contract.retry.max_attempts
            && contract
                .deadline
                .as_ref()
                .is_none_or(|deadline| next_at < *deadline);
        let evidence = entries(report, "evidence").to_vec();
        let record = json!({
            "workItemId": work_item_id,
            "ownershipEpoch": epoch,
            "isFinal": !is_retryable,
            "reason": reason,
            "evidence": evidence,
        });
        self.failures.note(&record);
        self.journal.append(&json!({"failure": record}));
        if !is_retryable {
            self.finish(slot, Outcome::Failed { reason, evidence });
        } else if let Some(run) = &mut self.slots[slot] {
            run.phase = Phase::Waiting(next_at);
        }
    }

    /// Whether the attempts at a queued item are used up.
    pub fn has_failed(&self, tracked: &Tracked) -> bool {
        let epoch = tracked.item.epoch_of(&self.agent.id).unwrap_or(0);
        let failure = self.failures.0.get(&(tracked.item.id.clone(), epoch));
        failure.is_some_and(|failure| failure.is_final)
    }

    /// Reports final failures whose own session ended before they were a fact: the item is queued
    /// again, so that no lease is named.
    pub fn report_old_failures(&mut self) {
        let mut owed = Vec::new();
        for ((work_item_id, epoch), failure) in &self.failures.0 {
            for (position, group) in self.groups.iter().enumerate() {
                let tracked = group
                    .history
                    .tracked(work_item_id)
                    .filter(|_| failure.is_final);
                let is_queued = tracked.is_some_and(|tracked| {
                    self.is_queued(tracked) && tracked.item.epoch_of(&self.agent.id) == Some(*epoch)
                });
                if is_queued && !self.is_in_a_slot(work_item_id) {
                    owed.push((position, work_item_id.clone(), *epoch));
                }
            }
        }
        for (group, work_item_id, epoch) in owed {
            let Some(failure) = self.failures.0.get(&(work_item_id.clone(), epoch)) else {
                continue;
            };
            let evidence = self.signed_evidence(&failure.evidence);
            let payload = json!({
                "workItemId": work_item_id,
                "ownershipEpoch": epoch,
                "reason": failure.reason,
                "evidence": evidence,
            });
            let intent = Intent {
                kind: "work.fail",
                work_item_id,
                key: String::new(),
            };
            if self.may_send(group, &intent) {
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

/// The wait before the next attempt: never longer than the contract's longest.
fn delay(policy: &RetryPolicy, attempts: u64) -> Duration {
    match policy.backoff.as_str() {
        "none" => Duration::ZERO,
        "exponential" => {
            let doubled = seconds_long(2f64.powi(attempts.min(30) as i32 - 1));
            doubled.min(policy.max_delay)
        }
        _ => policy.max_delay,
    }
}
