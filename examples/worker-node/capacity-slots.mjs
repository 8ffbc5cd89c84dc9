// Capacity Slots: starting, running, preempting, freeing (PROTOCOL sections 11.1, 11.3).

import { millis } from "./instants.mjs";
import { holdsLease } from "./outbox.mjs";
import { Scheduler } from "./scheduler.mjs";

export const MAX_PREEMPTIONS = 3;
const HOLD_MILLIS = 30_000;
const LEAST_PROGRESS_MILLIS = 1000; // what runs is not preempted before it has got anywhere

export class CapacitySlots {
  constructor(session) {
    this.session = session;
    this.scheduler = new Scheduler();
    this.slots = [];
    for (let n = 1; n <= session.agent.maxConcurrency; n += 1) this.slots.push({ slotId: `s${n}` });
  }

  of(item) { return this.slots.find((slot) => slot.item === item); }
  running() { return this.slots.filter((slot) => slot.phase && slot.phase !== "reserved"); }

  effect(type, slot, more = {}) {
    this.session.effect({ type, slotId: slot.slotId, workItemId: slot.item.id, ...more });
  }

  free(slot, ...effects) {
    for (const type of effects) this.effect(type, slot);
    for (const name of Object.keys(slot)) if (name !== "slotId") delete slot[name];
  }

  /** Work whose lease is gone stops; a Checkpoint that was accepted frees its slot. */
  fence() {
    for (const slot of this.slots) {
      if (!slot.phase || slot.phase === "reserved") continue;
      const { item } = slot;
      const checkpointed = slot.checkpointId && item.state === "queued" && item.isOf(this.session.agent.agentId)
        && item.checkpoint?.checkpointId === slot.checkpointId;
      if (checkpointed) this.free(slot, ...(slot.paused ? [] : ["pause"]), "release");
      else if (!this.mayRun(item, slot.leaseId)) this.free(slot, "cancel", "release");
      else this.session.wakeBy(millis(item.leases.execution.expiresAt));
    }
  }

  mayRun(item, leaseId) {
    const group = this.session.groups.get(item.groupId);
    return Boolean(group) && !this.session.replaced && group.history.membership.state === "active"
      && holdsLease(this.session, item, leaseId) && this.session.now < group.graceEnds;
  }

  /** A lease that was granted begins its run, once. */
  begin(items) {
    for (const item of items) {
      const lease = item.leases.execution;
      if (item.state !== "active" || !lease || item.refused || item.session.ranUnder === lease.leaseId) continue;
      const group = this.session.groups.get(item.groupId);
      if (this.session.now < millis(lease.startsAt)) { this.session.wakeBy(millis(lease.startsAt)); continue; }
      if (this.session.now < (item.session.retryAt ?? 0)) { this.session.wakeBy(item.session.retryAt); continue; }
      if (!this.session.canSend(group) || !this.mayRun(item, lease.leaseId)) continue;
      if (item.session.failure && this.session.mayNotGoOn(item)) continue;
      if (this.session.execution.gaveUpLate(item, lease.leaseId)) continue;
      const promised = this.of(item); // a retry gave its place up, and waits for another in the quota
      if (!promised && !this.quotaLeft(item.groupId)) continue;
      const slot = promised ?? this.slots.find((candidate) => !candidate.phase);
      if (!slot) continue;
      item.session.ranUnder = lease.leaseId;
      Object.assign(slot, { item, leaseId: lease.leaseId });
      this.run(slot);
    }
  }

  run(slot) {
    const { item } = slot;
    const group = this.session.groups.get(item.groupId);
    const { checkpoint } = item;
    const resumeFrom = checkpoint && { checkpointId: checkpoint.checkpointId, checkpointHash: checkpoint.checkpointHash };
    this.effect("run", slot, {
      groupId: item.groupId,
      leaseId: slot.leaseId,
      ...(resumeFrom && { resumeFrom }),
      context: {
        missionContext: group.entry.missionContext,
        credentials: group.entry.credentials,
        budget: item.contract.budget,
        sideEffectScope: item.groupId,
      },
    });
    item.session.failure = undefined;
    Object.assign(slot, { phase: "running", ranAt: this.session.now });
  }

  /** Whether the item waits for a start: it is queued, or a session that is over had its lease. */
  isWaiting(item) {
    return item.state === "queued"
      || (item.state === "active" && item.leases.execution?.sessionEpoch < this.session.sessionEpoch);
  }

