//! The Organization's policy: always the whole of it, a later one in place of the former.

use crate::json::{count, text, texts};
use crate::work_item::{Contract, WorkItem};
use serde_json::Value;

pub struct Policy(Value);

impl Policy {
    pub fn new(document: Value) -> Self {
        Self(document)
    }

    /// The share of a Group: positive, and not only whole (MWP-WRK-010).
    pub fn weight(&self, group_id: &str) -> f64 {
        self.0["groups"][group_id]["weight"].as_f64().unwrap_or(1.0)
    }

    pub fn slot_quota(&self, group_id: &str) -> Option<u64> {
        crate::json::whole(&self.0["groups"][group_id]["slotQuota"])
    }

    /// The place of an item's priority class, from 0 for the lowest. It comes from policy and from
    /// nowhere else, whatever a Coordinator or a Message claims (MWP-WRK-009).
    pub fn rank(&self, group_id: &str, work_item_id: &str) -> usize {
        let own = self.0["workItems"][work_item_id]["priorityClass"].as_str();
        let class = own.unwrap_or_else(|| text(&self.0["groups"][group_id], "priorityClass"));
        let classes = texts(&self.0, "priorityClasses");
        classes.iter().position(|name| name == class).unwrap_or(0)
    }

    /// How many priority classes there are.
    pub fn ranks(&self) -> usize {
        texts(&self.0, "priorityClasses").len().max(1)
    }

    /// Whether an item has to wait for an execution Approval (MWP-AUT-003).
    pub fn is_gated(&self, item: &WorkItem) -> bool {
        match item.contract.execution_approval.as_str() {
            "human_required" => true,
            "policy_required" => {
                text(&self.0["workItems"][&item.id], "executionApproval") == "required"
            }
            _ => false,
        }
    }

    pub fn is_unavailable(&self, capability_id: &str) -> bool {
        text(&self.0["capabilityAvailability"], capability_id) == "unavailable"
    }

    /// Whether work accepted under one Agent Card version may go on under a later one (MWP-IDN-003).
    pub fn is_compatible(&self, accepted: u64, current: u64) -> bool {
        let upgrades = &self.0["cardUpgrades"];
        (accepted + 1..=current).all(|version| text(upgrades, &version.to_string()) == "compatible")
    }

    /// Whether the Group's Mission has nothing left of something that the contract is to use.
    pub fn is_spent(&self, group_id: &str, contract: &Contract) -> bool {
        let Some(remaining) = self.0["remainingBudget"][group_id].as_object() else {
            return false;
        };
        remaining.iter().any(|(dimension, left)| {
            let wanted = contract.limit(dimension).unwrap_or(0.0);
            wanted > 0.0 && left.as_f64().is_some_and(|left| left <= 0.0)
        })
    }

    /// What is left of the side effects of a Group's Mission.
    pub fn side_effects_left(&self, group_id: &str) -> Option<f64> {
        self.0["remainingBudget"][group_id]["externalSideEffectLimit"].as_f64()
    }

    pub fn queued_items_max(&self) -> u64 {
        count(&self.0["limits"], "maxQueuedItems")
    }

    pub fn queued_items_of_group_max(&self) -> u64 {
        count(&self.0["limits"], "maxQueuedItemsPerGroup")
    }

    pub fn offline_grace_seconds(&self) -> f64 {
        self.0["limits"]["offlineGraceSeconds"]
            .as_f64()
            .unwrap_or(0.0)
    }
}
