"""What a Group Authority checks before a Worker's Command may happen, in the order of 15.1.

Each check is a function that gives a Refusal or None; the tables of `doors` say which apply, and
in which order. Never changes anything: `commands` does, once every check has passed.
"""

from __future__ import annotations

from collections.abc import Callable

from worker_conformance.documents.json_types import JsonObject, find, text_at
from worker_conformance.documents.schemas import DocumentKind
from worker_conformance.documents.signing import Refused as Inauthentic
from worker_conformance.documents.signing import verify
from worker_conformance.organization.contracts import CRITERIA
from worker_conformance.organization.items import Item, Offer
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.moments import moment_of
from worker_conformance.organization.refusals import Refusal
from worker_conformance.organization.requests import OFFLINE_EXTENSION, Request
from worker_conformance.organization.transitions import ALLOWED, State, Transition

Check = Callable[[Ledger, Request, int], Refusal | None]


def first_refusal(
    checks: tuple[Check, ...], ledger: Ledger, request: Request, now: int
) -> Refusal | None:
    """The refusal of the first check that fails."""
    for check in checks:
        refusal = check(ledger, request, now)
        if refusal is not None:
            return refusal
    return None


# --- the envelope -------------------------------------------------------------------------


def not_paused(ledger: Ledger, _request: Request, now: int) -> Refusal | None:
    """MWP-EVT-011: a Group that takes no more traffic says so, and the others go on."""
    until = ledger.shared.paused_until.get(ledger.name, now)
    if now >= until:
        return None
    return Refusal(
        "BACKPRESSURE", "this Group takes no Commands now", retry_after_ms=milliseconds(until - now)
    )


