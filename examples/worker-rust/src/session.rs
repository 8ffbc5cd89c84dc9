//! One runtime session: each stimulus, then the decisions, then the journal, then the answer.

use crate::canonical::hexadecimal;
use crate::capacity_slot::Run;
use crate::disclosure::Disclosures;
use crate::failure::Failures;
use crate::group::Group;
use crate::group_history::{GroupHistory, Reader, Tracked};
use crate::instant::Instant;
use crate::journal::Journal;
use crate::json::{count, entries, owned, text};
use crate::offline::Buffered;
use crate::operation::Operations;
use crate::outbox::Outbox;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::scheduler::Scheduler;
use crate::signed_document::Signer;
use crate::work_item::{Capability, Lease, State};
use serde_json::{json, Value};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

/// Who the Worker is.
pub struct Agent {
    pub id: String,
    pub signer: Signer,
    pub capabilities: Vec<Capability>,
    pub card_version: u64,
    pub organization_id: String,
}

impl Agent {
    fn read(agent: &Value, organization: &Value) -> Option<Self> {
        let capabilities = entries(agent, "capabilities").iter();
        Some(Self {
            id: owned(agent, "agentId"),
            signer: Signer::new(owned(agent, "keyId"), text(agent, "privateKey"))?,
            capabilities: capabilities.map(Capability::read).collect(),
            card_version: count(agent, "agentCardVersion"),
            organization_id: owned(organization, "organizationId"),
        })
    }
}

pub struct Session {
    pub now: Instant,
    /// The time that Commands are stamped with: the wall clock where it differs.
    pub stamp: String,
    pub began_at: Instant,
    pub agent: Agent,
    pub epoch: u64,
    /// The highest Session Epoch of this Agent that an Event has told of.
    pub newest_epoch: u64,
    pub registry: Registry,
    pub policy: Policy,
    /// How many policies there have been.
    pub policies: u64,
    pub groups: Vec<Group>,
    /// The Capacity Slots, as many as the Agent Card declares (MWP-WRK-011).
    pub slots: Vec<Option<Run>>,
    /// Execution Leases under which a run has begun.
    pub used_leases: HashSet<String>,
    /// Items that a slot was freed for.
    pub promised: Vec<String>,
    pub held_back: HashMap<String, Instant>,
    /// By item, the end of the Approval that it was stopped for.
    pub stopped_for: HashMap<String, Instant>,
    pub outbox: Outbox,
    pub scheduler: Scheduler,
    pub failures: Failures,
    pub operations: Operations,
    pub disclosures: Disclosures,
    pub buffered: Vec<Buffered>,
    pub journal: Journal,
    /// Histories of Groups that this session does not have, or not yet.
    other_histories: HashMap<String, GroupHistory>,
    declined: HashSet<String>,
    identifiers: u64,
    effects: Vec<Value>,
    wake_at: Option<Instant>,
}

impl Session {
    /// Opens the state directory and goes on from what stands there.
    pub fn start(stimulus: &Value) -> io::Result<Self> {
        let directory = Path::new(text(stimulus, "stateDirectory"));
        let (journal, records) = Journal::open(directory)?;
        let unsound = || io::Error::from(io::ErrorKind::InvalidData);
        let mut session = Self::new(stimulus, journal).ok_or_else(unsound)?;
        session.recover(&records);
        for group in entries(stimulus, "groups") {
            session.add_group(group);
        }
        let all: Vec<usize> = (0..session.groups.len()).collect();
        session.tell_time(stimulus);
        session.subscribe(&all);
        Ok(session)
    }

    fn new(stimulus: &Value, journal: Journal) -> Option<Self> {
        let (agent, organization) = (&stimulus["agent"], &stimulus["organization"]);
        let now = Instant::parse(text(stimulus, "now"))?;
        Some(Self {
            stamp: String::new(),
            began_at: now.clone(),
            now,
            agent: Agent::read(agent, organization)?,
            epoch: count(stimulus, "sessionEpoch"),
            newest_epoch: 0,
            registry: Registry::read(organization),
            policy: Policy::new(organization["policy"].clone()),
            policies: 1,
            groups: Vec::new(),
            slots: (0..count(agent, "maxConcurrency")).map(|_| None).collect(),
            used_leases: HashSet::new(),
            promised: Vec::new(),
            held_back: HashMap::new(),
            stopped_for: HashMap::new(),
            outbox: Outbox::default(),
            scheduler: Scheduler::default(),
            failures: Failures::default(),
            operations: Operations::default(),
            disclosures: Disclosures::default(),
            buffered: Vec::new(),
            journal,
            other_histories: HashMap::new(),
            declined: HashSet::new(),
            identifiers: 0,
            effects: Vec::new(),
            wake_at: None,
        })
    }

