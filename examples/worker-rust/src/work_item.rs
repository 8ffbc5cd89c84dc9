//! WorkItems, their Work Contracts, offers, owners, leases and Approvals, as documents tell of them.

use crate::instant::{duration, Instant};
use crate::json::{count, entries, owned, text, texts, whole};
use serde_json::{Map, Value};
use std::time::Duration;

/// The critical extension that this Worker knows (MWP-WRK-021).
pub const OFFLINE_EXTENSION: &str = "urn:missionweaveprotocol:extension:bounded-offline-execution";

/// The states of section 10.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Open,
    Offered,
    Queued,
    Active,
    Blocked,
    Submitted,
    Verified,
    Failed,
    Cancelled,
}

impl State {
    fn read(name: &str) -> Self {
        match name {
            "offered" => Self::Offered,
            "queued" => Self::Queued,
            "active" => Self::Active,
            "blocked" => Self::Blocked,
            "submitted" => Self::Submitted,
            "verified" => Self::Verified,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => Self::Open,
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Capability {
    pub id: String,
    version: Vec<u64>,
}

impl Capability {
    pub fn read(value: &Value) -> Self {
        let version = text(value, "version");
        let core = version.split(['-', '+']).next().unwrap_or_default();
        Self {
            id: owned(value, "id"),
            version: core
                .split('.')
                .filter_map(|part| part.parse().ok())
                .collect(),
        }
    }

    /// Whether this one serves where `required` is asked for: the same major version, not older.
    pub fn serves(&self, required: &Self) -> bool {
        let same_major = self.version.first() == required.version.first();
        self.id == required.id && same_major && self.version >= required.version
    }
}

pub struct Offer {
    pub id: String,
    pub agent_id: String,
    pub card_version: u64,
    pub expires_at: Option<Instant>,
    pub is_pending: bool,
}

pub struct Owner {
    pub agent_id: String,
    pub card_version: u64,
    pub ownership_epoch: u64,
    pub accepted_at: Option<Instant>,
}

pub struct RetryPolicy {
    pub max_attempts: u64,
    pub backoff: String,
    pub max_delay: Duration,
    pub retryable_failures: Vec<String>,
}

pub struct Contract {
    pub required_capabilities: Vec<Capability>,
    pub dependencies: Vec<String>,
    pub deadline: Option<Instant>,
    pub criteria: Vec<String>,
    pub budget: Map<String, Value>,
    pub retry: RetryPolicy,
    pub side_effect_risk: String,
    pub execution_approval: String,
}

impl Contract {
    fn read(value: &Value) -> Self {
        let retry = &value["retryPolicy"];
        let criteria = entries(value, "acceptanceCriteria").iter();
        Self {
            required_capabilities: entries(value, "requiredCapabilities")
                .iter()
                .map(Capability::read)
                .collect(),
            dependencies: texts(value, "dependencyWorkItemIds"),
            deadline: Instant::parse(text(value, "deadline")),
            criteria: criteria.map(|one| owned(one, "criterionId")).collect(),
            budget: value["budget"].as_object().cloned().unwrap_or_default(),
            retry: RetryPolicy {
                max_attempts: count(retry, "maxAttempts"),
                backoff: owned(retry, "backoff"),
                max_delay: duration(text(retry, "maxDelay")).unwrap_or_default(),
                retryable_failures: texts(retry, "retryableFailures"),
            },
            side_effect_risk: owned(value, "sideEffectRisk"),
            execution_approval: owned(value, "executionApproval"),
        }
    }

    /// The limit of one dimension of the budget, where it has one.
    pub fn limit(&self, dimension: &str) -> Option<f64> {
        self.budget.get(dimension).and_then(Value::as_f64)
    }

    /// What is known of the work's length beforehand.
    pub fn seconds_at_most(&self) -> f64 {
        self.limit("wallClockSecondsLimit").unwrap_or(3600.0)
    }
}

pub struct WorkItem {
    pub id: String,
    pub mission_id: String,
    pub revision: u64,
    pub state: State,
    pub contract: Contract,
    pub offers: Vec<Offer>,
    pub owner: Option<Owner>,
    pub authorization_eligible: bool,
    /// Whether an offered document is whole, the contract's required parts included (MWP-WRK-001).
    pub is_whole: bool,
    /// Whether the document carries a critical extension that is not known here (MWP-EXT-002).
    pub is_barred: bool,
}

impl WorkItem {
    pub fn read(value: &Value) -> Self {
        let state = State::read(text(value, "state"));
        let owner = value.get("owner");
        Self {
            id: owned(value, "workItemId"),
            mission_id: owned(value, "missionId"),
            revision: count(value, "revision"),
            state,
            contract: Contract::read(&value["contract"]),
            offers: entries(value, "offers").iter().map(read_offer).collect(),
            owner: owner.map(|owner| Owner {
                agent_id: owned(owner, "agentId"),
                card_version: count(owner, "agentCardVersion"),
                ownership_epoch: count(owner, "ownershipEpoch"),
                accepted_at: Instant::parse(text(owner, "acceptedAt")),
            }),
            authorization_eligible: value["selectionBasis"]["authorizationEligible"] != false,
            is_whole: state != State::Offered || crate::schema::fits("work-item", value),
            is_barred: bars(value) || bars(&value["contract"]),
        }
    }

    /// The Ownership Epoch under which an Agent owns it, if it does.
    pub fn epoch_of(&self, agent_id: &str) -> Option<u64> {
        let owned_state = matches!(
            self.state,
            State::Queued | State::Active | State::Blocked | State::Submitted
        );
        let owner = self.owner.as_ref().filter(|_| owned_state)?;
        (owner.agent_id == agent_id).then_some(owner.ownership_epoch)
    }
}

fn read_offer(value: &Value) -> Offer {
    Offer {
        id: owned(value, "offerId"),
        agent_id: owned(value, "agentId"),
        card_version: count(value, "agentCardVersion"),
        expires_at: Instant::parse(text(value, "expiresAt")),
        is_pending: text(value, "status") == "pending",
    }
}

/// Whether something carries a critical extension that this Worker does not know.
pub fn bars(value: &Value) -> bool {
    value["extensions"].as_object().is_some_and(|extensions| {
        let mut unknown = extensions
            .iter()
            .filter(|(name, _)| *name != OFFLINE_EXTENSION);
        unknown.any(|(_, extension)| extension["critical"] == true)
    })
}

#[derive(Clone)]
pub struct Lease {
    pub id: String,
    pub kind: String,
    pub holder: String,
    pub session_epoch: u64,
    pub ownership_epoch: u64,
    pub starts_at: Instant,
    pub renewed_at: Instant,
    pub expires_at: Instant,
    pub start_by: Option<Instant>,
    pub is_open: bool,
}

impl Lease {
    pub fn read(value: &Value) -> Option<Self> {
        let instant = |name| Instant::parse(text(value, name));
        let issued_at = instant("issuedAt")?;
        Some(Self {
            id: owned(value, "leaseId"),
            kind: owned(value, "leaseType"),
            holder: owned(value, "holderAgentId"),
            session_epoch: count(value, "sessionEpoch"),
            ownership_epoch: whole(&value["ownershipEpoch"])?,
            starts_at: instant("startsAt")?,
            renewed_at: instant("lastRenewedAt").unwrap_or(issued_at),
            expires_at: instant("expiresAt")?,
            start_by: instant("startBy"),
            is_open: text(value, "state") == "active",
        })
    }

    /// Whether it holds at an instant; at its expiry it has expired.
    pub fn holds_at(&self, now: &Instant) -> bool {
        self.is_open && self.starts_at <= *now && *now < self.expires_at
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub id: String,
    pub hash: String,
}

impl Checkpoint {
    pub fn read(value: &Value) -> Self {
        Self {
            id: owned(value, "checkpointId"),
            hash: owned(value, "checkpointHash"),
        }
    }
}

/// An execution Approval that verified, approves, and is by somebody who may (MWP-AUT-003).
pub struct Approval {
    pub id: String,
    pub ownership_epoch: u64,
    pub expires_at: Instant,
}
