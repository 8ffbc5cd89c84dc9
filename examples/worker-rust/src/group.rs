//! A Group as a session knows it: its history, its own context and credentials, and the way to it.

use crate::group_history::GroupHistory;
use crate::instant::{seconds_long, Instant};
use crate::json::{count, owned};
use serde_json::Value;

/// After so long without an Event a replay counts as over, should nothing say so.
const REPLAY_SILENCE_SECONDS: f64 = 10.0;

pub struct Group {
    pub id: String,
    pub mission_context: Value,
    pub credentials: Value,
    pub history: GroupHistory,
    /// Whether the connection carries this Group at all.
    pub is_subscribed: bool,
    /// Since when its link has been down.
    pub down_since: Option<Instant>,
    /// Until when the Group Authority wants no Commands (MWP-EVT-011).
    pub paused_until: Option<Instant>,
    /// The hash of the Snapshot that the Group Authority refers to.
    pub snapshot_hash: Option<String>,
    pub acknowledged: u64,
    /// How many identifiers this session has made for it: its own count tells of no other Group.
    pub identifiers: u64,
    /// The Membership Epoch of the present connection.
    membership_epoch: u64,
    replay: Replay,
}

enum Replay {
    Over,
    /// Not over, and silent since.
    Running(Instant),
}

impl Group {
    pub fn new(document: &Value, history: GroupHistory, agent_id: &str, now: &Instant) -> Self {
        let mut group = Self {
            id: owned(document, "groupId"),
            mission_context: Value::Null,
            credentials: Value::Null,
            acknowledged: history.cursor,
            history,
            is_subscribed: false,
            down_since: None,
            paused_until: None,
            snapshot_hash: None,
            identifiers: 0,
            membership_epoch: 0,
            replay: Replay::Over,
        };
        group.join(document, agent_id, now);
        group
    }

    /// Takes what a `start` or `join` says of the Group.
    pub fn join(&mut self, document: &Value, agent_id: &str, now: &Instant) {
        let membership = &document["membership"];
        self.mission_context = document["missionContext"].clone();
        self.credentials = document["credentials"].clone();
        self.history.introduce_membership(membership, agent_id);
        if self.history.cursor == 0 {
            // The first visible sequence; 0 means 1.
            self.history.cursor = count(membership, "visibilityStartSequence").max(1) - 1;
            self.acknowledged = self.history.cursor;
        }
        self.expect_membership_epoch(count(membership, "membershipEpoch"));
        self.is_subscribed = true;
        self.down_since = None;
        self.begin_replay(now);
    }

    pub fn begin_replay(&mut self, now: &Instant) {
        self.replay = Replay::Running(now.clone());
    }

    pub fn end_replay(&mut self) {
        self.replay = Replay::Over;
    }

    /// An Event came in a replay.
    pub fn hear(&mut self, now: &Instant) {
        if matches!(self.replay, Replay::Running(_)) {
            self.begin_replay(now);
        }
    }

    /// When a replay that is under way will count as over; `None` once it is.
    pub fn replay_ends_at(&self) -> Option<Instant> {
        match &self.replay {
            Replay::Over => None,
            Replay::Running(heard) => Some(heard.plus(seconds_long(REPLAY_SILENCE_SECONDS))),
        }
    }

    pub fn expect_membership_epoch(&mut self, epoch: u64) {
        self.membership_epoch = self.membership_epoch.max(epoch);
    }

    /// The largest Membership Epoch seen anywhere.
    pub fn membership_epoch(&self) -> u64 {
        let told = self
            .history
            .membership
            .as_ref()
            .map_or(0, |known| known.epoch);
        told.max(self.membership_epoch)
    }

    /// Whether the Worker is a member now (MWP-MSN-010, MWP-MSN-011).
    pub fn is_member(&self, now: &Instant) -> bool {
        self.history.membership.as_ref().is_some_and(|membership| {
            let has_expired = membership
                .provisional_until
                .as_ref()
                .is_some_and(|end| end <= now);
            !membership.is_ended && !has_expired
        })
    }

    /// Whether anything can reach it.
    pub fn is_reachable(&self) -> bool {
        self.is_subscribed && self.down_since.is_none()
    }
}
