//! The Signed Document Verification Profile: six stages, in order (MWP-SDV-015), and signing.

use crate::canonical::{base64url, from_base64url, signing_bytes};
use crate::edwards25519::is_signature;
use crate::instant::Instant;
use crate::json::{owned, text};
use crate::registry::{Principal, Registry};
use crate::schema;
use ring::signature::{Ed25519KeyPair, UnparsedPublicKey, ED25519};
use serde_json::{json, Value};

/// Why a frame or document is refused; the wire learns the group of stages and no more (MWP-SDV-018).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    ProtocolViolation,
    SchemaValidation,
    InvalidSignature,
    Forbidden,
}

impl Refusal {
    pub fn code(self) -> &'static str {
        match self {
            Self::ProtocolViolation => "PROTOCOL_VIOLATION",
            Self::SchemaValidation => "SCHEMA_VALIDATION_FAILED",
            Self::InvalidSignature => "AUTH_INVALID_SIGNATURE",
            Self::Forbidden => "AUTH_FORBIDDEN",
        }
    }
}

/// A kind of Signed Document: its schema and its protected time (the table of MWP-SDV-001).
pub struct Profile {
    schema: &'static str,
    protected_time: &'static str,
}

pub const AGENT_CARD: Profile = profile("agent-card", "issuedAt");
pub const APPROVAL: Profile = profile("approval", "occurredAt");
pub const ARTIFACT: Profile = profile("artifact", "createdAt");
pub const COMMAND: Profile = profile("command", "issuedAt");
pub const EVENT: Profile = profile("event", "occurredAt");
pub const EVIDENCE: Profile = profile("evidence", "createdAt");
pub const GROUP_SNAPSHOT: Profile = profile("group-snapshot", "createdAt");

const fn profile(schema: &'static str, protected_time: &'static str) -> Profile {
    Profile {
        schema,
        protected_time,
    }
}

/// Stages 2 to 6; the first belongs to the bytes on the wire. Without a signer any service may be it.
pub fn verify(
    document: &Value,
    profile: &Profile,
    signer: Option<&Principal>,
    registry: &Registry,
) -> Result<(), Refusal> {
    if !schema::fits(profile.schema, document) {
        return Err(Refusal::SchemaValidation);
    }
    verify_signature(document, profile, signer, registry).ok_or(Refusal::InvalidSignature)
}

fn verify_signature(
    document: &Value,
    profile: &Profile,
    signer: Option<&Principal>,
    registry: &Registry,
) -> Option<()> {
    let envelope = &document["signature"];
    let protected_time = text(document, profile.protected_time);
    if !protected_time.ends_with('Z') || protected_time != text(envelope, "createdAt") {
        return None;
    }
    let signature = from_base64url(text(envelope, "value")).filter(|bytes| is_signature(bytes))?;
    let at = Instant::parse(protected_time)?;
    let key = registry.key(text(envelope, "keyId"), signer, &at)?;
    UnparsedPublicKey::new(&ED25519, key)
        .verify(signing_bytes(document).as_bytes(), &signature)
        .ok()
}

/// The Worker's own key.
pub struct Signer {
    key_id: String,
    pair: Ed25519KeyPair,
}

impl Signer {
    /// From a 32-byte seed in base64url.
    pub fn new(key_id: String, seed: &str) -> Option<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&from_base64url(seed)?).ok()?;
        Some(Self { key_id, pair })
    }

    /// Adds the signature; its time repeats the document's own, byte for byte (MWP-SDV-002).
    pub fn sign(&self, document: &mut Value, profile: &Profile) {
        let value = self.pair.sign(signing_bytes(document).as_bytes());
        document["signature"] = json!({
            "algorithm": "Ed25519",
            "keyId": self.key_id,
            "createdAt": owned(document, profile.protected_time),
            "value": base64url(value.as_ref()),
        });
    }
}