    /// What a stimulus leads to; `None` for a type that is not known.
    pub fn handle(&mut self, stimulus: &Value) -> Option<()> {
        self.tell_time(stimulus);
        match text(stimulus, "type") {
            "policy" => {
                let policy = Policy::new(stimulus["policy"].clone());
                let weights = self
                    .groups
                    .iter()
                    .map(|group| (self.policy.weight(&group.id), policy.weight(&group.id)));
                self.scheduler.reweigh(weights.collect());
                self.policy = policy;
                self.policies += 1;
            }
            "frames" => {
                for frame in entries(stimulus, "frames") {
                    self.receive_frame(frame);
                }
            }
            "tick" => {}
            "caught_up" => {
                if let Some(group) = self.group_position(text(stimulus, "groupId")) {
                    self.groups[group].end_replay();
                }
            }
            "join" => {
                let group = self.add_group(&stimulus["group"]);
                self.subscribe(&[group]);
            }
            "leave" => {
                if let Some(group) = self.group_position(text(stimulus, "groupId")) {
                    self.groups[group].is_subscribed = false;
                }
            }
            "keys" => self.registry = Registry::read(stimulus),
            "link" => self.change_link(stimulus),
            "token" => self.operations.add_token(&stimulus["token"]),
            "token_revoked" => self.operations.revoke(text(stimulus, "tokenId")),
            "snapshot" => self.receive_snapshot(&stimulus["snapshot"], &stimulus["state"]),
            "execution" => self.receive_report(stimulus),
            _ => return None,
        }
        Some(())
    }

    /// Decides, makes everything durable, and only then answers.
    pub fn answer(&mut self) -> io::Result<Value> {
        self.decide();
        self.journal.commit()?;
        self.acknowledge();
        let mut result = json!({"effects": std::mem::take(&mut self.effects)});
        if let Some(wake_at) = self.wake_at.take() {
            result["wakeAt"] = json!(wake_at.spelled());
        }
        Ok(result)
    }

    fn decide(&mut self) {
        self.end_silent_replays();
        self.guard_slots();
        if self.is_fenced() {
            return;
        }
        self.run_granted();
        self.resend();
        self.reconcile();
        self.report_results();
        self.answer_offers();
        self.renew_leases();
        self.start_next();
        self.preempt();
        self.disclose();
    }

    /// Acknowledges what is durable (MWP-WRK-030).
    fn acknowledge(&mut self) {
        if self.is_fenced() {
            return;
        }
        for position in 0..self.groups.len() {
            let group = &mut self.groups[position];
            let cursor = group.history.cursor;
            if !group.is_reachable() || cursor <= group.acknowledged {
                continue;
            }
            group.acknowledged = cursor;
            let acknowledgement = json!({"groupId": group.id, "sequence": cursor});
            let frame_id = self.identifier("frame", Some(position));
            self.frame(json!({
                "protocolVersion": "0.1",
                "frameId": frame_id,
                "frameType": "ACK",
                "acknowledgements": [acknowledgement],
                "sentAt": self.stamp,
            }));
        }
    }

    fn tell_time(&mut self, stimulus: &Value) {
        if let Some(now) = Instant::parse(text(stimulus, "now")) {
            self.now = now;
        }
        let wall_clock = stimulus["wallClock"].as_str();
        self.stamp = wall_clock
            .unwrap_or_else(|| text(stimulus, "now"))
            .to_owned();
    }

    /// Reads the journal: the Events that took effect, and what the Worker noted of its own.
    fn recover(&mut self, records: &[Value]) {
        let reader = Reader {
            agent_id: &self.agent.id,
            registry: &self.registry,
        };
        for record in records {
            if let Some(event) = record.get("event") {
                let history = self.other_histories.entry(owned(event, "groupId"));
                history.or_default().apply(event, &reader);
            } else if let Some(snapshot) = record.get("snapshot") {
                let history = self.other_histories.entry(owned(snapshot, "groupId"));
                history
                    .or_default()
                    .restore(snapshot, &record["state"], &reader);
            } else if let Some(version) = record["cardVersion"].as_u64() {
                self.agent.card_version = self.agent.card_version.max(version);
            } else if let Some(failure) = record.get("failure") {
                self.failures.note(failure);
            } else if let Some(operation) = record.get("operation") {
                self.operations.note(operation);
            } else if let Some(buffered) = record.get("buffered") {
                self.buffered.push(Buffered::read(buffered));
            } else if let Some(id) = record["reconciled"].as_str() {
                self.buffered
                    .retain(|buffered| buffered.checkpoint.id != id);
            }
        }
    }

