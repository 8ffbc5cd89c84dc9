//! What work uses: charged to the Organization's ledger, and held to the contract's budget
//! (MWP-AUT-004).

use crate::capacity_slot::{Cause, Phase, Run};
use crate::outbox::RECORD_USAGE;
use crate::session::Session;
use serde_json::{json, Map, Value};

/// The dimensions of usage, and what a budget calls the limit of each.
const DIMENSIONS: [(&str, &str); 6] = [
    ("financial", "financialLimit"),
    ("modelTokens", "modelTokenLimit"),
    ("toolCalls", "toolCallLimit"),
    ("computeSeconds", "computeSecondsLimit"),
    ("wallClockSeconds", "wallClockSecondsLimit"),
    ("externalSideEffects", "externalSideEffectLimit"),
];

impl Session {
    /// A budget that is used up pauses the work; the matter is escalated by blocking it (MWP-AUT-004).
    pub fn guard_budget(&mut self, slot: usize, report: &Value) {
        let Some(run) = &self.slots[slot] else {
            return;
        };
        let tracked = self.groups[run.group].history.tracked(&run.work_item_id);
        let Some(contract) = tracked.map(|tracked| &tracked.item.contract) else {
            return;
        };
        let used = |name: &str| report["usage"][name].as_f64().unwrap_or(0.0);
        let spent = DIMENSIONS.iter().find(|(name, limit)| {
            used(name) > 0.0
                && contract
                    .limit(limit)
                    .is_some_and(|limit| used(name) >= limit)
        });
        if let (Some((_, limit)), Phase::Running) = (spent, &run.phase) {
            let resolution = format!("The budget of this WorkItem is used up: {limit}.");
            self.ask_for_safe_point(slot, Cause::Budget(resolution));
        }
    }

    pub fn take_usage(&mut self, slot: usize, report: &Value) {
        if let (Some(run), Some(usage)) = (&mut self.slots[slot], report["usage"].as_object()) {
            run.uncharged = Some(usage.clone());
        }
    }

    /// Has the ledger charged with what a run has used (section 12).
    pub fn charge_usage(&mut self, run: &mut Run) {
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

/// Usage with a number in each of the six dimensions.
pub fn in_all_dimensions(usage: &Map<String, Value>) -> Value {
    let all = DIMENSIONS.iter().map(|(name, _)| {
        let used = usage.get(*name).cloned().unwrap_or_else(|| json!(0));
        ((*name).to_owned(), used)
    });
    Value::Object(all.collect())
}

fn is_zero(usage: &Map<String, Value>) -> bool {
    usage
        .values()
        .all(|used| used.as_f64().unwrap_or(0.0) == 0.0)
}
