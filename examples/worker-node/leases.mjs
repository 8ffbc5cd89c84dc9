// Renewal of Execution Leases (PROTOCOL section 11.3): at half of what is left.

import { millis } from "./instants.mjs";
import { heedBudget } from "./offline.mjs";
import { holdsLease } from "./outbox.mjs";

export const RENEWAL_KIND = "ext.missionweaveprotocol.core.work_execution_lease_renew";
const SHORTEST_MILLIS = 5000;

export function renewLeases(session, items) {
  for (const item of items) {
    const lease = item.leases.execution;
    if (!lease || !holdsLease(session, item, lease.leaseId)) continue;
    const slot = session.slots.of(item);
    if (!slot && !session.execution.owes(item)) continue;
    const expires = millis(lease.expiresAt);
    if (item.session.renewFor !== lease.expiresAt) {
      item.session.renewFor = lease.expiresAt;
      item.session.renewAt = session.now + Math.max((expires - session.now) / 2, Math.min(SHORTEST_MILLIS, expires - session.now));
    }
    if (expires >= millis(item.leases.ownership?.expiresAt)) continue; // it cannot last any longer
    const canSend = session.canSend(session.groups.get(item.groupId));
    if (session.now >= item.session.renewAt && canSend && !session.outbox.pending(item, RENEWAL_KIND)) {
      const { leaseId } = lease;
      session.outbox.send(RENEWAL_KIND, item, { ownershipEpoch: item.ownershipEpoch, executionLeaseId: leaseId }, {
        stillValid: () => holdsLease(session, item, leaseId),
        failed: (error) => heedBudget(item, error),
      });
      item.session.renewAt = session.now + Math.max((expires - session.now) / 2, SHORTEST_MILLIS);
    }
    if (canSend) session.wakeBy(item.session.renewAt);
  }
}
