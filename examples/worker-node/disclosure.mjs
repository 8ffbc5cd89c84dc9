// Estimates for an item's own Group (PROTOCOL section 11.2): coarse, and of nobody else's work.

import { spell } from "./instants.mjs";
import { holdsLease } from "./outbox.mjs";

export const GRANULARITY_SECONDS = 300;
const STEP = GRANULARITY_SECONDS * 1000;
const up = (time) => Math.ceil(time / STEP) * STEP;

/** A wait rounded down to a doubling of the step: how much others have queued cannot be counted from it. */
function coarse(wait) {
  return wait < STEP ? 0 : STEP * 2 ** Math.floor(Math.log2(wait / STEP));
}

/** Publishes what is new or has become false. */
export function discloseEstimates(session, items) {
  const slots = session.agent.maxConcurrency;
  const lengthOf = (item) => (item.contract.budget.wallClockSecondsLimit ?? 60) * 1000;
  let ahead = 0;
  for (const item of items) {
    const known = item.session.estimate;
    const slot = session.slots.of(item);
    const status = slot?.phase && slot.phase !== "reserved" ? "active" : item.state === "blocked" ? "blocked" : "queued";
    ahead += lengthOf(item);
    if (holdsLease(session, item, item.session.finishing) || !session.canSend(session.groups.get(item.groupId))) continue;
    const stale = !known || known.status !== status || (status === "queued" && session.now >= known.latest);
    if (stale) {
      const wait = coarse((ahead - lengthOf(item)) / slots);
      const start = status === "active" ? session.now : up(session.now + wait);
      const latest = status === "active" ? start : up(start + Math.max(STEP, wait * 3));
      item.session.estimate = { status, latest };
      session.effect({
        type: "disclose",
        groupId: item.groupId,
        workItemId: item.id,
        estimate: {
          estimatedStart: spell(start),
          estimatedCompletion: spell(up(latest + lengthOf(item))),
          confidence: status === "active" ? 0.9 : 0.5,
          capacityStatus: status,
          lastCalculatedAt: spell(session.now),
        },
        estimatedStartLatest: spell(latest),
      });
    }
    if (status === "queued") session.wakeBy(item.session.estimate.latest);
  }
}
