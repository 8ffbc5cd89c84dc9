// One runtime session: stimuli in, effects out, everything durable before the answer.

import { reasonAgainst } from "./admission.mjs";
import { CapacitySlots } from "./capacity-slots.mjs";
import { discloseEstimates } from "./disclosure.mjs";
import { Execution } from "./execution.mjs";
import { GroupHistory } from "./group-history.mjs";
import { Inbox } from "./inbox.mjs";
import { millis, spell } from "./instants.mjs";
import { Journal } from "./journal.mjs";
import { renewLeases } from "./leases.mjs";
import { reconcile, seekSafePoints } from "./offline.mjs";
import { Outbox } from "./outbox.mjs";
import { KeyRegistry, Signer } from "./signed-documents.mjs";

export const ACK_SECONDS = 5;
const GAP_SECONDS = 60;
const MOST_GAP_DOUBLINGS = 5; // half an hour at most
const FINISHED = new Set(["verified", "cancelled", "failed", "submitted"]);

export class Session {
  constructor(start) {
    const { agent, organization } = start;
    this.agent = agent;
    this.organization = organization;
    this.sessionEpoch = start.sessionEpoch;
    this.registry = new KeyRegistry(organization.keys);
    this.signer = new Signer(agent.keyId, agent.privateKey);
    this.histories = new Map();
    this.groups = new Map(); // the Groups of this connection
    this.tokens = [];
    this.effects = [];
    this.frames = 0;
    this.order = 0;
    this.begin(start);
    this.journal = new Journal(start.stateDirectory, (record) => this.take(record));
    this.outbox = new Outbox(this);
    this.slots = new CapacitySlots(this);
    this.execution = new Execution(this);
    this.inbox = new Inbox(this);
  }

  /** A durable record takes effect, in life as when the journal is read. */
  take(record) {
    const history = this.history(record.groupId ?? record.event?.groupId ?? record.snapshot.groupId);
    if (record.type === "event") history.apply(record.event, this.agent.agentId, record.approved);
    else if (record.type === "snapshot") history.restore(record.snapshot, record.state, this.agent.agentId, record.approved);
    else if (record.type === "attempt") history.item(record.workItemId).attempts += 1;
    else if (record.type === "operation") history.item(record.workItemId).operations.add(record.key);
    else if (record.type === "preempted") history.item(record.workItemId).preemptions += 1;
    else if (record.type === "buffered") history.item(record.workItemId).buffered = record.buffered;
    else if (record.type === "declined") history.item(record.workItemId).declined.add(record.offer);
  }

  history(groupId) {
    let history = this.histories.get(groupId);
    if (!history) this.histories.set(groupId, (history = new GroupHistory(groupId)));
    return history;
  }

  // What reaches the other side

  effect(effect) { this.effects.push(effect); }
  frame(frameType, members) {
    const frameId = `${this.agent.agentId}:frame:${this.sessionEpoch}-${(this.frames += 1)}`;
    this.effect({ type: "frame", frame: { protocolVersion: "0.1", frameId, frameType, ...members } });
    return frameId;
  }
  pong(nonce) {
    this.frame("PING", { nonce: `reply-${this.sessionEpoch}-${this.frames + 1}-nonce`, replyToNonce: nonce, sentAt: this.stamp });
  }
  subscribe(groups) {
    if (!groups.length) return;
    const subscriptionId = `${this.agent.agentId}:subscription:${this.sessionEpoch}-${this.frames + 1}`;
    this.frame("SUBSCRIBE", {
      subscriptionId,
      groups: groups.map(({ history }) => ({ groupId: history.groupId, afterSequence: history.cursor })),
    });
  }
  wakeBy(time) { if (time > this.now && time < this.wakeAt) this.wakeAt = time; }
  hold(item, length) { item.session.hold = this.now + length; }
  canSend(group) {
    return Boolean(group) && !this.replaced && group.live && group.linked && group.history.membership.state !== "ended";
  }

  // Stimuli

  begin({ now, wallClock }) {
    this.now = millis(now);
    this.stamp = wallClock ?? now;
    this.wakeAt = Infinity;
  }

  handle(stimulus) {
    this.begin(stimulus);
    const method = { frames: "frames_", execution: "execution_" }[stimulus.type] ?? stimulus.type;
    this[method](stimulus);
    if (stimulus.type !== "stop") this.decide();
    this.journal.commit();
    const effects = this.effects;
    this.effects = [];
    return this.wakeAt < Infinity ? { effects, wakeAt: spell(this.wakeAt) } : { effects };
  }

