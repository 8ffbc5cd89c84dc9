// Admission control (PROTOCOL section 10.3): which offers are accepted, which declined, and why.

import { millis } from "./instants.mjs";

/** The reason to decline an offer, or undefined. */
export function reasonAgainst(session, group, item, offer) {
  const { agent, organization: { policy } } = session;
  const { contract, selectionBasis } = item.doc;
  const { membership } = group.history;
  if (item.refused || !isWhole(contract)) return "other";
  if (!["active", "provisional"].includes(membership.state)) return "authorization";
  if (membership.state === "provisional" && session.now >= millis(membership.provisionalExpiresAt)) {
    return "authorization";
  }
  if (!membership.scopes.includes("work.accept_offer")) return "authorization";
  if (selectionBasis?.authorizationEligible === false) return "authorization";
  for (const { id, version } of contract.requiredCapabilities) {
    if (!agent.capabilities.some((own) => own.id === id && own.version === version)) return "capability";
    if (policy.capabilityAvailability[id] === "unavailable") return "capability";
  }
  const upgrade = policy.cardUpgrades[String(agent.agentCardVersion)];
  if (offer.agentCardVersion !== agent.agentCardVersion && upgrade !== "compatible") return "capability";
  for (const id of contract.dependencyWorkItemIds) {
    if (["cancelled", "failed"].includes(group.history.items.get(id)?.state)) return "dependency";
  }
  if (contract.sideEffectRisk === "external" && contract.budget.externalSideEffectLimit === 0) return "budget";
  const left = policy.remainingBudget?.[item.groupId] ?? {};
  for (const [limit, wanted] of Object.entries(contract.budget)) {
    if (typeof left[limit] === "number" && wanted > left[limit]) return "budget";
  }
  const length = (contract.budget.wallClockSecondsLimit ?? 0) * 1000;
  if (session.now + length > millis(contract.deadline)) return "deadline";
  const { maxQueuedItems, maxQueuedItemsPerGroup } = policy.limits;
  const waiting = session.waiting();
  const here = waiting.filter((other) => other.groupId === item.groupId).length;
  if (waiting.length >= maxQueuedItems || here >= maxQueuedItemsPerGroup) return "capacity";
  return undefined;
}

const PARTS = ["goal", "requiredDeliverables", "acceptanceCriteria", "inputArtifacts", "dependencyWorkItemIds",
  "allowedResources", "requiredCapabilities", "deadline", "requestedUrgency", "businessImpact", "retryPolicy", "budget",
  "sideEffectRisk", "executionApproval"];

/** Whether a contract has the parts that section 10.1 asks for. */
function isWhole(contract) {
  return PARTS.every((part) => contract?.[part] !== undefined && contract[part] !== "")
    && contract.requiredDeliverables.length > 0 && contract.acceptanceCriteria.length > 0;
}
