//! A Worker of MissionWeaveProtocol 0.1: the adapter, lines in, lines out.
//!
//! Standard output carries the answers of the Worker Port and nothing else.

mod admission;
mod canonical;
mod capacity_slot;
mod disclosure;
mod edwards25519;
mod execution;
mod failure;
mod group;
mod group_history;
mod inbox;
mod instant;
mod journal;
mod json;
mod lease;
mod offline;
mod operation;
mod outbox;
mod policy;
mod preemption;
mod registry;
mod scheduler;
mod schema;
mod session;
mod signed_document;
mod usage;
mod work_item;

use serde_json::{json, Value};
use session::Session;
use std::io::{self, BufRead, Write};

const NOT_SUPPORTED: i64 = -32001;

/// What this Worker says of itself: the areas that it claims, and the figures it is held to.
fn declaration() -> Value {
    json!({
        "portVersion": "1",
        "name": "Worker in Rust",
        "version": env!("CARGO_PKG_VERSION"),
        "language": "Rust",
        "profiles": [
            "replay", "scheduling", "disclosure", "isolation", "leases", "preemption",
            "admission", "blocking", "retries", "offline", "signatures"
        ],
        "parameters": {
            "fairnessUnit": "dispatch",
            "considers": ["priorityClass", "deadline", "waitingTime", "quota", "gate", "resources"],
            "starvationHorizonSeconds": 3600,
            "outOfOrder": "buffer",
            "resendSeconds": 30,
            "estimateGranularitySeconds": 300,
            "maxPreemptionsPerItem": 3,
            "abstains": ["presence"],
        },
    })
}

/// The result of a `handle`; `None` for a stimulus that is not supported.
fn handle(session: &mut Option<Session>, stimulus: &Value) -> io::Result<Option<Value>> {
    match (stimulus["type"].as_str(), session.as_mut()) {
        (Some("start"), _) => *session = Some(Session::start(stimulus)?),
        (Some("stop"), _) => {
            *session = None;
            return Ok(Some(json!({"effects": []})));
        }
        (_, Some(running)) => {
            if running.handle(stimulus).is_none() {
                return Ok(None);
            }
        }
        (_, None) => return Ok(None),
    }
    session.as_mut().map(Session::answer).transpose()
}

fn answer(session: &mut Option<Session>, call: &Value) -> io::Result<Value> {
    let id = &call["id"];
    let result = match call["method"].as_str() {
        Some("initialize") => Some(declaration()),
        Some("shutdown") => Some(json!({})),
        _ => handle(session, &call["params"])?,
    };
    Ok(match result {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => {
            let message = format!("the stimulus {} is not supported", call["params"]["type"]);
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": NOT_SUPPORTED, "message": message}})
        }
    })
}

/// One line for each line, until `shutdown` or the end of the input.
fn main() -> io::Result<()> {
    let mut session = None;
    let mut stdout = io::stdout();
    for line in io::stdin().lock().lines() {
        let call: Value = serde_json::from_str(&line?)?;
        let line = format!("{}\n", answer(&mut session, &call)?);
        stdout.write_all(line.as_bytes())?;
        stdout.flush()?;
        if call["method"] == "shutdown" {
            break;
        }
    }
    Ok(())
}
