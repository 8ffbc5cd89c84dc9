//! What arrives: frames, verified and routed by Group before any sequence is looked at
//! (MWP-EVT-010), Snapshots, and the state of the links.

use crate::canonical::{content_hash, from_base64url};
use crate::group_history::Reader;
use crate::json::{count, entries, owned, parse_strictly, text, texts};
use crate::registry::Principal;
use crate::schema;
use crate::session::Session;
use crate::signed_document::{verify, Refusal, AGENT_CARD, EVENT, GROUP_SNAPSHOT};
use serde_json::{json, Value};

impl Session {
    /// One entry of a `frames` stimulus: a frame, or the raw bytes of one.
    pub fn receive_frame(&mut self, entry: &Value) {
        let frame = match entry.get("bytes").and_then(Value::as_str) {
            Some(text) => from_base64url(text).and_then(|bytes| parse_strictly(&bytes)),
            None => Some(entry.clone()),
        };
        let Some(frame) = frame else {
            return self.reject(Refusal::ProtocolViolation, &Value::Null);
        };
        if let Err(refusal) = self.take_frame(&frame) {
            self.reject(refusal, &frame);
        }
    }

    fn take_frame(&mut self, frame: &Value) -> Result<(), Refusal> {
        if !schema::fits("websocket-frame", frame) {
            return Err(Refusal::SchemaValidation);
        }
        match text(frame, "frameType") {
            "EVENT" => self.take_event(&frame["event"])?,
            "ERROR" => self.receive_error(&frame["error"]),
            "PING" => self.answer_ping(frame),
            _ => {}
        }
        Ok(())
    }

    /// Verifies an Event, then its acceptor's authority (MWP-ADM-014), then applies it in order.
    fn take_event(&mut self, event: &Value) -> Result<(), Refusal> {
        let acceptor = Principal::read(&event["acceptedBy"]);
        verify(event, &EVENT, Some(&acceptor), &self.registry)?;
        let authorities = &self.registry.authorized.event_authority;
        if !acceptor.is_service() || !authorities.contains(&acceptor.id) {
            return Err(Refusal::Forbidden);
        }
        if event.get("groupId").is_none() {
            self.take_fact_of_the_organization(event);
            return Ok(());
        }
        let group = self.group_position(text(event, "groupId"));
        let Some(position) = group.filter(|group| self.groups[*group].is_subscribed) else {
            return Ok(()); // Another's Group, or none: nothing is said about it.
        };
        let reader = Reader {
            agent_id: &self.agent.id,
            registry: &self.registry,
        };
        let group = &mut self.groups[position];
        group.hear(&self.now);
        let applied = group.history.receive(event.clone(), &reader);
        self.note_events(applied);
        Ok(())
    }

    fn note_events(&mut self, applied: Vec<Value>) {
        for event in applied {
            self.receive_receipt(&event);
            self.journal.append(&json!({"event": event}));
        }
    }

    /// Facts about Agent Cards and sessions: they belong to no Group and have no sequence.
    fn take_fact_of_the_organization(&mut self, event: &Value) {
        let payload = &event["payload"];
        let kind = text(event, "kind");
        if kind.ends_with(".session_opened") && text(payload, "agentId") == self.agent.id {
            self.newest_epoch = self.newest_epoch.max(count(payload, "sessionEpoch"));
        }
        let card = &payload["agentCard"];
        let version = count(card, "cardVersion");
        if kind.ends_with(".agent_card_registered")
            && self.is_own_card(card)
            && version > self.agent.card_version
        {
            self.agent.card_version = version;
            self.journal.append(&json!({"cardVersion": version}));
        }
    }

    fn is_own_card(&self, card: &Value) -> bool {
        let issuer = self.registry.owner(text(&card["signature"], "keyId"));
        let may_issue =
            issuer.is_some_and(|issuer| self.registry.authorized.card_issuer.contains(&issuer.id));
        text(card, "agentId") == self.agent.id
            && text(card, "organizationId") == self.agent.organization_id
            && may_issue
            && verify(card, &AGENT_CARD, None, &self.registry).is_ok()
    }

