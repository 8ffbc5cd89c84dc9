//! What a Group's Events have said so far: Cursor, Membership, WorkItems, leases, Approvals.
//!
//! Each Group has its own inbox and history (MWP-WRK-008). An Event takes effect once and in the
//! order of its sequence (MWP-WRK-029); above a gap it is buffered, and the Cursor stays below.

use crate::instant::Instant;
use crate::json::{count, entries, owned, text, texts};
use crate::registry::{Principal, Registry};
use crate::signed_document::{verify, APPROVAL};
use crate::usage::Usage;
use crate::work_item::{bars, Approval, Checkpoint, Lease, State, WorkItem};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How many Events above a gap are kept; the others will be delivered again.
const BUFFERED_EVENTS_MAX: usize = 10_000;

const USAGE_RECORDED: &str = "ext.missionweaveprotocol.core.resource_usage_recorded";

/// A Snapshot shows that an item was set aside and not how often: it counts as often enough.
const UNKNOWN_TIMES: u32 = u32::MAX / 2;

/// Who reads the history, and by whose keys Approvals are verified.
pub struct Reader<'a> {
    pub agent_id: &'a str,
    pub registry: &'a Registry,
}

pub struct Membership {
    pub epoch: u64,
    pub is_ended: bool,
    pub scopes: Vec<String>,
    pub provisional_until: Option<Instant>,
}

/// A WorkItem and all that goes with it.
pub struct Tracked {
    pub item: WorkItem,
    pub ownership: Option<Lease>,
    pub execution: Option<Lease>,
    pub blocked: Option<Lease>,
    pub checkpoint: Option<Checkpoint>,
    pub approvals: Vec<Approval>,
    /// Whether the last fact about it depends on an unknown critical extension (MWP-EXT-002).
    pub is_barred: bool,
    /// How many facts about it there have been: what was refused waits for the next.
    pub facts: u64,
    /// What the ledger says it has used.
    pub used: Usage,
    /// How often it was set aside at a Checkpoint.
    pub times_set_aside: u32,
}

#[derive(Default)]
pub struct GroupHistory {
    pub cursor: u64,
    event_ids: HashSet<String>,
    waiting: BTreeMap<u64, Value>,
    pub membership: Option<Membership>,
    pub mission_is_over: bool,
    pub items: Vec<Tracked>,
    positions: HashMap<String, usize>,
    pub published: HashSet<String>,
}

impl GroupHistory {
    /// Takes an Event that has been verified, and returns those that take effect now, in order.
    pub fn receive(&mut self, event: Value, reader: &Reader) -> Vec<Value> {
        let sequence = count(&event, "sequence");
        let id = text(&event, "eventId");
        let is_known = sequence <= self.cursor
            || self.event_ids.contains(id)
            || self.waiting.contains_key(&sequence)
            || self
                .waiting
                .values()
                .any(|other| text(other, "eventId") == id);
        let is_next = sequence == self.cursor + 1;
        if is_known || (!is_next && self.waiting.len() >= BUFFERED_EVENTS_MAX) {
            return Vec::new();
        }
        self.waiting.insert(sequence, event);
        self.close_gap(reader)
    }

    /// Applies the next Event of the sequence.
    pub fn apply(&mut self, event: &Value, reader: &Reader) {
        self.cursor = count(event, "sequence");
        self.event_ids.insert(owned(event, "eventId"));
        let payload = &event["payload"];
        let kind = text(event, "kind");
        match kind {
            "membership.changed" | "membership.ended"
                if text(&payload["membership"], "groupId") == text(event, "groupId") =>
            {
                self.take_membership(&payload["membership"], reader.agent_id);
            }
            "approval.execution.granted" => {
                self.note_revision(
                    text(payload, "workItemId"),
                    count(event, "aggregateRevision"),
                );
                self.take_approval(payload, reader);
            }
            "artifact.published" => {
                self.published.insert(owned(payload, "artifactId"));
            }
            "mission.cancelled" | "mission.terminated" | "mission.approved" | "group.archived" => {
                self.mission_is_over = true;
                self.take_work(event);
            }
            "mission.child.created" => self.take_work(event),
            USAGE_RECORDED => {
                if let Some(position) = self.position(text(payload, "workItemId")) {
                    self.items[position].used = Usage::read(&payload["cumulativeUsage"]);
                }
            }
            _ if kind.starts_with("work.") && kind != "work.proposed" => self.take_work(event),
            _ => {} // Messages authorize nothing (MWP-FND-014); unknown kinds only have a place.
        }
    }

