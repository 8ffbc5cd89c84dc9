// What the executor reports, and what is owed for it (PROTOCOL sections 11.3, 11.4, 12, 13).

import { durationMillis, millis } from "./instants.mjs";
import { bufferCheckpoint, heedBudget } from "./offline.mjs";
import { holdsLease } from "./outbox.mjs";
import { hashOf } from "./signed-documents.mjs";

const AGAIN = new Set(["MEMBERSHIP_STALE", "REVISION_CONFLICT", "ACTION_ID_COLLISION", "OVERTAKEN"]);

export class Execution {
  constructor(session) {
    this.session = session;
    this.duties = []; // Commands owed, in order for each WorkItem
  }

  report({ slotId, workItemId, leaseId, report }) {
    const slot = this.session.slots.slots.find((candidate) => candidate.slotId === slotId);
    if (slot?.item?.id !== workItemId || slot.leaseId !== leaseId) return; // about an earlier run
    const current = holdsLease(this.session, slot.item, leaseId);
    if (current && this.session.groups.get(slot.item.groupId).linked && Object.values(report.usage ?? {}).some((amount) => amount > 0)) {
      const { item } = slot;
      this.owe(item, leaseId, "ext.missionweaveprotocol.core.resource_usage_record", { usageDelta: report.usage }, {
        failed: (error) => heedBudget(item, error),
      });
    }
    if (report.kind === "operation") this.operation(slot, report, current);
    else if (current) this[report.kind]?.(slot, report);
  }

  /** A Command that must be sent for this lease, after those owed before it were answered. */
  owe(item, leaseId, kind, payload, after = {}) {
    this.duties.push({ item, leaseId, kind, payload, after, entry: undefined });
  }

  /** Sends what is owed; what its lease no longer carries is forgotten. */
  settle() {
    const { session } = this;
    this.duties = this.duties.filter((duty) => duty.entry || holdsLease(session, duty.item, duty.leaseId));
    const busy = new Set();
    for (const duty of this.duties) {
      if (busy.has(duty.item)) continue;
      busy.add(duty.item);
      if (duty.entry || session.now < (duty.notBefore ?? 0)) continue;
      if (!session.canSend(session.groups.get(duty.item.groupId))) continue;
      const payload = { ownershipEpoch: duty.item.ownershipEpoch, executionLeaseId: duty.leaseId, ...duty.payload };
      duty.entry = session.outbox.send(duty.kind, duty.item, payload, {
        stillValid: () => holdsLease(session, duty.item, duty.leaseId),
        done: () => { this.drop(duty); duty.after.done?.(); },
        failed: (error) => {
          duty.entry = undefined;
          if (AGAIN.has(error.code)) duty.notBefore = session.now + 1000;
          else { this.drop(duty); duty.after.failed?.(error); }
          if (duty.notBefore) session.wakeBy(duty.notBefore);
        },
      });
    }
  }

  drop(duty) { this.duties = this.duties.filter((other) => other !== duty); }

  owes(item) { return this.duties.some((duty) => duty.item === item); }

  progress() {}

  safe_point(slot, { checkpointId, checkpointHash, usage }) {
    if (!this.session.groups.get(slot.item.groupId).linked) return bufferCheckpoint(this.session, slot, { checkpointId, checkpointHash, usage });
    if (slot.phase !== "preempting") return;
    const { item, preemptedFor } = slot;
    Object.assign(slot, { phase: "checkpointing", checkpointId });
    this.session.journal.record({ type: "preempted", groupId: item.groupId, workItemId: item.id });
    if (preemptedFor) preemptedFor.session.promised = true;
    this.owe(item, slot.leaseId, "work.checkpoint", { checkpoint: { checkpointId, checkpointHash } }, {
      failed: (error) => {
        heedBudget(item, error);
        if (slot.item !== item || slot.phase !== "checkpointing") return;
        this.session.slots.effect("continue", slot);
        Object.assign(slot, { phase: "running", checkpointId: undefined, preemptedFor: undefined });
      },
    });
  }

