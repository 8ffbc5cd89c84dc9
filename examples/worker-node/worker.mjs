// The adapter: the Worker Port, version 1, on standard input and output.

import { createInterface } from "node:readline";
import { GRANULARITY_SECONDS } from "./disclosure.mjs";
import { MAX_PREEMPTIONS } from "./capacity-slots.mjs";
import { RESEND_SECONDS } from "./outbox.mjs";
import { HORIZON_SECONDS } from "./scheduler.mjs";
import { ACK_SECONDS, Session } from "./session.mjs";

const DECLARATION = {
  portVersion: "1",
  name: "Node Worker",
  version: "0.1.0",
  language: "JavaScript",
  profiles: ["replay", "scheduling", "disclosure", "isolation", "leases", "preemption", "admission", "blocking", "retries", "offline", "signatures"],
  parameters: {
    fairnessUnit: "dispatch",
    considers: ["priorityClass", "waitingTime", "quota", "gate", "resources"],
    starvationHorizonSeconds: HORIZON_SECONDS,
    classShareRatio: 8,
    outOfOrder: "discard",
    ackIntervalSeconds: ACK_SECONDS,
    resendSeconds: RESEND_SECONDS,
    maxPreemptionsPerItem: MAX_PREEMPTIONS,
    estimateGranularitySeconds: GRANULARITY_SECONDS,
    deterministic: true,
    abstains: ["presence"],
  },
};

const STIMULI = new Set(["start", "policy", "frames", "tick", "caught_up", "join", "leave", "keys", "link", "token",
  "token_revoked", "snapshot", "execution", "stop"]);

let session;

function answer({ method, params }) {
  if (method === "initialize") return { result: DECLARATION };
  if (method === "shutdown") return { result: {} };
  if (method !== "handle" || !STIMULI.has(params.type)) {
    return { error: { code: -32001, message: "this stimulus is not supported" } };
  }
  if (params.type === "start") session = new Session(params);
  const result = session.handle(params);
  if (params.type === "stop") session = undefined;
  return { result };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const call = JSON.parse(line);
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: call.id, ...answer(call) }) + "\n");
  if (call.method === "shutdown") process.stdin.destroy();
});
