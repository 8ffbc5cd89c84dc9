// The adapter of a Worker: the Worker Port, version 1, on standard input and output.
//
// It subscribes to every Group and does nothing else yet, so it claims no profile. Each stimulus has
// one place marked TODO. Logs go to stderr (console.error): stdout carries the answers and nothing
// else.

import { createInterface } from "node:readline";

const DECLARATION = {
  portVersion: "1",
  name: "My Worker",
  version: "0.1.0",
  language: "JavaScript",
  profiles: [], // what is named here is judged: begin with "replay"
  parameters: {},
};

const NOT_SUPPORTED = -32001;

class Session {
  #identifiers = 0;

  constructor(sessionEpoch) {
    this.sessionEpoch = sessionEpoch;
  }

  // The Session Epoch keeps it unique, also when the disk is lost.
  identifier(kind) {
    return `urn:my-worker:${kind}:${this.sessionEpoch}-${++this.#identifiers}`;
  }

  // Asks for the Events of `groups` after the durable Cursor: 0, as nothing is kept yet.
  subscribe(groups) {
    const frame = {
      protocolVersion: "0.1",
      frameId: this.identifier("frame"),
      frameType: "SUBSCRIBE",
      subscriptionId: this.identifier("subscription"),
      groups: groups.map(({ groupId }) => ({ groupId, afterSequence: 0 })),
    };
    return { type: "frame", frame };
  }
}

let session;

// For each stimulus, the effects it has.
const STIMULI = {
  start(stimulus) {
    // TODO(start): open stimulus.stateDirectory and go on from what stands there.
    session = new Session(stimulus.sessionEpoch);
    return [session.subscribe(stimulus.groups)];
  },
  policy(stimulus) {
    return []; // TODO(policy): replace the whole policy: weights, quotas, classes, limits.
  },
  frames(stimulus) {
    return []; // TODO(frames): Events per Group in sequence, durable, then one ACK.
  },
  tick(stimulus) {
    return []; // TODO(tick): time has passed: leases, retries, resends.
  },
  caught_up(stimulus) {
    return []; // TODO(caught_up): the replay of this Group is over: Commands may be sent.
  },
  join(stimulus) {
    // TODO(join): take the Group's Membership, context and credentials.
    return [session.subscribe([stimulus.group])];
  },
  leave(stimulus) {
    return []; // TODO(leave): nothing more comes from this Group.
  },
  keys(stimulus) {
    return []; // TODO(keys): replace the key registry.
  },
  link(stimulus) {
    return []; // TODO(link): down: start nothing new. Up: new session, subscribe again.
  },
  token(stimulus) {
    return []; // TODO(token): keep it with its lease; its secret goes nowhere.
  },
  token_revoked(stimulus) {
    return []; // TODO(token_revoked): no operation under it any more.
  },
  snapshot(stimulus) {
    return []; // TODO(snapshot): verify, restore, resume at its sequence.
  },
  execution(stimulus) {
    return []; // TODO(execution): checkpoint, submit, block, retry or fail; release.
  },
  stop(stimulus) {
    session = undefined; // TODO(stop): forget the session; what is durable stays.
    return [];
  },
};

function answer({ method, params }) {
  if (method === "initialize") return { result: DECLARATION };
  if (method === "shutdown") return { result: {} };
  if (!Object.hasOwn(STIMULI, params.type)) {
    return { error: { code: NOT_SUPPORTED, message: `the stimulus '${params.type}' is not supported` } };
  }
  // The result may have `busy` (call again at once) and `wakeAt` (call again then) as well.
  return { result: { effects: STIMULI[params.type](params) } };
}

// One line for each line, until `shutdown` or the end of the input.
createInterface({ input: process.stdin }).on("line", (line) => {
  const call = JSON.parse(line);
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: call.id, ...answer(call) }) + "\n");
  if (call.method === "shutdown") process.stdin.destroy();
});