  blocked(slot, { checkpointId, checkpointHash, requiredResolution }) {
    slot.item.session.finishing = slot.leaseId;
    if (!this.session.groups.get(slot.item.groupId).linked) {
      bufferCheckpoint(this.session, slot, { checkpointId, checkpointHash });
      return this.session.slots.free(slot, "release");
    }
    this.owe(slot.item, slot.leaseId, "work.block",
      { checkpoint: { checkpointId, checkpointHash }, reason: requiredResolution });
    return this.session.slots.free(slot, "release");
  }

  completed(slot, { artifacts, evidence }) {
    const { item, leaseId } = slot;
    item.session.finishing = leaseId;
    for (const manifest of artifacts) {
      this.owe(item, leaseId, "artifact.publish", { artifact: this.session.signer.sign(manifest, manifest.createdAt) });
    }
    this.owe(item, leaseId, "work.submit", {
      artifactIds: artifacts.map(({ artifactId }) => artifactId),
      evidence: evidence.map((document) => this.session.signer.sign(document, document.createdAt)),
    });
    this.session.slots.free(slot, "release");
  }

  failed(slot, { code, evidence }) {
    const { session } = this;
    const { item } = slot;
    const { maxAttempts, backoff, maxDelay, retryableFailures } = item.contract.retryPolicy;
    session.journal.record({ type: "attempt", groupId: item.groupId, workItemId: item.id });
    const longest = durationMillis(maxDelay);
    const wait = backoff === "none" ? 0 : Math.min(longest, 1000 * (backoff === "exponential" ? 2 ** (item.attempts - 1) : 1));
    const again = session.now + wait;
    if (retryableFailures.includes(code) && item.attempts < maxAttempts && again < millis(item.contract.deadline)) {
      Object.assign(item.session, { retryAt: again, failure: { code, evidence } });
      session.slots.free(slot, "release");
      item.session.ranUnder = undefined;
      return;
    }
    this.oweFailure(item, slot.leaseId, { code, evidence });
    session.slots.free(slot, "release");
  }

  oweFailure(item, leaseId, { code, evidence }) {
    this.owe(item, leaseId, "work.fail",
      { reason: code, evidence: evidence.map((document) => this.session.signer.sign(document, document.createdAt)) });
  }

  /** A retry that would begin behind the deadline is none: the failure before it is the last. */
  gaveUpLate(item, leaseId) {
    const { failure } = item.session;
    if (!failure || this.session.now < millis(item.contract.deadline)) return false;
    item.session.ranUnder = leaseId;
    this.oweFailure(item, leaseId, failure);
    return true;
  }

  operation(slot, { operationId, effect }, current) {
    const { session } = this;
    const { item, leaseId } = slot;
    const refuse = (refused) => session.slots.effect("operation", slot, { operationId, refused });
    if (!current) return refuse("no current lease");
    const group = session.groups.get(item.groupId);
    if (group.linked && !group.live) return refuse("not reconciled");
    if (!session.gateIsOpen(item)) return refuse("no execution approval");
    const key = hashOf([item.doc.missionId, item.id, item.ownershipEpoch, operationId]);
    const token = session.tokens.find((candidate) => candidate.leaseId === leaseId
      && candidate.agentId === session.agent.agentId && candidate.sessionEpoch === session.sessionEpoch
      && candidate.workItemId === item.id && candidate.ownershipEpoch === item.ownershipEpoch
      && candidate.operations.includes(effect) && session.now < millis(candidate.expiresAt));
    if (!token) return refuse("no valid capability token");
    const limits = [token.budget, item.contract.budget, session.organization.policy.remainingBudget?.[item.groupId] ?? {}]
      .map((budget) => budget?.externalSideEffectLimit ?? Infinity);
    const used = item.operations.size + (item.operations.has(key) ? 0 : 1);
    if (effect === "external" && used > Math.min(...limits)) return refuse("the budget is used up");
    if (effect === "external" && !item.operations.has(key)) {
      session.journal.record({ type: "operation", groupId: item.groupId, workItemId: item.id, key });
    }
    return session.slots.effect("operation", slot, { operationId, leaseId, tokenId: token.tokenId, idempotencyKey: key });
  }
}