    /// A PING is answered by one that repeats its nonce (MWP-EVT-011); an answer is not.
    fn answer_ping(&mut self, ping: &Value) {
        if ping.get("replyToNonce").is_some() || self.is_fenced() {
            return;
        }
        let frame = json!({
            "protocolVersion": "0.1",
            "frameId": self.identifier("frame", None),
            "frameType": "PING",
            "nonce": ping["nonce"],
            "replyToNonce": ping["nonce"],
            "sentAt": self.stamp,
        });
        self.frame(frame);
    }

    fn reject(&mut self, refusal: Refusal, frame: &Value) {
        let mut effect = json!({"type": "reject", "code": refusal.code()});
        if schema::fits("common#/$defs/id", &frame["frameId"]) {
            effect["frameId"] = frame["frameId"].clone();
        }
        self.effect(effect);
    }

    /// A Snapshot replaces a Group's history once everything about it has been verified.
    pub fn receive_snapshot(&mut self, snapshot: &Value, state: &Value) {
        let Some(position) = self.group_position(text(snapshot, "groupId")) else {
            return;
        };
        if let Err(refusal) = self.verify_snapshot(position, snapshot, state) {
            let mut effect = json!({"type": "reject", "code": refusal.code()});
            if schema::fits("common#/$defs/id", &snapshot["snapshotId"]) {
                effect["snapshotId"] = snapshot["snapshotId"].clone();
            }
            return self.effect(effect);
        }
        let reader = Reader {
            agent_id: &self.agent.id,
            registry: &self.registry,
        };
        let group = &mut self.groups[position];
        if count(snapshot, "throughSequence") <= group.history.cursor {
            return;
        }
        group.history.restore(snapshot, state, &reader);
        group.snapshot_hash = None;
        self.journal
            .append(&json!({"snapshot": snapshot, "state": state}));
        let applied = self.groups[position].history.close_gap(&reader);
        self.note_events(applied);
        self.groups[position].begin_replay(&self.now);
        self.subscribe(&[position]);
    }

    fn verify_snapshot(
        &self,
        group: usize,
        snapshot: &Value,
        state: &Value,
    ) -> Result<(), Refusal> {
        let creator = Principal::read(&snapshot["createdBy"]);
        verify(snapshot, &GROUP_SNAPSHOT, Some(&creator), &self.registry)?;
        if !creator.is_service() || !self.registry.authorized.archival.contains(&creator.id) {
            return Err(Refusal::Forbidden);
        }
        let is_the_one =
            self.groups[group].snapshot_hash.as_deref() == Some(&content_hash(snapshot));
        if !is_the_one || content_hash(state) != text(snapshot, "stateHash") {
            return Err(Refusal::InvalidSignature);
        }
        Ok(())
    }

    /// A link went down or came up: of some Groups, or of the whole connection.
    pub fn change_link(&mut self, stimulus: &Value) {
        let named = texts(stimulus, "groupIds");
        let is_whole = stimulus.get("groupIds").is_none();
        let concerned: Vec<usize> = (0..self.groups.len())
            .filter(|group| is_whole || named.contains(&self.groups[*group].id))
            .filter(|group| self.groups[*group].is_subscribed)
            .collect();
        if text(stimulus, "state") == "down" {
            for group in concerned {
                self.groups[group]
                    .down_since
                    .get_or_insert_with(|| self.now.clone());
                self.outbox.forget_starts(group);
            }
            return;
        }
        if is_whole {
            self.begin_session(stimulus);
        }
        for group in &concerned {
            self.groups[*group].down_since = None;
            self.groups[*group].begin_replay(&self.now);
        }
        self.subscribe(&concerned);
    }

    /// A new handshake: the leases of the old session are dead (MWP-WRK-014), its Commands obsolete.
    fn begin_session(&mut self, stimulus: &Value) {
        let epoch = count(stimulus, "sessionEpoch");
        self.epoch = epoch;
        self.outbox.forget_all();
        for membership in entries(stimulus, "memberships") {
            if let Some(group) = self.group_position(&owned(membership, "groupId")) {
                self.groups[group].expect_membership_epoch(count(membership, "membershipEpoch"));
            }
        }
    }
}
