// Work while a Group is out of reach, and its reconciliation (PROTOCOL section 11.5).

import { millis, spell } from "./instants.mjs";

const URI = "urn:missionweaveprotocol:extension:bounded-offline-execution";
const NOTHING_USED = {
  financial: 0, modelTokens: 0, toolCalls: 0, computeSeconds: 0, wallClockSeconds: 0, externalSideEffects: 0,
};

/** Shortly before the grace ends, what runs out of reach is asked for a safe point. */
export function seekSafePoints(session) {
  for (const slot of session.slots.running()) {
    const { downSince, graceEnds, linked } = session.groups.get(slot.item.groupId);
    if (linked) continue;
    const ask = graceEnds - (graceEnds - downSince) / 4;
    if (session.now >= ask && slot.phase === "running") {
      session.slots.effect("preempt", slot);
      slot.phase = "preempting";
    }
    session.wakeBy(ask);
    session.wakeBy(graceEnds);
  }
}

/** A Checkpoint that nobody hears of yet; the latest of a run replaces the one before. */
export function bufferCheckpoint(session, slot, { checkpointId, checkpointHash, usage }) {
  const { item, leaseId } = slot;
  const { downSince, graceEnds } = session.groups.get(item.groupId);
  if (session.now >= graceEnds) return;
  const used = { ...(item.buffered?.binding.resourceUsageDelta ?? NOTHING_USED) };
  for (const [dimension, amount] of Object.entries(usage ?? {})) used[dimension] += amount;
  session.journal.record({
    type: "buffered",
    groupId: item.groupId,
    workItemId: item.id,
    buffered: {
      checkpoint: { checkpointId, checkpointHash },
      binding: {
        agentId: session.agent.agentId, groupId: item.groupId, workItemId: item.id,
        sessionEpoch: session.sessionEpoch, ownershipEpoch: item.ownershipEpoch, executionLeaseId: leaseId,
        disconnectedAt: spell(downSince), bufferedAt: spell(session.now), graceDeadline: spell(graceEnds),
        executionLeaseExpiresAt: item.leases.execution.expiresAt, resourceUsageDelta: used,
      },
    },
  });
  if (slot.phase === "preempting") session.slots.free(slot, "pause", "release");
}

/** What is refused for its budget says that nothing is left: the work pauses (section 12). */
export function heedBudget(item, error) { if (error.code === "BUDGET_EXCEEDED") item.session.exhausted = true; }

/** After the reconnect a buffered Checkpoint goes first. */
export function reconcile(session) {
  for (const item of session.mine()) {
    const { buffered } = item;
    if (!buffered || !session.canSend(session.groups.get(item.groupId)) || session.outbox.pending(item, "work.checkpoint")) continue;
    const { ownershipEpoch, executionLeaseId, executionLeaseExpiresAt } = buffered.binding;
    const done = () =>
      session.journal.record({ type: "buffered", groupId: item.groupId, workItemId: item.id, buffered: undefined });
    if (ownershipEpoch !== item.ownershipEpoch || millis(buffered.binding.bufferedAt) >= millis(executionLeaseExpiresAt)) {
      done();
      continue;
    }
    session.outbox.send("work.checkpoint", item, { ownershipEpoch, executionLeaseId, checkpoint: buffered.checkpoint }, {
      extensions: { [URI]: { version: "1.0.0", critical: true, data: buffered.binding } },
      stillValid: () => item.buffered === buffered && item.ownershipEpoch === ownershipEpoch,
      done,
      failed: (error) => { heedBudget(item, error); done(); },
    });
  }
}
