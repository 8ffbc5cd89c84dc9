// Frames that arrive: routed by Group, verified, put in order (PROTOCOL sections 6.4, 16, 17).

import { canonical, readStrictly } from "./canonical.mjs";
import { conforms } from "./schemas.mjs";
import { fromBase64url, hashOf } from "./signed-documents.mjs";

export class Inbox {
  constructor(session) {
    this.session = session;
  }

  receive(frame) {
    if (frame.bytes !== undefined) {
      try {
        frame = readStrictly(fromBase64url(frame.bytes));
        canonical(frame);
      } catch {
        return; // a silent refusal: whose frame it was cannot be known
      }
    }
    if (frame?.protocolVersion !== "0.1") return;
    if (frame.frameType === "EVENT") this.event(frame);
    else if (frame.frameType === "ERROR") this.error(frame.error);
    else if (frame.frameType === "PING" && frame.replyToNonce === undefined) this.session.pong(frame.nonce);
  }

  event({ frameId, event }) {
    const { session } = this;
    const refuse = (code) => session.effect({ type: "reject", frameId, code });
    const { organization } = session;
    if (!conforms(event, "event")) return refuse("SCHEMA_VALIDATION_FAILED");
    if (!session.registry.verifies(event, event.acceptedBy, "occurredAt")) {
      return refuse("AUTH_INVALID_SIGNATURE");
    }
    if (!organization.authorized.eventAuthority.includes(event.acceptedBy.id)) return refuse("AUTH_FORBIDDEN");
    if (event.groupId === undefined) {
      const { agentId, sessionEpoch, agentCard } = event.payload;
      if (agentId === session.agent.agentId && sessionEpoch > session.sessionEpoch) session.replaced = true;
      return this.card(agentCard);
    }
    const group = session.groups.get(event.groupId);
    if (!group) return undefined;
    const { history } = group;
    const known = history.sequences.get(event.eventId);
    if (event.sequence <= history.cursor) {
      if (known !== undefined) session.outbox.answered(event.cause?.id);
      return undefined;
    }
    if (known !== undefined || event.sequence !== history.cursor + 1) {
      group.gapSince ??= session.now; // what is missing should come by itself
      return undefined;
    }
    Object.assign(group, { gapSince: undefined, gapAsked: 0 });
    const approved = event.kind === "approval.execution.granted"
      && this.isApproval(event.payload.approval, event.payload.workItemId);
    session.journal.record({ type: "event", event, approved });
    group.ackOwed = true;
    session.outbox.answered(event.cause?.id, event);
    return undefined;
  }

  /** A new version of this Agent's own card, from somebody who may issue one. */
  card(card) {
    const { session } = this;
    if (card?.agentId !== session.agent.agentId || card.cardVersion <= session.agent.agentCardVersion) return;
    const issuer = session.registry.keys.get(card.signature?.keyId)?.principal;
    if (!issuer || !session.organization.authorized.cardIssuer.includes(issuer.id)) return;
    if (!session.registry.verifies(card, issuer, "issuedAt")) return;
    const capabilities = card.capabilities.map(({ id, version }) => ({ id, version }));
    session.agent = { ...session.agent, agentCardVersion: card.cardVersion, capabilities };
  }

  /** Whether an Approval opens the gate of this WorkItem: decided so, and by somebody who may. */
  isApproval(approval, workItemId) {
    const { session } = this;
    return approval?.decision === "approved" && conforms(approval, "approval") && approval.workItemId === workItemId
      && session.organization.authorized.approvers.includes(approval.approver.id)
      && session.registry.verifies(approval, approval.approver, "occurredAt");
  }

  error(error) {
    const group = this.session.groups.get(error.groupId);
    if (error.code === "CURSOR_TOO_OLD") {
      if (group) group.snapshotHash = error.snapshotArtifactHash;
      return;
    }
    if (error.code === "AUTH_STALE_SESSION") this.session.replaced = true; // another runtime speaks for this Agent
    this.session.outbox.refused(error);
  }

  snapshot({ snapshot, state }) {
    const { session } = this;
    const refuse = (code) =>
      session.effect({ type: "reject", snapshotId: snapshot.snapshotId, code, groupId: snapshot.groupId });
    const group = session.groups.get(snapshot.groupId);
    if (!group) return undefined;
    if (!conforms(snapshot, "group-snapshot")) return refuse("SCHEMA_VALIDATION_FAILED");
    if (!session.registry.verifies(snapshot, snapshot.createdBy, "createdAt")) return refuse("AUTH_INVALID_SIGNATURE");
    if (!session.organization.authorized.archival.includes(snapshot.createdBy.id)) return refuse("AUTH_FORBIDDEN");
    if (hashOf(snapshot) !== group.snapshotHash || hashOf(state) !== snapshot.stateHash) {
      return refuse("PROTOCOL_VIOLATION");
    }
    if (snapshot.throughSequence <= group.history.cursor) return undefined;
    const approved = (state.approvals ?? []).filter(({ approval, workItemId }) => this.isApproval(approval, workItemId));
    session.journal.record({ type: "snapshot", snapshot, state, approved });
    Object.assign(group, { snapshotHash: undefined, live: false, gapSince: undefined, gapAsked: 0 });
    session.subscribe([group]);
    return undefined;
  }
}
