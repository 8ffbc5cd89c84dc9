//! The key registry, and who may sign in which role (MWP-SDV-004 to MWP-SDV-014).

use crate::canonical::from_base64url;
use crate::edwards25519::is_public_key;
use crate::instant::Instant;
use crate::json::{entries, owned, text, texts};
use serde_json::Value;
use std::collections::HashMap;

/// An actor as documents name it: its type and its identifier.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    kind: String,
    pub id: String,
}

impl Principal {
    pub fn read(value: &Value) -> Self {
        Self {
            kind: owned(value, "type"),
            id: owned(value, "id"),
        }
    }

    pub fn is_service(&self) -> bool {
        self.kind == "service"
    }
}

/// One key ID, bound for ever to one Principal and one public key.
struct Binding {
    principal: Principal,
    public_key: Vec<u8>,
    valid_from: Instant,
    /// The earliest of all ends and revocations that the history has.
    valid_before: Option<Instant>,
}

/// Who may sign what beyond being who they are.
#[derive(Default)]
pub struct Authorized {
    pub event_authority: Vec<String>,
    pub archival: Vec<String>,
    pub card_issuer: Vec<String>,
    pub approvers: Vec<String>,
}

#[derive(Default)]
pub struct Registry {
    bindings: HashMap<String, Binding>,
    sound: bool,
    pub authorized: Authorized,
}

impl Registry {
    /// From the members `keys` and `authorized`. One broken binding anywhere makes the whole of the
    /// evidence unusable (MWP-SDV-008).
    pub fn read(value: &Value) -> Self {
        let authorized = &value["authorized"];
        let mut registry = Self {
            bindings: HashMap::new(),
            sound: true,
            authorized: Authorized {
                event_authority: texts(authorized, "eventAuthority"),
                archival: texts(authorized, "archival"),
                card_issuer: texts(authorized, "cardIssuer"),
                approvers: texts(authorized, "approvers"),
            },
        };
        registry.sound = entries(value, "keys")
            .iter()
            .all(|key| registry.add(key).is_some());
        registry
    }

    /// The public key of `key_id`, if it is the Principal's and was valid at the signed time
    /// (MWP-SDV-014); the Principal is left open for documents of any service.
    pub fn key(&self, key_id: &str, signer: Option<&Principal>, at: &Instant) -> Option<&[u8]> {
        let binding = self.bindings.get(key_id).filter(|_| self.sound)?;
        let right_signer = match signer {
            Some(principal) => *principal == binding.principal,
            None => binding.principal.is_service(),
        };
        let ended = binding.valid_before.as_ref().is_some_and(|end| end <= at);
        let in_force = binding.valid_from <= *at && !ended;
        (right_signer && in_force).then_some(&binding.public_key)
    }

    /// Whose key it is.
    pub fn owner(&self, key_id: &str) -> Option<&Principal> {
        self.bindings.get(key_id).map(|binding| &binding.principal)
    }

    fn add(&mut self, key: &Value) -> Option<()> {
        let key_id = owned(key, "keyId");
        let public_key = from_base64url(text(key, "publicKey"))?;
        if text(key, "algorithm") != "Ed25519" || !is_public_key(&public_key) {
            return None;
        }
        let mut ends = Vec::new();
        for name in ["validUntil", "revokedAt"] {
            if let Some(end) = key.get(name) {
                ends.push(Instant::parse(end.as_str()?)?);
            }
        }
        let binding = Binding {
            principal: Principal::read(&key["principal"]),
            public_key,
            valid_from: Instant::parse(text(key, "validFrom"))?,
            valid_before: ends.into_iter().min(),
        };
        match self.bindings.get_mut(&key_id) {
            Some(known) => known.repeat(binding),
            None => {
                let mut others = self.bindings.values();
                if others.any(|other| other.public_key == binding.public_key) {
                    return None;
                }
                self.bindings.insert(key_id, binding);
                Some(())
            }
        }
    }
}

impl Binding {
    /// A further record of the same binding may only bring its end nearer.
    fn repeat(&mut self, other: Self) -> Option<()> {
        let same = self.principal == other.principal
            && self.public_key == other.public_key
            && self.valid_from == other.valid_from;
        let ends = [self.valid_before.take(), other.valid_before];
        self.valid_before = ends.into_iter().flatten().min();
        same.then_some(())
    }
}