    /// Takes note of an item's current revision; an Approval moves it too.
    pub fn note_revision(&mut self, work_item_id: &str, revision: u64) {
        if let Some(position) = self.position(work_item_id) {
            let item = &mut self.items[position].item;
            item.revision = item.revision.max(revision);
        }
    }

    /// Replaces everything by the state of a verified Snapshot.
    pub fn restore(&mut self, snapshot: &Value, state: &Value, reader: &Reader) {
        let through = count(snapshot, "throughSequence");
        let mut restored = Self {
            cursor: through,
            event_ids: texts(snapshot, "eventIds").into_iter().collect(),
            waiting: self.waiting.split_off(&(through + 1)),
            membership: self.membership.take(),
            ..Self::default()
        };
        let mission_state = text(&state["mission"], "state");
        restored.mission_is_over = matches!(mission_state, "approved" | "cancelled" | "failed");
        for membership in entries(state, "memberships") {
            if text(membership, "groupId") != text(snapshot, "groupId") {
                continue;
            }
            restored.take_membership(membership, reader.agent_id);
        }
        for document in entries(state, "workItems") {
            restored.take_item(document);
        }
        for document in entries(state, "leases") {
            restored.take_lease(document);
        }
        for checkpoint in entries(state, "checkpoints") {
            restored.take_checkpoint(text(checkpoint, "workItemId"), checkpoint);
        }
        for approval in entries(state, "approvals") {
            restored.take_approval(approval, reader);
        }
        for artifact in entries(state, "artifacts") {
            restored.published.insert(owned(artifact, "artifactId"));
        }
        for tracked in &mut restored.items {
            let known = self.tracked(&tracked.item.id);
            tracked.times_set_aside = match (known, &tracked.checkpoint) {
                (Some(known), _) => known.times_set_aside,
                (None, Some(_)) => UNKNOWN_TIMES,
                (None, None) => 0,
            };
        }
        *self = restored;
    }

    /// Applies what was buffered, as far as there is no gap.
    pub fn close_gap(&mut self, reader: &Reader) -> Vec<Value> {
        let mut applied = Vec::new();
        while let Some(event) = self.waiting.remove(&(self.cursor + 1)) {
            self.apply(&event, reader);
            applied.push(event);
        }
        applied
    }

    pub fn tracked(&self, work_item_id: &str) -> Option<&Tracked> {
        self.positions
            .get(work_item_id)
            .map(|position| &self.items[*position])
    }

    pub fn position(&self, work_item_id: &str) -> Option<usize> {
        self.positions.get(work_item_id).copied()
    }

    /// Whether everything that a WorkItem depends on is verified (MWP-WRK-007).
    pub fn dependencies_are_met(&self, tracked: &Tracked) -> bool {
        let mut dependencies = tracked.item.contract.dependencies.iter();
        dependencies.all(|id| {
            self.tracked(id)
                .is_some_and(|other| other.item.state == State::Verified)
        })
    }

    /// Of two documents about one Membership the one with the higher epoch counts, and the later.
    pub fn take_membership(&mut self, document: &Value, agent_id: &str) {
        let epoch = count(document, "membershipEpoch");
        let is_older = self
            .membership
            .as_ref()
            .is_some_and(|known| epoch < known.epoch);
        if text(&document["member"], "id") != agent_id || is_older {
            return;
        }
        let state = text(document, "state");
        let provisional = (state == "provisional").then(|| text(document, "provisionalExpiresAt"));
        self.membership = Some(Membership {
            epoch,
            is_ended: state == "ended",
            scopes: texts(document, "scopes"),
            provisional_until: provisional.and_then(Instant::parse),
        });
    }

