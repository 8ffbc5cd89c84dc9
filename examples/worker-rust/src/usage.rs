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

/// What was used, by dimension.
#[derive(Clone, Copy, Default)]
pub struct Usage([f64; 6]);

impl Usage {
    pub fn read(value: &Value) -> Self {
        Self(DIMENSIONS.map(|(name, _)| value[name].as_f64().unwrap_or(0.0)))
    }

    fn plus(self, other: Self) -> Self {
        Self(std::array::from_fn(|index| self.0[index] + other.0[index]))
    }

    fn minus(self, other: Self) -> Self {
        Self(std::array::from_fn(|index| {
            (self.0[index] - other.0[index]).max(0.0)
        }))
    }

    fn is_zero(self) -> bool {
        self.0.iter().all(|used| *used <= 0.0)
    }

    /// With a number in each of the six dimensions.
    pub fn told(self) -> Value {
        let told = DIMENSIONS.iter().zip(self.0).map(|((name, _), used)| {
            let is_whole = used.fract() == 0.0 && used < 1e15;
            let number = if is_whole {
                json!(used as u64)
            } else {
                json!(used)
            };
            ((*name).to_owned(), number)
        });
        Value::Object(told.collect::<Map<_, _>>())
    }
}

/// What one run has used from its beginning, and how much of it the ledger has been told.
#[derive(Default)]
pub struct Account {
    used: Usage,
    charged: Usage,
}

impl Account {
    /// A report gives a figure, not a difference.
    pub fn take(&mut self, report: &Value) {
        if let Some(usage) = report.get("usage") {
            self.used = Usage::read(usage);
        }
    }

    /// What has not been charged yet.
    pub fn owed(&self) -> Usage {
        self.used.minus(self.charged)
    }
}

impl Session {
    /// A budget that is used up pauses the work; the matter is escalated by blocking it (MWP-AUT-004).
    pub fn guard_budget(&mut self, slot: usize) {
        let Some(run) = self.slots[slot]
            .as_ref()
            .filter(|run| matches!(run.phase, Phase::Running))
        else {
            return;
        };
        let Some(tracked) = self.groups[run.group].history.tracked(&run.work_item_id) else {
            return;
        };
        let in_earlier_runs = tracked.used.minus(run.account.charged);
        let used = in_earlier_runs.plus(run.account.used);
        let spent = DIMENSIONS.iter().zip(used.0).find(|((_, limit), used)| {
            let limit = tracked.item.contract.limit(limit);
            *used > 0.0 && limit.is_some_and(|limit| *used >= limit)
        });
        if let Some(((_, limit), _)) = spent {
            let resolution = format!("The budget of this WorkItem is used up: {limit}.");
            self.ask_for_safe_point(slot, Cause::Budget(resolution));
        }
    }

    /// Has the ledger charged with what a run has used (section 12).
    pub fn charge_usage(&mut self, run: &mut Run) {
        let owed = run.account.owed();
        let intent = run.intent(RECORD_USAGE, "");
        if !owed.is_zero() && self.may_send(run.group, &intent) {
            self.send_under_lease(run, intent, json!({"usageDelta": owed.told()}));
            run.account.charged = run.account.used;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_is_owed() {
        let mut account = Account::default();
        account.take(&json!({"usage": {"toolCalls": 2, "financial": 0.5}}));
        account.charged = account.used;
        account.take(&json!({"usage": {"toolCalls": 5, "financial": 0.5}}));
        let told = account.owed().told().to_string();
        assert!(
            told.contains("\"toolCalls\":3") && told.contains("\"financial\":0,"),
            "{told}"
        );
    }
}