  /** Whether the item could start now, quotas aside. */
  eligible(item) {
    const { session } = this;
    if (item.refused || session.now < (item.session.hold ?? 0) || this.of(item)) return false;
    const group = session.groups.get(item.groupId);
    if (!this.isWaiting(item)) return false;
    if (!session.canSend(group) || group.history.membership.state !== "active") return false;
    if (session.now >= millis(item.leases.ownership?.expiresAt) || !item.leases.ownership) return false;
    if (session.now >= millis(item.startBy)) return false;
    if (item.buffered || session.outbox.pending(item, "work.start")) return false;
    const { policy } = session.organization;
    if (item.contract.requiredCapabilities.some(({ id }) => policy.capabilityAvailability[id] === "unavailable")) return false;
    if (!item.contract.dependencyWorkItemIds.every((id) => group.history.items.get(id)?.state === "verified")) return false;
    return session.gateIsOpen(item) && !session.mayNotGoOn(item);
  }

  inUse(groupId) { return this.slots.filter((slot) => slot.item?.groupId === groupId).length; }
  quotaLeft(groupId) {
    const quota = this.session.organization.policy.groups[groupId]?.slotQuota;
    return quota === undefined || this.inUse(groupId) < quota;
  }

  /** Fills the free slots, then asks for a safe point where something higher waits. */
  schedule(items) {
    const ready = items.filter((item) => this.eligible(item));
    for (const item of ready) item.session.rank = this.session.rankOf(item);
    for (let slot; (slot = this.slots.find((candidate) => !candidate.phase));) {
      const decision = this.scheduler.choose(this.candidates(ready));
      if (!decision) break;
      ready.splice(ready.indexOf(decision.item), 1);
      this.start(slot, decision);
    }
    for (const slot of this.slots) {
      if (slot.phase !== "preempting" || !this.session.groups.get(slot.item.groupId).linked) continue;
      if (slot.preemptedFor ? ready.includes(slot.preemptedFor) : this.session.mayNotGoOn(slot.item)) continue;
      this.effect("continue", slot);
      Object.assign(slot, { phase: "running", preemptedFor: undefined });
    }
    for (const slot of this.slots) {
      if (slot.phase !== "running" || !this.session.mayNotGoOn(slot.item)) continue;
      this.effect("preempt", slot);
      slot.phase = "preempting";
    }
    if (this.slots.every((slot) => slot.phase)) this.preempt(ready);
  }

  /** One entry for each Group with something to start; what a slot was freed for comes first. */
  candidates(ready) {
    const open = ready.filter((item) => this.quotaLeft(item.groupId));
    const promised = open.filter((item) => item.session.promised);
    const byGroup = Map.groupBy ? Map.groupBy(promised.length ? promised : open, (item) => item.groupId)
      : groupBy(promised.length ? promised : open);
    return [...byGroup].map(([groupId, members]) => ({
      groupId,
      weight: this.session.organization.policy.groups[groupId]?.weight ?? 1,
      head: Scheduler.head(members, this.session.now),
    }));
  }

  start(slot, { item, refund }) {
    const { session } = this;
    item.session.promised = false;
    Object.assign(slot, { item, phase: "reserved" });
    const epoch = item.ownershipEpoch;
    const giveBack = () => { if (slot.item === item && slot.phase === "reserved") this.free(slot); };
    session.outbox.send("work.start", item, { ownershipEpoch: epoch }, {
      stillValid: () => item.isOf(session.agent.agentId) && item.ownershipEpoch === epoch
        && this.isWaiting(item) && session.gateIsOpen(item) && session.now < millis(item.leases.ownership?.expiresAt),
      failed: () => { refund(); giveBack(); session.hold(item, HOLD_MILLIS); },
    });
  }

  preempt(ready) {
    const { now } = this.session;
    const waiting = ready.filter((item) => !this.slots.some((slot) => slot.preemptedFor === item))
      .sort((a, b) => b.session.rank - a.session.rank);
    for (const item of waiting) {
      const victims = this.slots.filter((slot) => slot.phase === "running"
        && slot.item.preemptions < MAX_PREEMPTIONS && this.session.rankOf(slot.item) < item.session.rank
        && (this.quotaLeft(item.groupId) || slot.item.groupId === item.groupId));
      const ripe = victims.filter((slot) => now >= slot.ranAt + LEAST_PROGRESS_MILLIS);
      for (const slot of victims) this.session.wakeBy(slot.ranAt + LEAST_PROGRESS_MILLIS);
      const slot = ripe.sort((a, b) => this.session.rankOf(a.item) - this.session.rankOf(b.item))[0];
      if (!slot) continue;
      this.effect("preempt", slot);
      Object.assign(slot, { phase: "preempting", preemptedFor: item });
    }
  }
}

function groupBy(items) {
  const groups = new Map();
  for (const item of items) groups.set(item.groupId, [...(groups.get(item.groupId) ?? []), item]);
  return groups;
}