  start({ groups }) { this.subscribe(groups.map((entry) => this.addGroup(entry))); }
  join({ group }) { this.subscribe([this.addGroup(group)]); }
  addGroup(entry) {
    const history = this.history(entry.groupId);
    history.takeMembership(entry.membership, this.agent.agentId);
    history.cursor = Math.max(history.cursor, Math.max(1, entry.membership.visibilityStartSequence) - 1);
    const group = { entry, history, live: false, linked: true, graceEnds: Infinity, gapAsked: 0 };
    this.groups.set(entry.groupId, group);
    return group;
  }
  leave({ groupId }) {
    this.outbox.forget((entry) => entry.group.history.groupId === groupId);
    for (const slot of this.slots.slots) {
      if (slot.item?.groupId === groupId) this.slots.free(slot, ...(slot.phase === "reserved" ? [] : ["cancel", "release"]));
    }
    this.groups.delete(groupId);
  }
  frames_({ frames }) { for (const frame of frames) this.inbox.receive(frame); }
  tick() {}
  stop() { this.journal.close(); }
  caught_up({ groupId }) { const group = this.groups.get(groupId); if (group) group.live = true; }
  policy({ policy }) {
    this.organization = { ...this.organization, policy };
    for (const item of this.mine()) Object.assign(item.session, { hold: undefined, exhausted: undefined });
  }
  keys({ keys, authorized }) {
    this.registry = new KeyRegistry(keys);
    this.organization = { ...this.organization, keys, authorized };
  }
  token({ token }) { this.tokens.push(token); }
  token_revoked({ tokenId }) { this.tokens = this.tokens.filter((token) => token.tokenId !== tokenId); }
  snapshot(stimulus) { this.inbox.snapshot(stimulus); }
  execution_(stimulus) { this.execution.report(stimulus); }
  link({ state, groupIds, sessionEpoch, memberships }) {
    const concerned = [...this.groups.values()].filter(({ history }) => !groupIds || groupIds.includes(history.groupId));
    if (sessionEpoch !== undefined) Object.assign(this, { sessionEpoch, replaced: false });
    for (const { groupId, membershipEpoch } of memberships ?? []) {
      const history = this.history(groupId);
      history.membershipEpoch = Math.max(history.membershipEpoch, membershipEpoch);
    }
    for (const group of concerned) {
      group.linked = state === "up";
      group.live = false;
      group.downSince = this.now;
      group.graceEnds = group.linked ? Infinity : this.now + this.organization.policy.limits.offlineGraceSeconds * 1000;
      this.outbox.forget((entry) => entry.group === group);
      for (const slot of this.slots.slots) if (slot.phase === "reserved" && slot.item.groupId === group.history.groupId) this.slots.free(slot);
    }
    for (const duty of this.execution.duties) if (concerned.some(({ history }) => history.groupId === duty.item.groupId)) duty.entry = undefined;
    if (state === "up") this.subscribe(concerned);
  }

  // Decisions

  /** This Worker's work that has not ended, in the order of its acceptance. */
  mine() {
    const items = [];
    for (const { history } of this.groups.values()) {
      for (const item of history.items.values()) {
        if (!item.isOf(this.agent.agentId) || FINISHED.has(item.state)) continue;
        if (!["queued", "active", "blocked"].includes(item.state)) continue;
        item.order ??= this.order += 1;
        if (item.session.sinceState !== item.state) Object.assign(item.session, { sinceState: item.state, since: this.now });
        items.push(item);
      }
    }
    return items.sort((a, b) => a.order - b.order);
  }
  waiting() {
    const items = this.mine().filter((item) => item.state !== "active");
    for (const entry of this.outbox.open.values()) if (entry.command.kind === "work.accept_offer") items.push(entry.item);
    return items;
  }
  rankOf(item) {
    const { policy } = this.organization;
    const name = policy.workItems[item.id]?.priorityClass ?? policy.groups[item.groupId]?.priorityClass;
    return Math.max(policy.priorityClasses.indexOf(name), 0);
  }
  gateIsOpen(item) {
    const wanted = item.contract.executionApproval;
    const asked = wanted === "human_required"
      || (wanted === "policy_required" && this.organization.policy.workItems[item.id]?.executionApproval === "required");
    return !asked || item.approvals.some(({ ownershipEpoch, expiresAt }) =>
      ownershipEpoch === item.ownershipEpoch && this.now < millis(expiresAt));
  }

