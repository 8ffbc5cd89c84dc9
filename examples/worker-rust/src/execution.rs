//! What the executor reports, and the Commands that are owed for it.

use crate::capacity_slot::{Cause, Outcome, Phase, Run};
use crate::json::{entries, owned, text, texts};
use crate::outbox::{Draft, Intent};
use crate::session::Session;
use crate::signed_document::{ARTIFACT, EVIDENCE};
use crate::work_item::Checkpoint;
use serde_json::{json, Value};

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
        let slot = self
            .runs()
            .find(|(slot, run)| is_meant(*slot, run))
            .map(|(slot, _)| slot);
        if text(report, "kind") == "operation" {
            return self.answer_operation(slot, stimulus);
        }
        let Some(slot) = slot else {
            return;
        };
        if let Some(run) = &mut self.slots[slot] {
            run.account.take(report);
        }
        match text(report, "kind") {
            "safe_point" => self.reach_safe_point(slot, report),
            "progress" => self.guard_budget(slot),
            "blocked" => self.take_block(slot, report),
            "completed" => self.take_completion(slot, report),
            "failed" => self.take_failure(slot, report),
            _ => {}
        }
    }

    /// At a safe point work that was asked to give way is set aside; other work goes on.
    fn reach_safe_point(&mut self, slot: usize, report: &Value) {
        let checkpoint = Checkpoint::read(report);
        if self.is_out_of_reach(slot) {
            return self.buffer(slot, checkpoint, &["pause", "release"]);
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
                let waiting = match cause {
                    Cause::Priority(waiting) => Some(waiting),
                    _ => None,
                };
                run.phase = Phase::Checkpointing(checkpoint, waiting);
            }
            phase => run.phase = phase,
        }
    }

    /// Blocked work is reported with its Checkpoint inside, and no other Command before (MWP-WRK-017).
    fn take_block(&mut self, slot: usize, report: &Value) {
        let checkpoint = Checkpoint::read(report);
        if self.is_out_of_reach(slot) {
            return self.buffer(slot, checkpoint, &["release"]);
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

    /// A result without Evidence for every acceptance criterion is none (MWP-WRK-025).
    fn take_completion(&mut self, slot: usize, report: &Value) {
        let Some(run) = &self.slots[slot] else {
            return;
        };
        let tracked = self.groups[run.group].history.tracked(&run.work_item_id);
        let evidence = entries(report, "evidence").to_vec();
        let covered: Vec<String> = evidence
            .iter()
            .flat_map(|one| texts(one, "criterionIds"))
            .collect();
        let mut criteria = tracked
            .iter()
            .flat_map(|tracked| &tracked.item.contract.criteria);
        if criteria.all(|criterion| covered.contains(criterion)) {
            let artifacts = entries(report, "artifacts").to_vec();
            return self.finish(
                slot,
                Outcome::Completed {
                    artifacts,
                    evidence,
                },
            );
        }
        self.take_failure(
            slot,
            &json!({"code": "EVIDENCE_INCOMPLETE", "evidence": evidence}),
        );
    }

    pub fn finish(&mut self, slot: usize, outcome: Outcome) {
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
                } else if self.may_try_again(run) {
                    run.phase = Phase::Running;
                    run.since = self.now.clone();
                    self.emit_run(slot, run);
                }
            }
            Phase::Checkpointing(checkpoint, _) => {
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
            Phase::Finished(Outcome::Completed {
                artifacts,
                evidence,
            }) => {
                self.submit(run, artifacts, evidence);
            }
            Phase::Finished(Outcome::Blocked {
                checkpoint,
                resolution,
            }) => {
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

    /// Whether the next attempt may begin: nothing new does while the Group is out of reach.
    fn may_try_again(&self, run: &Run) -> bool {
        let group = &self.groups[run.group];
        let tracked = group.history.tracked(&run.work_item_id);
        self.hears(group) && tracked.is_some_and(|tracked| self.gate_is_open(tracked))
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
            let ids: Vec<&str> = artifacts
                .iter()
                .map(|artifact| text(artifact, "artifactId"))
                .collect();
            let evidence = self.signed_evidence(evidence);
            let payload = json!({"artifactIds": ids, "evidence": evidence});
            self.send_under_lease(run, run.intent("work.submit", ""), payload);
        }
    }

    /// A Command that names the current lease; once that is gone it is dropped, never relabelled.
    pub fn send_under_lease(&mut self, run: &Run, intent: Intent, mut payload: Value) {
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

    pub fn signed_evidence(&self, evidence: &[Value]) -> Vec<Value> {
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
                let mut ids = artifacts
                    .iter()
                    .map(|artifact| text(artifact, "artifactId"));
                refused("work.submit", "") || ids.any(|id| refused("artifact.publish", id))
            }
            Phase::Finished(Outcome::Blocked { checkpoint, .. }) => {
                refused("work.block", &checkpoint.id)
            }
            Phase::Finished(Outcome::Failed { .. }) => refused("work.fail", ""),
            _ => false,
        }
    }
}

impl Run {
    /// An intent under this run's lease.
    pub fn intent(&self, kind: &'static str, key: &str) -> Intent {
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
