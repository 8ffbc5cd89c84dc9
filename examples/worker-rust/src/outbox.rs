//! Commands: made once, sent again unchanged, answered or refused.

use crate::instant::{seconds_long, Instant};
use crate::json::{count, owned, text};
use crate::session::Session;
use crate::signed_document::COMMAND;
use crate::work_item::OFFLINE_EXTENSION;
use serde_json::{json, Value};
use std::collections::HashMap;

/// After which time an unanswered Command is sent again, as declared.
const RESEND_SECONDS: f64 = 30.0;
const RETRY_SECONDS: f64 = 5.0;
/// An invalid signature of an older Command may mean that the Command is no longer fresh.
const FRESH_SECONDS: f64 = 10.0;

pub const RENEW: &str = "ext.missionweaveprotocol.core.work_execution_lease_renew";
pub const RECORD_USAGE: &str = "ext.missionweaveprotocol.core.resource_usage_record";

/// What a Command is about. `key` tells one intent from the next of the same kind for the same
/// item: the offer accepted, the lease named, the Artifact published.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Intent {
    pub kind: &'static str,
    pub work_item_id: String,
    pub key: String,
}

/// The facts that a decision rests on: what was refused under them is not asked again before they
/// have changed (MWP-EXT-005).
#[derive(Clone, PartialEq, Eq)]
struct Ground {
    facts: u64,
    policies: u64,
    membership_epoch: u64,
    session_epoch: u64,
}

/// A Command that is still to be made.
pub struct Draft {
    pub intent: Intent,
    pub group: usize,
    pub payload: Value,
    pub extensions: Option<Value>,
}

struct Pending {
    intent: Intent,
    group: usize,
    command: Value,
    sent_at: Instant,
    due_at: Instant,
    ground: Ground,
}

#[derive(Default)]
pub struct Outbox {
    pending: Vec<Pending>,
    refused: HashMap<Intent, Ground>,
    /// What was made anew after a refusal that allows it: once on the same ground.
    mended: HashMap<Intent, Ground>,
}

impl Outbox {
    pub fn has_pending(&self, intent: &Intent) -> bool {
        self.pending.iter().any(|pending| pending.intent == *intent)
    }

    /// The items whose start has been asked for and not answered: each takes a slot already.
    pub fn starting(&self) -> impl Iterator<Item = (usize, &str)> {
        let starts = self
            .pending
            .iter()
            .filter(|pending| pending.intent.kind == "work.start");
        starts.map(|pending| (pending.group, pending.intent.work_item_id.as_str()))
    }

    /// How many offers have been accepted without an answer yet, by Group.
    pub fn accepting(&self) -> impl Iterator<Item = usize> + '_ {
        let accepts = self
            .pending
            .iter()
            .filter(|pending| pending.intent.kind == "work.accept_offer");
        accepts.map(|pending| pending.group)
    }

    /// No slot waits for the answer to a start while its Group is out of reach: what the replay does
    /// not show to be granted is decided anew.
    pub fn forget_starts(&mut self, group: usize) {
        self.pending
            .retain(|pending| pending.group != group || pending.intent.kind != "work.start");
    }

    /// A new session has no use for the Commands of the old one.
    pub fn forget_all(&mut self) {
        self.pending.clear();
    }
}

impl Session {
    /// Whether a Command may be made: its Group hears, none like it is on its way, and the same was
    /// not refused on the same ground.
    pub fn may_send(&self, group: usize, intent: &Intent) -> bool {
        self.speaks(group)
            && !self.outbox.has_pending(intent)
            && self.outbox.refused.get(intent) != Some(&self.ground(group, intent))
    }

    /// Whether a Command of this intent was refused and nothing has changed since.
    pub fn is_refused(&self, group: usize, intent: &Intent) -> bool {
        self.outbox.refused.get(intent) == Some(&self.ground(group, intent))
    }

    /// Makes, signs and sends a Command with the current epochs (MWP-EVT-001, MWP-FND-016).
    pub fn send(&mut self, draft: Draft) {
        let (group, intent) = (draft.group, draft.intent);
        let mut command = json!({
            "protocolVersion": "0.1",
            "actionId": self.identifier("action", Some(group)),
            "actor": {"type": "agent", "id": self.agent.id},
            "sessionEpoch": self.epoch,
            "membershipEpoch": self.groups[group].membership_epoch(),
            "groupId": self.groups[group].id,
            "workItemId": intent.work_item_id,
            "kind": intent.kind,
            "correlationId": self.identifier("correlation", Some(group)),
            "issuedAt": self.stamp,
            "payload": draft.payload,
        });
        let moves_the_item = !matches!(intent.kind, "artifact.publish" | RECORD_USAGE);
        let tracked = self.groups[group].history.tracked(&intent.work_item_id);
        if let Some(tracked) = tracked.filter(|_| moves_the_item) {
            command["expectedRevision"] = json!(tracked.item.revision);
        }
        if let Some(extensions) = draft.extensions {
            command["extensions"] = extensions;
        }
        self.agent.signer.sign(&mut command, &COMMAND);
        self.outbox.refused.remove(&intent);
        let pending = Pending {
            ground: self.ground(group, &intent),
            intent,
            group,
            command,
            sent_at: self.now.clone(),
            due_at: self.now.plus(seconds_long(RESEND_SECONDS)),
        };
        self.wake_at(pending.due_at.clone());
        self.transmit(group, &pending.command);
        self.outbox.pending.push(pending);
    }

