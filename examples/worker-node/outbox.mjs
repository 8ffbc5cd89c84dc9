// Commands: made, signed, sent again unchanged, answered or refused (PROTOCOL sections 15.1, 19).

import { millis } from "./instants.mjs";

export const RESEND_SECONDS = 30;

export class Outbox {
  constructor(session) {
    this.session = session;
    this.open = new Map(); // Action ID to what is not answered yet
    this.counter = 0;
  }

  /**
   * Sends a Command about a WorkItem. `stillValid` is asked before it is sent again;
   * `done(event)` or `failed(error)` is called when it is answered.
   */
  send(kind, item, payload, { stillValid = () => true, done = () => {}, failed = () => {}, extensions } = {}) {
    const { session } = this;
    const group = session.groups.get(item.groupId);
    const serial = `${session.sessionEpoch}-${(this.counter += 1)}`;
    const command = session.signer.sign({
      protocolVersion: "0.1",
      actionId: `${session.agent.agentId}:action:${serial}`,
      actor: { type: "agent", id: session.agent.agentId },
      sessionEpoch: session.sessionEpoch,
      membershipEpoch: group.history.membershipEpoch,
      groupId: item.groupId,
      workItemId: item.id,
      kind,
      correlationId: `${session.agent.agentId}:correlation:${serial}`,
      issuedAt: session.stamp,
      payload: { workItemId: item.id, ...payload },
      ...(extensions && { extensions }),
    }, session.stamp);
    const entry = { command, item, group, stillValid, done, failed, dueAt: session.now + RESEND_SECONDS * 1000 };
    this.open.set(command.actionId, entry);
    session.frame("COMMAND", { command });
    return entry;
  }

  pending(item, kind) {
    for (const entry of this.open.values()) if (entry.item === item && entry.command.kind === kind) return entry;
    return undefined;
  }

  answered(actionId, event) {
    const entry = this.open.get(actionId);
    if (!entry) return;
    this.open.delete(actionId);
    entry.done(event);
  }

  refused(error) {
    const entry = this.open.get(error.relatedActionId);
    if (!entry) return;
    if (error.retryable) {
      entry.dueAt = this.session.now + Math.max(error.retryAfterMs ?? 1000, 1);
      return;
    }
    this.open.delete(error.relatedActionId);
    entry.failed(error);
  }

  /** Drops what concerns a Group, or everything: the connection it was sent on is gone. */
  forget(concerned = () => true) {
    for (const [actionId, entry] of this.open) if (concerned(entry)) this.open.delete(actionId);
  }

  /** Sends again what is due; what would be refused anyway is dropped. */
  resend() {
    const { session } = this;
    for (const [actionId, entry] of this.open) {
      const { membership, membershipEpoch } = entry.group.history;
      const mayAct = entry.command.membershipEpoch === membershipEpoch && membership.state !== "ended";
      if (!mayAct || !entry.stillValid()) {
        this.open.delete(actionId);
        entry.failed({ code: "OVERTAKEN" });
      } else if (entry.dueAt <= session.now && session.canSend(entry.group)) {
        entry.dueAt = session.now + RESEND_SECONDS * 1000;
        session.frame("COMMAND", { command: entry.command });
      }
      session.wakeBy(entry.dueAt);
    }
  }
}

/** What makes a lease Command worth sending: the very lease is current. */
export function holdsLease(session, item, leaseId) {
  const lease = item.leases.execution;
  return item.state === "active" && lease?.leaseId === leaseId && lease.sessionEpoch === session.sessionEpoch
    && lease.holderAgentId === session.agent.agentId
    && session.now >= millis(lease.startsAt) && session.now < millis(lease.expiresAt);
}
