//! The adapter of a Worker: the Worker Port, version 1, on standard input and output.
//!
//! It subscribes to every Group and does nothing else yet, so it claims no profile. Each stimulus
//! has one place marked TODO. Logs go to stderr (`eprintln!`): stdout carries the answers and
//! nothing else.

use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

const NOT_SUPPORTED: i64 = -32001;

fn declaration() -> Value {
    json!({
        "portVersion": "1",
        "name": "My Worker",
        "version": "0.1.0",
        "language": "Rust",
        "profiles": [], // what is named here is judged: begin with "replay"
        "parameters": {},
    })
}

#[derive(Default)]
struct Worker {
    session_epoch: u64,
    identifiers: u64,
}

impl Worker {
    /// The effects of one stimulus; `None` where it is not known.
    fn handle(&mut self, stimulus: &Value) -> Option<Vec<Value>> {
        let mut effects = Vec::new();
        match stimulus["type"].as_str()? {
            "start" => {
                // TODO(start): open stimulus["stateDirectory"] and go on from what stands there.
                *self = Worker::default();
                self.session_epoch = stimulus["sessionEpoch"].as_u64()?;
                effects.push(self.subscribe(stimulus["groups"].as_array()?));
            }
            // TODO(policy): replace the whole policy: weights, quotas, classes, limits.
            "policy" => {}
            // TODO(frames): Events per Group in sequence, durable, then one ACK.
            "frames" => {}
            // TODO(tick): time has passed: leases, retries, resends.
            "tick" => {}
            // TODO(caught_up): the replay of this Group is over: Commands may be sent.
            "caught_up" => {}
            "join" => {
                // TODO(join): take the Group's Membership, context and credentials.
                effects.push(self.subscribe(&[stimulus["group"].clone()]));
            }
            // TODO(leave): nothing more comes from this Group.
            "leave" => {}
            // TODO(keys): replace the key registry.
            "keys" => {}
            // TODO(link): down: start nothing new. Up: new session, subscribe again.
            "link" => {}
            // TODO(token): keep it with its lease; its secret goes nowhere.
            "token" => {}
            // TODO(token_revoked): no operation under it any more.
            "token_revoked" => {}
            // TODO(snapshot): verify, restore, resume at its sequence.
            "snapshot" => {}
            // TODO(execution): checkpoint, submit, block, retry or fail; release.
            "execution" => {}
            // TODO(stop): forget the session; what is durable stays.
            "stop" => *self = Worker::default(),
            _ => return None,
        }
        Some(effects)
    }

    /// Asks for the Events of `groups` after the durable Cursor: 0, as nothing is kept yet.
    fn subscribe(&mut self, groups: &[Value]) -> Value {
        let positions: Vec<Value> = groups
            .iter()
            .map(|group| json!({"groupId": group["groupId"], "afterSequence": 0}))
            .collect();
        json!({"type": "frame", "frame": {
            "protocolVersion": "0.1",
            "frameId": self.identifier("frame"),
            "frameType": "SUBSCRIBE",
            "subscriptionId": self.identifier("subscription"),
            "groups": positions,
        }})
    }

    /// The Session Epoch keeps it unique, also when the disk is lost.
    fn identifier(&mut self, kind: &str) -> String {
        self.identifiers += 1;
        format!("urn:my-worker:{kind}:{}-{}", self.session_epoch, self.identifiers)
    }
}

fn answer(worker: &mut Worker, call: &Value) -> Value {
    let id = &call["id"];
    let result = match call["method"].as_str() {
        Some("initialize") => declaration(),
        Some("shutdown") => json!({}),
        _ => match worker.handle(&call["params"]) {
            // The result may have `busy` (call again at once) and `wakeAt` (call again then) too.
            Some(effects) => json!({"effects": effects}),
            None => {
                let message = format!("{} is not supported", call["params"]["type"]);
                let error = json!({"code": NOT_SUPPORTED, "message": message});
                return json!({"jsonrpc": "2.0", "id": id, "error": error});
            }
        },
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// One line for each line, until `shutdown` or the end of the input.
fn main() -> io::Result<()> {
    let mut worker = Worker::default();
    let mut stdout = io::stdout();
    for line in io::stdin().lock().lines() {
        let call: Value = serde_json::from_str(&line?)?;
        writeln!(stdout, "{}", answer(&mut worker, &call))?;
        stdout.flush()?;
        if call["method"] == "shutdown" {
            break;
        }
    }
    Ok(())
}
