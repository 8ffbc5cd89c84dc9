// One Group as its Events tell it: Cursor, Membership, WorkItems, leases (PROTOCOL sections 10, 11.1, 16).
// It is a projection: the same Events give the same history, in a replay as in life.

const EXTENSIONS_KNOWN = new Set();

export class WorkItem {
  constructor(workItemId, groupId) {
    this.id = workItemId;
    this.groupId = groupId;
    this.doc = undefined;
    this.leases = {}; // the open lease of each type
    this.startedIn = undefined; // the Ownership Epoch in which it was started last
    this.checkpoint = undefined;
    this.approvals = [];
    this.attempts = 0;
    this.operations = new Set();
    this.preemptions = 0;
    this.declined = new Set();
    this.session = {}; // what only this session knows; never durable
  }

  get state() { return this.doc?.state; }
  get contract() { return this.doc.contract; }
  get ownershipEpoch() { return this.doc?.owner?.ownershipEpoch ?? this.leases.ownership?.ownershipEpoch; }
  /** Until when it may start for the first time; what has run goes on without such a limit. */
  get startBy() {
    const { startBy, ownershipEpoch } = this.leases.ownership ?? {};
    return this.startedIn === ownershipEpoch ? undefined : startBy;
  }
  isOf(agentId) { return this.doc?.owner?.agentId === agentId; }
  offerTo(agentId) {
    if (this.state !== "offered") return undefined;
    return this.doc.offers?.find((offer) => offer.agentId === agentId && offer.status === "pending");
  }
}

export class GroupHistory {
  constructor(groupId) {
    this.groupId = groupId;
    this.cursor = 0;
    this.sequences = new Map(); // Event ID to the sequence at which it took effect
    this.items = new Map();
    this.membership = undefined;
    this.membershipEpoch = 0;
  }

  item(workItemId) {
    let item = this.items.get(workItemId);
    if (!item) this.items.set(workItemId, (item = new WorkItem(workItemId, this.groupId)));
    return item;
  }

  /** The next Event in order takes effect. `approved`: its Execution Approval verified. */
  apply(event, agentId, approved) {
    const payload = event.payload ?? {};
    this.cursor = event.sequence;
    this.sequences.set(event.eventId, event.sequence);
    if (payload.membership) this.takeMembership(payload.membership, agentId);
    const touched = new Set();
    for (const doc of [payload.workItem, ...(payload.workItems ?? [])]) {
      if (doc) touched.add(this.takeWorkItem(doc));
    }
    for (const lease of payload.leases ?? []) touched.add(this.takeLease(lease));
    const checkpoint = payload.checkpoint ?? payload.latestCheckpoint;
    if (checkpoint) this.item(checkpoint.workItemId).checkpoint = checkpoint;
    if (event.kind === "approval.execution.granted") {
      const item = this.item(payload.workItemId);
      if (approved) item.approvals.push({ ownershipEpoch: payload.ownershipEpoch, expiresAt: payload.expiresAt });
      touched.add(item);
    }
    if (payload.cumulativeUsage) this.item(payload.workItemId).used = payload.cumulativeUsage;
    const strange = dependsOnUnknown(event);
    for (const item of touched) {
      item.session.hold = undefined;
      if (strange || event.kind === "work.offer.created") item.refused = strange;
      if (event.kind === "work.offer.created") { item.attempts = 0; item.preemptions = 0; item.operations.clear(); }
    }
    return touched;
  }

  takeWorkItem(doc) {
    const item = this.item(doc.workItemId);
    item.doc = doc;
    if (doc.state !== "active") {
      item.leases.execution = undefined;
      item.session.finishing = undefined; // what was owed for the last run is settled
    }
    if (!doc.owner) item.leases = {};
    return item;
  }

  takeLease(lease) {
    const item = this.item(lease.workItemId);
    if (lease.leaseType === "execution") item.startedIn = lease.ownershipEpoch;
    const open = item.leases[lease.leaseType];
    if (lease.state === "active") item.leases[lease.leaseType] = lease;
    else if (open?.leaseId === lease.leaseId) item.leases[lease.leaseType] = undefined;
    return item;
  }

  takeMembership(membership, agentId) {
    if (membership.groupId !== this.groupId || membership.member.id !== agentId) return;
    if (membership.membershipEpoch < this.membershipEpoch) return;
    this.membership = membership;
    this.membershipEpoch = membership.membershipEpoch;
  }

  /**
   * Everything through the Snapshot's sequence is as its state says; what the Worker did itself, such as
   * its attempts, no Snapshot tells. `approved`: the Approvals among it that verified.
   */
  restore(snapshot, state, agentId, approved) {
    for (const item of this.items.values()) {
      Object.assign(item, { doc: undefined, leases: {}, checkpoint: undefined, approvals: [] });
    }
    this.cursor = snapshot.throughSequence;
    for (const eventId of snapshot.eventIds) this.sequences.set(eventId, this.sequences.get(eventId) ?? 0);
    for (const membership of state.memberships ?? []) this.takeMembership(membership, agentId);
    for (const doc of state.workItems ?? []) this.takeWorkItem(doc);
    for (const lease of state.leases ?? []) this.takeLease(lease);
    for (const checkpoint of state.checkpoints ?? []) this.item(checkpoint.workItemId).checkpoint = checkpoint;
    for (const { workItemId, ownershipEpoch, expiresAt } of approved) {
      this.item(workItemId).approvals.push({ ownershipEpoch, expiresAt });
    }
    for (const item of this.items.values()) {
      // What an offer came with, no Snapshot takes back: only a new offer does.
      item.refused ||= isStrange([item.doc, item.doc?.contract, ...Object.values(item.leases)]);
    }
  }
}

/** Whether a fact carries a critical extension that this Worker does not know. */
function dependsOnUnknown(event) {
  const { workItem, leases = [], approval } = event.payload ?? {};
  return isStrange([event, event.payload, workItem, workItem?.contract, approval, ...leases]);
}

function isStrange(documents) {
  return documents.some((document) =>
    Object.entries(document?.extensions ?? {}).some(([uri, data]) => data?.critical && !EXTENSIONS_KNOWN.has(uri)));
}