    /// The Membership of a `start` or `join`: nothing against what the Group's own facts say.
    pub fn introduce_membership(&mut self, document: &Value, agent_id: &str) {
        let epoch = count(document, "membershipEpoch");
        if self
            .membership
            .as_ref()
            .is_none_or(|known| known.epoch < epoch)
        {
            self.take_membership(document, agent_id);
        }
    }

    fn take_work(&mut self, event: &Value) {
        let payload = &event["payload"];
        let single = payload.get("workItem").into_iter();
        let mut concerned = Vec::new();
        for document in single.chain(entries(payload, "workItems")) {
            concerned.push(self.take_item(document));
        }
        for document in entries(payload, "leases") {
            self.take_lease(document);
        }
        let work_item_id = text(event, "workItemId");
        let set_aside = matches!(text(event, "kind"), "work.checkpointed" | "work.blocked");
        for name in ["latestCheckpoint", "checkpoint"] {
            if let Some(checkpoint) = payload.get(name) {
                self.take_checkpoint(text(checkpoint, "workItemId"), checkpoint);
            }
        }
        if concerned.is_empty() {
            concerned.extend(self.position(work_item_id));
        }
        for position in concerned {
            let tracked = &mut self.items[position];
            tracked.facts += 1;
            tracked.is_barred = tracked.item.is_barred || bars(event);
            tracked.times_set_aside += u32::from(set_aside);
        }
    }

    fn take_item(&mut self, document: &Value) -> usize {
        let item = WorkItem::read(document);
        if let Some(position) = self.position(&item.id) {
            let tracked = &mut self.items[position];
            tracked.is_barred = item.is_barred;
            tracked.item = item;
            return position;
        }
        let position = self.items.len();
        self.positions.insert(item.id.clone(), position);
        self.items.push(Tracked {
            is_barred: item.is_barred,
            item,
            ownership: None,
            execution: None,
            blocked: None,
            checkpoint: None,
            approvals: Vec::new(),
            facts: 1,
            used: Usage::default(),
            times_set_aside: 0,
        });
        position
    }

    fn take_lease(&mut self, document: &Value) {
        let position = self.position(text(document, "workItemId"));
        let (Some(lease), Some(position)) = (Lease::read(document), position) else {
            return;
        };
        let tracked = &mut self.items[position];
        let known = match lease.kind.as_str() {
            "execution" => &mut tracked.execution,
            "ownership" => &mut tracked.ownership,
            "blocked" => &mut tracked.blocked,
            _ => return,
        };
        // A closed lease says nothing about another one of its kind that was opened since.
        if lease.is_open || known.as_ref().is_none_or(|known| known.id == lease.id) {
            *known = Some(lease);
        }
    }

    fn take_checkpoint(&mut self, work_item_id: &str, document: &Value) {
        if let Some(position) = self.position(work_item_id) {
            self.items[position].checkpoint = Some(Checkpoint::read(document));
        }
    }

    /// An Approval is a Signed Document of its own: the Event that brings it vouches for nothing.
    fn take_approval(&mut self, carrier: &Value, reader: &Reader) {
        let document = &carrier["approval"];
        let Some(position) = self.position(text(carrier, "workItemId")) else {
            return;
        };
        let tracked = &mut self.items[position];
        tracked.facts += 1;
        let approver = Principal::read(&document["approver"]);
        let may_approve = reader.registry.authorized.approvers.contains(&approver.id);
        if !may_approve || verify(document, &APPROVAL, Some(&approver), reader.registry).is_err() {
            return;
        }
        if let Some(revoked) = document["revokesApprovalId"].as_str() {
            tracked.approvals.retain(|approval| approval.id != revoked);
        }
        let fits = text(document, "kind") == "work_execution"
            && text(document, "decision") == "approved"
            && document["workItemId"] == carrier["workItemId"];
        if let Some(expires_at) = Instant::parse(text(carrier, "expiresAt")).filter(|_| fits) {
            tracked.approvals.push(Approval {
                id: owned(document, "approvalId"),
                ownership_epoch: count(carrier, "ownershipEpoch"),
                expires_at,
            });
        }
    }
}