def fresh(ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """MWP-ADM-013: a new Command was issued a short time ago, and not in the future."""
    window, issued = ledger.shared.freshness, moment_of(text_at(request.command, "issuedAt"))
    if window is None or issued is None:
        return None
    if abs(now + ledger.shared.wall_offset - issued) <= window:
        return None
    return Refusal("AUTH_INVALID_SIGNATURE", "the Command is not fresh")


def milliseconds(microseconds: int) -> int:
    """A length of time for `retryAfterMs`, rounded up."""
    return -(-microseconds // 1_000)


def session(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-IDN-008: only the newest session may change anything."""
    if request.command["sessionEpoch"] == ledger.shared.session_epoch:
        return None
    return Refusal("AUTH_STALE_SESSION", "the Session Epoch is not the current one")


def membership(ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """MWP-MSN-010: an ended, expired or moved Membership authorizes nothing."""
    if not ledger.membership.is_usable(now):
        return Refusal("MEMBERSHIP_REQUIRED", "there is no usable Membership")
    if request.command["membershipEpoch"] != ledger.membership.epoch:
        return Refusal("MEMBERSHIP_STALE", "the Membership Epoch is not the current one")
    return None


def extensions(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-EXT-002: what is critical and unknown stops the Command."""
    given = request.command.get("extensions")
    for uri, entry in given.items() if isinstance(given, dict) else ():
        if uri != OFFLINE_EXTENSION and find(entry, "critical") is True:
            return Refusal("UNKNOWN_CRITICAL_EXTENSION", "a critical extension is not known here")
    return None


def revision(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-EVT-007: `expectedRevision`, where given, is the WorkItem's."""
    expected = request.command.get("expectedRevision")
    if not isinstance(expected, int) or request.item is None:
        return None
    if expected == request.item.revision:
        return None
    return Refusal(
        "REVISION_CONFLICT",
        "the WorkItem has another revision",
        current_revision=request.item.revision,
        expected_revision=expected,
    )


ENVELOPE: tuple[Check, ...] = (not_paused, fresh, session, membership, extensions, revision)


# --- WorkItems ----------------------------------------------------------------------------


def names_work(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """The Command is about a WorkItem of this Group."""
    if request.item is None:
        return Refusal("INVALID_COMMAND", "the Command names no WorkItem of this Group")
    return None


def may_accept(ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """Scope and eligibility: what policy says about taking on work at all."""
    if "work.accept_offer" not in ledger.plan.scopes:
        return Refusal("AUTH_FORBIDDEN", "the Membership does not allow accepting work")
    if not _item(request).plan.authorization_eligible:
        return Refusal("AUTH_FORBIDDEN", "the Worker is not eligible for this work")
    return _not_taken(ledger, request, now) or _complete(request)


def _complete(request: Request) -> Refusal | None:
    """MWP-WRK-001: nobody can accept a contract that lacks a part."""
    if _item(request).plan.lacks is None:
        return None
    return Refusal("WORK_CONTRACT_INCOMPLETE", "the Work Contract lacks a required part")


def _not_taken(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    owner = _item(request).owner
    if owner is not None and owner.agent_id != ledger.names.agent_id:
        return Refusal("WORK_ALREADY_OWNED", "another candidate owns the work")
    return None


def open_offer(ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """MWP-WRK-004: only a pending, unexpired offer to this very Agent can be accepted."""
    offer: Offer | None = request.offer()
    if offer is None:
        return Refusal("INVALID_COMMAND", "the Command names no offer of this WorkItem")
    if offer.agent_id != ledger.names.agent_id:
        return Refusal("AUTH_FORBIDDEN", "the offer was made to somebody else")
    if not offer.is_open(now):
        return Refusal("WORK_OFFER_EXPIRED", "the offer is no longer valid")
    return None


def not_fenced(ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """MWP-WRK-019: an Ownership Epoch that has ended carries nothing any more."""
    item, epoch = _item(request), request.ownership_epoch
    if epoch is None:
        return Refusal("INVALID_COMMAND", "the Command carries no Ownership Epoch")
    if epoch < item.epoch:
        return _fenced()
    return still_owned(ledger, request, now)


def still_owned(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """Nobody else owns the work, and it was not taken from its last owner."""
    item = _item(request)
    foreign = item.owner is not None and item.owner.agent_id != ledger.names.agent_id
    given_up = item.owner is None and item.state in (State.OPEN, State.OFFERED) and item.epoch > 0
    return _fenced() if foreign or given_up else None


def _fenced() -> Refusal:
    return Refusal("WORK_STALE_OWNERSHIP", "the Ownership Epoch is fenced")


def owned(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """The Worker owns the work, under the epoch that the Command carries."""
    item = _item(request)
    if not item.owned_by(ledger.names.agent_id):
        return Refusal("AUTH_FORBIDDEN", "the Worker does not own this work")
    if request.ownership_epoch != item.epoch:
        return Refusal("INVALID_COMMAND", "this Ownership Epoch was never granted")
    return None


def ownership_lease(_ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """MWP-WRK-013: no start once the ownership lease has run out."""
    owner = _item(request).owner
    if owner is None or not owner.lease.is_current(now):
        return Refusal("WORK_LEASE_EXPIRED", "the ownership lease has expired")
    return None


def execution_lease(_ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """MWP-WRK-013, -014: the Command names the current Execution Lease, and it still runs."""
    owner = _item(request).owner
    current = owner.execution if owner else None
    named = request.lease_id(current.lease_id if current else None)
    if named is None:
        return Refusal("INVALID_COMMAND", "the Command names no Execution Lease")
    if current is None or named != current.lease_id or not current.is_current(now):
        return Refusal("WORK_LEASE_EXPIRED", "the Execution Lease is no longer valid")
    return None


def lease_to_fail_under(ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """A failure of running work names its lease; of other work it names none (MWP-WRK-013).

    Waiting and blocked work can be failed while it is owned: MWP-WRK-017 bounds the latter.
    """
    item = _item(request)
    if item.state is State.ACTIVE or request.lease_id(None) is not None:
        return execution_lease(ledger, request, now)
    if item.state is State.QUEUED:
        return ownership_lease(ledger, request, now)
    blocked = item.owner.blocked if item.owner is not None else None
    if item.state is State.BLOCKED and blocked is not None and not blocked.is_current(now):
        return Refusal("WORK_LEASE_EXPIRED", "the blocked lease has expired")
    return None


def mission_runs(ledger: Ledger, _request: Request, _now: int) -> Refusal | None:
    """MWP-MSN-002: nothing new begins in a Mission that has ended."""
    if ledger.mission_state == "active":
        return None
    return Refusal("INVALID_STATE_TRANSITION", f"the Mission is {ledger.mission_state}")


def dependencies(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-WRK-007: what the work depends on is verified."""
    if dependencies_met(ledger, _item(request)):
        return None
    return Refusal("INVALID_STATE_TRANSITION", "a dependency is not verified yet")


def approval(ledger: Ledger, request: Request, now: int) -> Refusal | None:
    """MWP-AUT-003: the start gate is open for this Ownership Epoch."""
    if gate_open(ledger, _item(request), now):
        return None
    return Refusal("APPROVAL_REQUIRED", "the work needs an execution approval")


def dependencies_met(ledger: Ledger, item: Item) -> bool:
    """Whether every dependency of an item is verified."""
    return all(ledger.item(name).state is State.VERIFIED for name in item.plan.depends_on)


def gate_open(ledger: Ledger, item: Item, now: int) -> bool:
    """Whether an item needs no approval, or has one that holds."""
    required = item.plan.approval == "human_required" or (
        item.plan.approval == "policy_required"
        and ledger.shared.policy.requires_approval(item.name)
    )
    return not required or any(
        grant.ownership_epoch == item.epoch and now < grant.expires_at for grant in item.grants
    )


def allowed(move: Transition) -> Check:
    """The check that the table of 10.2 has this transition for the item's state."""

    def check(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
        state = _item(request).state
        if (state, move) in ALLOWED:
            return None
        return Refusal("INVALID_STATE_TRANSITION", f"the work is {state.value}: no {move.value}")

    return check


# --- documents in payloads ----------------------------------------------------------------


def checkpoint(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-WRK-014, -017: checkpointing and blocking carry a Checkpoint."""
    found = request.document("checkpointId", "checkpointHash")
    members = () if found is None else (found["checkpointId"], found["checkpointHash"])
    if not members or not all(isinstance(one, str) and one for one in members):
        return Refusal("INVALID_COMMAND", "the Command carries no Checkpoint")
    return None


def resolution(_ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-WRK-017: a block says what would resolve it."""
    reason = request.payload.get("reason") or request.payload.get("requiredResolution")
    if isinstance(reason, str) and reason:
        return None
    return Refusal("INVALID_COMMAND", "the Command does not say what would resolve the block")


def artifact(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-WRK-024: a complete manifest, signed by its producer, never changed afterwards."""
    manifest = request.document("artifactId", "contentHash")
    if manifest is None:
        return Refusal("INVALID_COMMAND", "the Command carries no Artifact manifest")
    refusal = _authentic(ledger, DocumentKind.ARTIFACT, manifest)
    if refusal is not None:
        return refusal
    item = _item(request)
    known = item.artifacts.get(str(manifest["artifactId"]))
    foreign = find(manifest, "producer", "agentId") != ledger.names.agent_id
    if foreign or not _is_about(manifest, item) or known not in (None, manifest["contentHash"]):
        return Refusal("INVALID_COMMAND", "the Artifact belongs elsewhere or was changed")
    return None


def result(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-WRK-025: published Artifacts, and Evidence for every acceptance criterion."""
    item = _item(request)
    if not published(request):
        return Refusal("INVALID_COMMAND", "the submission names no published Artifact")
    covered: set[object] = set()
    for one in request.documents("evidenceId", "criterionIds"):
        refusal = _authentic(ledger, DocumentKind.EVIDENCE, one)
        if refusal is not None:
            return refusal
        criteria = one["criterionIds"]
        if _is_about(one, item) and isinstance(criteria, list):
            covered.update(str(name) for name in criteria)
    if not covered.issuperset(CRITERIA):
        return Refusal("INVALID_COMMAND", "an acceptance criterion has no Evidence")
    return None


def failure_evidence(ledger: Ledger, request: Request, _now: int) -> Refusal | None:
    """MWP-WRK-018: a failure comes with Evidence."""
    item = _item(request)
    evidence = request.documents("evidenceId", "criterionIds")
    for one in evidence:
        refusal = _authentic(ledger, DocumentKind.EVIDENCE, one)
        if refusal is not None:
            return refusal
    if any(_is_about(one, item) for one in evidence):
        return None
    return Refusal("INVALID_COMMAND", "the failure comes without Evidence about this work")


def published(request: Request) -> list[str]:
    """Content hashes of the published Artifacts that a submission names, by ID or hash."""
    artifacts = _item(request).artifacts
    return [
        content
        for artifact_id, content in artifacts.items()
        if artifact_id in request.texts or content in request.texts
    ]


def _authentic(ledger: Ledger, kind: DocumentKind, document: JsonObject) -> Refusal | None:
    outcome = verify(kind, document, ledger.shared.keys.registry)
    if isinstance(outcome, Inauthentic):
        return Refusal(outcome.wire_code, f"the {kind.value} in the payload is not acceptable")
    return None


def _is_about(document: JsonObject, item: Item) -> bool:
    return (
        document.get("groupId") == item.place.group_id
        and document.get("missionId") == item.place.mission_id
        and document.get("workItemId") == item.work_item_id
    )


def _item(request: Request) -> Item:
    if request.item is None:  # `names_work` is the first check of every Command about work
        raise LookupError(f"{request.kind} without a WorkItem")
    return request.item
