//! What the executor reports, and the Commands that are owed for it.

use crate::capacity_slot::{Cause, Outcome, Phase, Run};
use crate::group_history::Tracked;
use crate::instant::seconds_long;
use crate::json::{count, entries, owned, text};
use crate::outbox::{Draft, Intent, RECORD_USAGE};
use crate::session::Session;
use crate::signed_document::{ARTIFACT, EVIDENCE};
use crate::work_item::{Checkpoint, RetryPolicy};
use serde_json::{json, Map, Value};
use std::collections::HashMap;
use std::time::Duration;

/// The dimensions of usage, and what a budget calls the limit of each.
const DIMENSIONS: [(&str, &str); 6] = [
    ("financial", "financialLimit"),
    ("modelTokens", "modelTokenLimit"),
    ("toolCalls", "toolCallLimit"),
    ("computeSeconds", "computeSecondsLimit"),
    ("wallClockSeconds", "wallClockSecondsLimit"),
    ("externalSideEffects", "externalSideEffectLimit"),
];

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
    /// One report about one run; what it says of an earlier run of the item means nothing now.
    pub fn receive_report(&mut self, stimulus: &Value) {
        let report = &stimulus["report"];
        let is_meant = |slot: usize, run: &Run| {
            Self::slot_id(slot) == text(stimulus, "slotId")
                && run.work_item_id == text(stimulus, "workItemId")
                && run.lease_id == text(stimulus, "leaseId")
                && matches!(run.phase, Phase::Running | Phase::Preempting(_))
        };
        let slot = self.runs().find(|(slot, run)| is_meant(*slot, run)).map(|(slot, _)| slot);
        if text(report, "kind") == "operation" {
            return self.answer_operation(slot, stimulus);
        }
        let Some(slot) = slot else {
            return;
        };
        self.take_usage(slot, report);
        match text(report, "kind") {
            "safe_point" => self.reach_safe_point(slot, report),
            "progress" => self.guard_budget(slot, report),
            "blocked" => self.take_block(slot, report),
            "completed" => self.finish(
                slot,
                Outcome::Completed {
                    artifacts: entries(report, "artifacts").to_vec(),
                    evidence: entries(report, "evidence").to_vec(),
                },
            ),
            "failed" => self.take_failure(slot, report),
            _ => {}
        }
    }

    /// At a safe point work that was asked to give way is set aside; other work goes on.
    fn reach_safe_point(&mut self, slot: usize, report: &Value) {
        let checkpoint = Checkpoint::read(report);
        if self.is_out_of_reach(slot) {
            return self.buffer(slot, checkpoint, report, &["pause", "release"]);
        }
        let Some(run) = &mut self.slots[slot] else {
            return;
        };
        match std::mem::replace(&mut run.phase, Phase::Running) {
            Phase::Preempting(Cause::Budget(resolution)) => {
                run.phase = Phase::Finished(Outcome::Blocked {
                    checkpoint,
                    resolution,
                });
            }
            Phase::Preempting(cause) => {
                if let Cause::Priority(waiting) = cause {
                    self.promised.push(waiting);
                }
                run.phase = Phase::Checkpointing(checkpoint);
            }
            phase => run.phase = phase,
        }
    }

    /// A budget that is used up pauses the work; the matter is escalated by blocking it (MWP-AUT-004).
    fn guard_budget(&mut self, slot: usize, report: &Value) {
        let Some(run) = &self.slots[slot] else {
            return;
        };
        let tracked = self.groups[run.group].history.tracked(&run.work_item_id);
        let Some(contract) = tracked.map(|tracked| &tracked.item.contract) else {
            return;
        };
        let used = |name: &str| report["usage"][name].as_f64().unwrap_or(0.0);
        let spent = DIMENSIONS
            .iter()
            .find(|(name, limit)| used(name) > 0.0 && contract.limit(limit).is_some_and(|limit| used(name) >= limit));
        if let (Some((_, limit)), Phase::Running) = (spent, &run.phase) {
            let resolution = format!("The budget of this WorkItem is used up: {limit}.");
            self.ask_for_safe_point(slot, Cause::Budget(resolution));
        }
    }

    /// Blocked work is reported with its Checkpoint inside, and no other Command before (MWP-WRK-017).
    fn take_block(&mut self, slot: usize, report: &Value) {
        let checkpoint = Checkpoint::read(report);
        if self.is_out_of_reach(slot) {
            return self.buffer(slot, checkpoint, report, &["release"]);
        }
        let resolution = owned(report, "requiredResolution");
        self.finish(
            slot,
            Outcome::Blocked {
                checkpoint,
                resolution,
            },
        );
    }

    /// A failed attempt: tried again within the contract's attempts, delay and deadline (MWP-WRK-018).
    fn take_failure(&mut self, slot: usize, report: &Value) {
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
            && contract.deadline.as_ref().is_none_or(|deadline| next_at < *deadline);
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

    fn finish(&mut self, slot: usize, outcome: Outcome) {
        if let Some(run) = &mut self.slots[slot] {
            run.phase = Phase::Finished(outcome);
        }
    }

    /// Sends what is owed for each run, and begins the attempts that are due.
    pub fn report_results(&mut self) {
        for slot in 0..self.slots.len() {
            if let Some(mut run) = self.slots[slot].take() {
                self.charge_usage(&mut run);
                self.report_result(slot, &mut run);
                self.slots[slot] = Some(run);
            }
        }
        self.report_old_failures();
    }

    fn report_result(&mut self, slot: usize, run: &mut Run) {
        match &run.phase {
            Phase::Running | Phase::Preempting(_) => {}
            Phase::Waiting(until) => {
                if self.now < *until {
                    self.wake_at(until.clone());
                } else if self.hears(&self.groups[run.group]) {
                    run.phase = Phase::Running;
                    run.since = self.now.clone();
                    self.emit_run(slot, run);
                }
            }
            Phase::Checkpointing(checkpoint) => {
                let intent = run.intent("work.checkpoint", &checkpoint.id);
                if self.is_refused(run.group, &intent) {
                    self.effect(json!({
                        "type": "continue",
                        "slotId": Self::slot_id(slot),
                        "workItemId": run.work_item_id,
                    }));
                    run.phase = Phase::Running;
                } else {
                    let checkpoint = json!({"checkpoint": told(checkpoint)});
                    self.send_under_lease(run, intent, checkpoint);
                }
            }
            Phase::Finished(Outcome::Completed { artifacts, evidence }) => {
                self.submit(run, artifacts, evidence);
            }
            Phase::Finished(Outcome::Blocked { checkpoint, resolution }) => {
                let intent = run.intent("work.block", &checkpoint.id);
                let payload = json!({"checkpoint": told(checkpoint), "reason": resolution});
                self.send_under_lease(run, intent, payload);
            }
            Phase::Finished(Outcome::Failed { reason, evidence }) => {
                let intent = run.intent("work.fail", "");
                let evidence = self.signed_evidence(evidence);
                let payload = json!({"reason": reason, "evidence": evidence});
                self.send_under_lease(run, intent, payload);
            }
        }
    }

    /// Publishes each Artifact under its signed manifest, and then submits with signed Evidence for
    /// every acceptance criterion (MWP-WRK-023, MWP-WRK-025).
    fn submit(&mut self, run: &Run, artifacts: &[Value], evidence: &[Value]) {
        let mut all_are_published = true;
        for artifact in artifacts {
            let id = text(artifact, "artifactId");
            if self.groups[run.group].history.published.contains(id) {
                continue;
            }
            all_are_published = false;
            let mut manifest = artifact.clone();
            self.agent.signer.sign(&mut manifest, &ARTIFACT);
            let payload = json!({"artifact": manifest});
            self.send_under_lease(run, run.intent("artifact.publish", id), payload);
        }
        if all_are_published {
            let ids: Vec<&str> = artifacts.iter().map(|artifact| text(artifact, "artifactId")).collect();
            let evidence = self.signed_evidence(evidence);
            let payload = json!({"artifactIds": ids, "evidence": evidence});
            self.send_under_lease(run, run.intent("work.submit", ""), payload);
        }
    }

    /// A Command that names the current lease; once that is gone it is dropped, never relabelled.
    fn send_under_lease(&mut self, run: &Run, intent: Intent, mut payload: Value) {
        if !self.may_send(run.group, &intent) {
            return;
        }
        payload["workItemId"] = json!(run.work_item_id);
        payload["ownershipEpoch"] = json!(run.ownership_epoch);
        payload["executionLeaseId"] = json!(run.lease_id);
        self.send(Draft {
            intent,
            group: run.group,
            payload,
            extensions: None,
        });
    }

    fn signed_evidence(&self, evidence: &[Value]) -> Vec<Value> {
        let mut signed = evidence.to_vec();
        for document in &mut signed {
            self.agent.signer.sign(document, &EVIDENCE);
        }
        signed
    }

    /// Whether what is owed for a run was refused: then nothing keeps its lease any longer.
    pub fn is_stuck(&self, run: &Run) -> bool {
        let refused = |kind, key: &str| self.is_refused(run.group, &run.intent(kind, key));
        match &run.phase {
            Phase::Finished(Outcome::Completed { artifacts, .. }) => {
                let mut ids = artifacts.iter().map(|artifact| text(artifact, "artifactId"));
                refused("work.submit", "") || ids.any(|id| refused("artifact.publish", id))
            }
            Phase::Finished(Outcome::Blocked { checkpoint, .. }) => refused("work.block", &checkpoint.id),
            Phase::Finished(Outcome::Failed { .. }) => refused("work.fail", ""),
            _ => false,
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
    fn report_old_failures(&mut self) {
        let mut owed = Vec::new();
        for ((work_item_id, epoch), failure) in &self.failures.0 {
            for (position, group) in self.groups.iter().enumerate() {
                let tracked = group.history.tracked(work_item_id).filter(|_| failure.is_final);
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

    fn take_usage(&mut self, slot: usize, report: &Value) {
        if let (Some(run), Some(usage)) = (&mut self.slots[slot], report["usage"].as_object()) {
            run.uncharged = Some(usage.clone());
        }
    }

    /// Has the ledger charged with what a run has used (section 12).
    fn charge_usage(&mut self, run: &mut Run) {
        let Some(usage) = run.uncharged.as_ref().filter(|usage| !is_zero(usage)) else {
            return;
        };
        let intent = run.intent(RECORD_USAGE, "");
        if self.may_send(run.group, &intent) {
            let payload = json!({"usageDelta": in_all_dimensions(usage)});
            self.send_under_lease(run, intent, payload);
            run.uncharged = None;
        }
    }
}

impl Run {
    /// An intent under this run's lease.
    fn intent(&self, kind: &'static str, key: &str) -> Intent {
        Intent {
            kind,
            work_item_id: self.work_item_id.clone(),
            key: format!("{} {key}", self.lease_id),
        }
    }
}

/// A Checkpoint as Commands tell it.
pub fn told(checkpoint: &Checkpoint) -> Value {
    json!({"checkpointId": checkpoint.id, "checkpointHash": checkpoint.hash})
}

/// Usage with a number in each of the six dimensions.
pub fn in_all_dimensions(usage: &Map<String, Value>) -> Value {
    let all = DIMENSIONS.iter().map(|(name, _)| {
        let used = usage.get(*name).cloned().unwrap_or_else(|| json!(0));
        ((*name).to_owned(), used)
    });
    Value::Object(all.collect())
}

fn is_zero(usage: &Map<String, Value>) -> bool {
    usage.values().all(|used| used.as_f64().unwrap_or(0.0) == 0.0)
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
