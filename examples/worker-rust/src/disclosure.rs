//! Estimates: made of what the item's own Group knows and of shares by policy, so that no Group can
//! read the backlog of another from them (MWP-WRK-012).

use crate::capacity_slot::Phase;
use crate::group_history::Tracked;
use crate::instant::{seconds_long, Instant};
use crate::session::Session;
use crate::work_item::State;
use serde_json::json;
use std::collections::HashMap;

/// Estimates are rounded up to doublings of this.
const GRANULARITY_SECONDS: f64 = 300.0;
const CONFIDENCE: f64 = 0.8;

#[derive(Default)]
pub struct Disclosures(HashMap<String, Disclosure>);

/// What was last published about an item.
struct Disclosure {
    start_latest: Instant,
    completion: Instant,
    /// How often its time has run out: each time the next window is twice as long.
    misses: i32,
    times_set_aside: u32,
    was_running: bool,
    state: State,
}

impl Disclosure {
    /// When it will have become false, should nothing happen.
    fn runs_out_at(&self) -> &Instant {
        if self.was_running {
            &self.completion
        } else {
            &self.start_latest
        }
    }
}

impl Session {
    /// Publishes an estimate on acceptance, and a new one when the former has become false.
    pub fn disclose(&mut self) {
        for group in 0..self.groups.len() {
            if !self.hears(&self.groups[group]) {
                continue;
            }
            for position in 0..self.groups[group].history.items.len() {
                self.disclose_item(group, position);
            }
        }
    }

    fn disclose_item(&mut self, group: usize, position: usize) {
        let tracked = &self.groups[group].history.items[position];
        let id = &tracked.item.id;
        let is_ours = tracked.item.epoch_of(&self.agent.id).is_some();
        if !is_ours || tracked.item.state == State::Submitted {
            self.disclosures.0.remove(&tracked.item.id);
            return;
        }
        let run = self
            .runs()
            .find(|(_, run)| run.work_item_id == *id)
            .map(|(_, run)| run);
        if run.is_some_and(|run| matches!(run.phase, Phase::Finished(_))) {
            return;
        }
        let began_at = run.map(|run| run.since.clone());
        let mut misses = 0;
        if let Some(known) = self.disclosures.0.get_mut(id) {
            let went_back = known.was_running && began_at.is_none();
            let blocked = [known.state, tracked.item.state].map(|state| state == State::Blocked);
            let was_moved = went_back
                || known.times_set_aside != tracked.times_set_aside
                || blocked[0] != blocked[1];
            known.was_running = began_at.is_some();
            let last = known.runs_out_at().clone();
            if !was_moved && self.now < last {
                return self.wake_at(last);
            }
            misses = if was_moved { 0 } else { known.misses + 1 };
        }
        self.publish_estimate(group, position, began_at, misses);
    }

    fn publish_estimate(
        &mut self,
        group: usize,
        position: usize,
        began_at: Option<Instant>,
        misses: i32,
    ) {
        let tracked = &self.groups[group].history.items[position];
        let work_item_id = tracked.item.id.clone();
        let disclosure = self.estimate(group, tracked, began_at.as_ref(), misses);
        let status = match (tracked.item.state, &began_at) {
            (State::Blocked, _) => "blocked",
            (_, Some(_)) => "available",
            _ => "queued",
        };
        let earliest = began_at.unwrap_or_else(|| self.now.clone());
        let effect = json!({
            "type": "disclose",
            "groupId": self.groups[group].id,
            "workItemId": work_item_id,
            "estimate": {
                "estimatedStart": earliest.spelled(),
                "estimatedCompletion": disclosure.completion.spelled(),
                "confidence": CONFIDENCE,
                "capacityStatus": status,
                "lastCalculatedAt": self.now.spelled(),
            },
            "estimatedStartLatest": disclosure.start_latest.spelled(),
        });
        self.wake_at(disclosure.runs_out_at().clone());
        self.disclosures.0.insert(work_item_id, disclosure);
        self.effect(effect);
    }

    fn estimate(
        &self,
        group: usize,
        tracked: &Tracked,
        began_at: Option<&Instant>,
        misses: i32,
    ) -> Disclosure {
        let widened = 2f64.powi(misses.min(20));
        let length = rounded_up(tracked.item.contract.seconds_at_most()) * widened;
        let wait = rounded_up(self.longest_wait(group, tracked)) * widened;
        let latest = self.now.plus(seconds_long(wait));
        let from = if began_at.is_some() {
            &self.now
        } else {
            &latest
        };
        Disclosure {
            completion: from.plus(seconds_long(length)),
            start_latest: began_at.unwrap_or(&latest).clone(),
            misses,
            was_running: began_at.is_some(),
            times_set_aside: tracked.times_set_aside,
            state: tracked.item.state,
        }
    }

    /// How long an item waits if every Group always has work: what its own Group has before it, at
    /// the Group's share of the slots.
    fn longest_wait(&self, group: usize, tracked: &Tracked) -> f64 {
        let known = &self.groups[group];
        let before = known
            .history
            .items
            .iter()
            .take_while(|other| other.item.id != tracked.item.id);
        let owed = before.filter(|other| {
            let is_ours = other.item.epoch_of(&self.agent.id).is_some();
            is_ours && matches!(other.item.state, State::Queued | State::Active)
        });
        let seconds: f64 = owed
            .map(|other| other.item.contract.seconds_at_most())
            .sum();
        let weights = self
            .groups
            .iter()
            .map(|other| self.policy.weight(&other.id));
        let share = self.policy.weight(&known.id) / weights.sum::<f64>();
        seconds / (share * self.slots.len().max(1) as f64)
    }
}

fn rounded_up(seconds: f64) -> f64 {
    let doublings = (seconds / GRANULARITY_SECONDS).max(1.0).log2().ceil();
    GRANULARITY_SECONDS * 2f64.powf(doublings)
}