    fn add_group(&mut self, document: &Value) -> usize {
        let id = text(document, "groupId");
        if let Some(position) = self.group_position(id) {
            self.groups[position].join(document, &self.agent.id, &self.now);
            return position;
        }
        let history = self.other_histories.remove(id).unwrap_or_default();
        self.groups
            .push(Group::new(document, history, &self.agent.id, &self.now));
        self.groups.len() - 1
    }

    /// Asks for the Events of some Groups after their Cursors (MWP-EVT-009).
    pub fn subscribe(&mut self, groups: &[usize]) {
        if groups.is_empty() {
            return;
        }
        let positions: Vec<Value> = groups
            .iter()
            .map(|group| &self.groups[*group])
            .map(|group| json!({"groupId": group.id, "afterSequence": group.history.cursor}))
            .collect();
        let frame = json!({
            "protocolVersion": "0.1",
            "frameId": self.identifier("frame", None),
            "frameType": "SUBSCRIBE",
            "subscriptionId": self.identifier("subscription", None),
            "groups": positions,
        });
        self.frame(frame);
    }

    fn end_silent_replays(&mut self) {
        for position in 0..self.groups.len() {
            let Some(end) = self.groups[position].replay_ends_at() else {
                continue;
            };
            if end <= self.now {
                self.groups[position].end_replay();
            } else if self.groups[position].is_reachable() {
                self.wake_at(end);
            }
        }
    }

    /// Whether another runtime has taken this one's place (MWP-IDN-008).
    pub fn is_fenced(&self) -> bool {
        self.newest_epoch > self.epoch
    }

    /// Whether Commands may go to a Group now.
    pub fn speaks(&self, group: usize) -> bool {
        let group = &self.groups[group];
        let is_paused = group
            .paused_until
            .as_ref()
            .is_some_and(|until| self.now < *until);
        !self.is_fenced() && !is_paused && self.hears(group)
    }

    /// Whether a Group's facts are all known and the Worker is a member of it.
    pub fn hears(&self, group: &Group) -> bool {
        group.is_reachable() && group.replay_ends_at().is_none() && group.is_member(&self.now)
    }

    pub fn group_position(&self, id: &str) -> Option<usize> {
        self.groups.iter().position(|group| group.id == id)
    }

    /// The Execution Lease under which an item may run now (MWP-WRK-013).
    pub fn current_lease<'a>(&self, tracked: &'a Tracked) -> Option<&'a Lease> {
        let lease = tracked.execution.as_ref()?;
        let is_ours = tracked.item.state == State::Active
            && lease.holder == self.agent.id
            && lease.session_epoch == self.epoch
            && tracked.item.epoch_of(&self.agent.id) == Some(lease.ownership_epoch);
        (is_ours && lease.holds_at(&self.now)).then_some(lease)
    }

    /// An identifier that stays unique when the disk is lost: the Session Epoch is in it (MWP-FND-008).
    pub fn identifier(&mut self, kind: &str, group: Option<usize>) -> String {
        let (agent, epoch) = (&self.agent.id, self.epoch);
        let Some(group) = group else {
            self.identifiers += 1;
            return format!("{agent}:{kind}:{epoch}-{}", self.identifiers);
        };
        let group = &mut self.groups[group];
        group.identifiers += 1;
        let digest = hexadecimal(group.id.as_bytes());
        format!(
            "{agent}:{kind}:{epoch}-{}-{}",
            &digest[..12],
            group.identifiers
        )
    }

    pub fn frame(&mut self, frame: Value) {
        self.effect(json!({"type": "frame", "frame": frame}));
    }

    pub fn effect(&mut self, effect: Value) {
        self.effects.push(effect);
    }

    /// Asks for another turn at an instant, unless an earlier one is asked for.
    pub fn wake_at(&mut self, instant: Instant) {
        let is_earlier = self.wake_at.as_ref().is_none_or(|known| instant < *known);
        if instant > self.now && is_earlier {
            self.wake_at = Some(instant);
        }
    }

    /// Notes that an offer was declined; `false` if it had been before.
    pub fn note_decline(&mut self, offer_id: &str) -> bool {
        self.declined.insert(offer_id.to_owned())
    }

    pub fn was_declined(&self, offer_id: &str) -> bool {
        self.declined.contains(offer_id)
    }
}