  /** Whether work must pause: its budget is used up, or its acceptance was for another Agent Card. */
  mayNotGoOn(item) {
    const { policy } = this.organization;
    const { agentCardVersion } = this.agent;
    if (item.doc.owner.agentCardVersion !== agentCardVersion && policy.cardUpgrades[agentCardVersion] === "incompatible") {
      return true;
    }
    const left = policy.remainingBudget?.[item.groupId] ?? {};
    return Boolean(item.session.exhausted) || isUsedUp(item)
      || Object.entries(item.contract.budget).some(([limit, wanted]) => left[limit] === 0 && wanted > 0);
  }

  decide() {
    this.slots.fence();
    this.outbox.resend();
    this.execution.settle();
    reconcile(this);
    const items = this.mine();
    this.slots.begin(items);
    this.offers();
    renewLeases(this, items);
    this.slots.schedule(items);
    for (const item of items) if (item.session.hold) this.wakeBy(item.session.hold);
    seekSafePoints(this);
    discloseEstimates(this, items);
    this.fillGaps();
    this.acknowledge();
  }

  /**
   * A gap that stays is asked for again; what was discarded above it comes with the answer. Each time after
   * twice the wait: a SUBSCRIBE replaces the one before, and might cut off an answer that is only slow.
   */
  fillGaps() {
    for (const group of this.groups.values()) {
      if (group.gapSince === undefined || !this.canSend(group)) continue;
      const due = group.gapSince + GAP_SECONDS * 1000 * 2 ** Math.min(group.gapAsked, MOST_GAP_DOUBLINGS);
      if (this.now >= due) {
        this.subscribe([group]);
        group.gapAsked += 1;
        group.gapSince = undefined;
      } else this.wakeBy(due);
    }
  }

  offers() {
    for (const group of this.groups.values()) {
      if (!this.canSend(group)) continue;
      for (const item of group.history.items.values()) {
        const offer = item.offerTo(this.agent.agentId);
        if (!offer || this.now >= millis(offer.expiresAt) || this.now < (item.session.hold ?? 0)) continue;
        const name = `${offer.offerId} ${offer.expiresAt}`;
        if (item.declined.has(name) || item.session.lost === name || this.outbox.pending(item, "work.accept_offer")) continue;
        const reason = reasonAgainst(this, group, item, offer);
        if (reason) {
          this.journal.record({ type: "declined", groupId: item.groupId, workItemId: item.id, offer: name });
          this.effect({ type: "decline", groupId: item.groupId, workItemId: item.id, offerId: offer.offerId, reason });
          continue;
        }
        this.outbox.send("work.accept_offer", item, { offerId: offer.offerId }, {
          stillValid: () => item.offerTo(this.agent.agentId)?.offerId === offer.offerId && this.now < millis(offer.expiresAt),
          failed: (error) => { if (error.code !== "OVERTAKEN" && error.code !== "MEMBERSHIP_STALE") item.session.lost = name; },
        });
      }
    }
  }

  acknowledge() {
    const due = [];
    for (const group of this.groups.values()) {
      if (!group.ackOwed || !group.linked || this.replaced) continue;
      group.ackAt ??= this.now + ACK_SECONDS * 1000;
      if (group.ackAt <= this.now) due.push(group);
      else this.wakeBy(group.ackAt);
    }
    if (!due.length) return;
    this.frame("ACK", {
      acknowledgements: due.map(({ history }) => ({ groupId: history.groupId, sequence: history.cursor })),
      sentAt: this.stamp,
    });
    for (const group of due) Object.assign(group, { ackOwed: false, ackAt: undefined });
  }
}

const LIMITS = {
  financial: "financialLimit", modelTokens: "modelTokenLimit", toolCalls: "toolCallLimit",
  computeSeconds: "computeSecondsLimit", wallClockSeconds: "wallClockSecondsLimit", externalSideEffects: "externalSideEffectLimit",
};

/** Whether nothing is left of something that the contract gives (MWP-AUT-004). */
function isUsedUp({ used, contract }) {
  return Object.entries(used ?? {}).some(([dimension, amount]) => {
    const limit = contract.budget[LIMITS[dimension]];
    return limit > 0 && amount >= limit;
  });
}