    /// Drops what has lost its sense, and sends again, byte for byte, what had no answer (MWP-EVT-003).
    pub fn resend(&mut self) {
        let pending = std::mem::take(&mut self.outbox.pending);
        for mut waiting in pending {
            if !self.still_makes_sense(&waiting) {
                if waiting.intent.kind == "work.start" {
                    self.scheduler
                        .refund(waiting.group, &waiting.intent.work_item_id);
                }
                continue;
            }
            if waiting.due_at <= self.now && self.speaks(waiting.group) {
                self.transmit(waiting.group, &waiting.command);
                waiting.due_at = self.now.plus(seconds_long(RESEND_SECONDS));
            }
            if self.groups[waiting.group].is_reachable() {
                self.wake_at(waiting.due_at.clone());
            }
            self.outbox.pending.push(waiting);
        }
    }

    /// The Event that a Command caused is its receipt.
    pub fn receive_receipt(&mut self, event: &Value) {
        if text(event, "kind").starts_with("membership.") {
            return; // Acceptance activates a Membership first; its own Event follows.
        }
        let cause = text(&event["cause"], "id");
        self.outbox
            .pending
            .retain(|pending| text(&pending.command, "actionId") != cause);
    }

    /// An ERROR frame: it answers a Command, or asks a whole Group to be patient.
    pub fn receive_error(&mut self, error: &Value) {
        let code = text(error, "code");
        let group = self.group_position(text(error, "groupId"));
        let wait = error
            .get("retryAfterMs")
            .map(|_| count(error, "retryAfterMs") as f64 / 1000.0);
        let retry_at = self.now.plus(seconds_long(wait.unwrap_or(RETRY_SECONDS)));
        if code == "CURSOR_TOO_OLD" {
            if let Some(group) = group {
                self.groups[group].snapshot_hash = Some(owned(error, "snapshotArtifactHash"));
            }
            return;
        }
        if let (true, Some(group)) = (matches!(code, "BACKPRESSURE" | "RATE_LIMITED"), group) {
            self.groups[group].paused_until = Some(retry_at.clone());
        }
        let action_id = text(error, "relatedActionId");
        let mut pending = self.outbox.pending.iter();
        let Some(position) = pending.position(|one| text(&one.command, "actionId") == action_id)
        else {
            return;
        };
        if error["retryable"] == true && self.outbox.pending[position].intent.kind != "work.start" {
            self.outbox.pending[position].due_at = retry_at;
            return;
        }
        let refused = self.outbox.pending.remove(position);
        if refused.intent.kind == "work.start" {
            self.scheduler
                .refund(refused.group, &refused.intent.work_item_id);
        }
        if error["retryable"] == true {
            // A refused start gives its slot back; the item is asked for anew a little later.
            self.held_back.insert(refused.intent.work_item_id, retry_at);
            return;
        }
        let is_stale = self.now.seconds_since(&refused.sent_at) > FRESH_SECONDS;
        let is_mendable = match code {
            "ACTION_ID_COLLISION" => true,
            "AUTH_INVALID_SIGNATURE" => is_stale,
            "REVISION_CONFLICT" => self.learn_revision(&refused, error),
            _ => false,
        };
        let mended = self.outbox.mended.get(&refused.intent);
        if is_mendable && mended != Some(&refused.ground) {
            self.outbox.mended.insert(refused.intent, refused.ground);
        } else {
            self.outbox.refused.insert(refused.intent, refused.ground);
        }
    }

    /// Goes by the revision that the Group Authority tells (MWP-EVT-007).
    fn learn_revision(&mut self, refused: &Pending, error: &Value) -> bool {
        let history = &mut self.groups[refused.group].history;
        history.note_revision(
            &refused.intent.work_item_id,
            count(error, "currentRevision"),
        );
        error.get("currentRevision").is_some()
    }

    /// Whether an item is not to be asked for yet.
    pub fn is_held_back(&self, work_item_id: &str) -> bool {
        self.held_back
            .get(work_item_id)
            .is_some_and(|until| self.now < *until)
    }

    fn still_makes_sense(&self, pending: &Pending) -> bool {
        let group = &self.groups[pending.group];
        let command = &pending.command;
        let same_epochs = count(command, "sessionEpoch") == self.epoch
            && count(command, "membershipEpoch") == group.membership_epoch();
        let Some(tracked) = group.history.tracked(&pending.intent.work_item_id) else {
            return false;
        };
        if !same_epochs || !group.is_subscribed || !group.is_member(&self.now) {
            return false;
        }
        let payload = &command["payload"];
        match pending.intent.kind {
            "work.accept_offer" => self
                .open_offer(tracked)
                .is_some_and(|offer| offer.id == pending.intent.key),
            "work.start" => self.is_startable(pending.group, tracked),
            _ if command["extensions"].get(OFFLINE_EXTENSION).is_some() => {
                tracked.item.epoch_of(&self.agent.id) == Some(count(payload, "ownershipEpoch"))
            }
            _ => match payload["executionLeaseId"].as_str() {
                Some(lease_id) => self
                    .current_lease(tracked)
                    .is_some_and(|lease| lease.id == lease_id),
                None => {
                    tracked.item.epoch_of(&self.agent.id) == Some(count(payload, "ownershipEpoch"))
                }
            },
        }
    }

    fn transmit(&mut self, group: usize, command: &Value) {
        let frame_id = self.identifier("frame", Some(group));
        self.frame(json!({
            "protocolVersion": "0.1",
            "frameId": frame_id,
            "frameType": "COMMAND",
            "command": command,
        }));
    }

    fn ground(&self, group: usize, intent: &Intent) -> Ground {
        let group = &self.groups[group];
        let tracked = group.history.tracked(&intent.work_item_id);
        Ground {
            facts: tracked.map_or(0, |tracked| tracked.facts),
            policies: self.policies,
            membership_epoch: group.membership_epoch(),
            session_epoch: self.epoch,
        }
    }
}
