"""Operations of running work on the outside world, and the resources it uses.

Responsible for letting an operation happen only under a current Execution Lease and a capability
token bound to it (MWP-WRK-014, MWP-FND-015), and for idempotency keys (MWP-WRK-031). Never sees a
token's secret: the executor gets it, keyed by the token ID.
"""

from __future__ import annotations

from reference_worker import eligibility, leases, slots
from reference_worker.documents import Document, sha256
from reference_worker.records import WorkItem
from reference_worker.runtime import HISTORY_UNKNOWN, Phase, Run, Token
from reference_worker.turn import Turn

BUDGET_EXHAUSTED = "budget exhausted"


def idempotency_key(item: WorkItem, operation_id: str) -> str:
    """Stable over crash, resume and redelivery; different for any other obligation."""
    assert item.ownership is not None, "only owned work operates"
    parts = (item.mission_id, item.work_item_id, str(item.ownership.epoch), operation_id)
    # Lengths keep two different lists of parts from meeting in one text.
    text = "".join(f"{len(part.encode())}:{part}" for part in parts)
    return "key:" + sha256(text.encode())[7:]


def request(turn: Turn, stimulus: Document, run: Run | None) -> None:
    """Answer a report of kind `operation`."""
    report = stimulus["report"]
    answer: Document = {
        "type": "operation",
        "slotId": stimulus["slotId"],
        "workItemId": stimulus["workItemId"],
        "operationId": report["operationId"],
    }
    item = turn.item(stimulus["workItemId"])
    refusal, token = _judge(turn, stimulus, run, item)
    if refusal is not None or item is None or token is None:
        turn.emit({**answer, "refused": refusal or "no capability token"})
        if refusal == BUDGET_EXHAUSTED and run is not None:
            escalate(turn, run, "budget: no external side effect is left")
        return
    if (
        report["effect"] in eligibility.EXTERNAL_RISKS
        and report["operationId"] not in item.side_effects
    ):
        turn.change(item, side_effects=(*item.side_effects, report["operationId"]))
    turn.emit(
        {
            **answer,
            "leaseId": stimulus["leaseId"],
            "tokenId": token.token_id,
            "idempotencyKey": idempotency_key(item, report["operationId"]),
        }
    )


def _judge(
    turn: Turn, stimulus: Document, run: Run | None, item: WorkItem | None
) -> tuple[str | None, Token | None]:
    if (
        run is None
        or item is None
        or (stimulus["workItemId"], stimulus["leaseId"]) != (run.work_item_id, run.lease_id)
    ):
        return "not the present run of this slot", None
    report, lease = stimulus["report"], leases.current_lease(turn, item)
    in_grace = report["effect"] == "reversible" and slots.goes_on_offline(turn, run, item)
    if (lease is None or lease.lease_id != run.lease_id) and not in_grace:
        return "no current lease", None
    if turn.runtime.links.get(item.group_id) in HISTORY_UNKNOWN:  # MWP-WRK-020
        return "not reconciled", None
    if not eligibility.is_gate_open(turn, item):  # MWP-AUT-003
        return "no execution approval", None
    token = _token_for(turn, run, item, report, in_grace=in_grace)
    if token is None:
        return "no capability token allows it", None
    if report["effect"] in eligibility.EXTERNAL_RISKS and _is_exhausted(turn, item, token, report):
        return BUDGET_EXHAUSTED, None
    return None, token


def _token_for(
    turn: Turn, run: Run, item: WorkItem, report: Document, *, in_grace: bool
) -> Token | None:
    session = turn.projection.session
    for token in turn.runtime.tokens.values():
        bound = (  # MWP-AUT-001
            token.agent_id == session.agent_id
            and token.session_epoch == session.session_epoch
            and token.lease_id == run.lease_id
            and token.work_item_id == item.work_item_id
            and token.ownership_epoch == run.ownership_epoch
        )
        allows = {report["operationId"], report["effect"], "*"} & set(token.operations)
        if bound and allows and (turn.now < token.expires_at or in_grace):
            return token
    return None


def _is_exhausted(turn: Turn, item: WorkItem, token: Token, report: Document) -> bool:
    if report["operationId"] in item.side_effects:
        return False  # the same operation again, under the same key, is no further effect
    remaining = turn.runtime.policy.remaining.get(item.group_id, {})
    budgets = (item.contract.limits(), token.budget, remaining)
    limits = [b["externalSideEffectLimit"] for b in budgets if "externalSideEffectLimit" in b]
    return any(len(item.side_effects) >= limit for limit in limits)


def count_usage(turn: Turn, item: WorkItem, usage: Document) -> None:
    """Remember what the present run has used so far."""
    if usage:
        turn.change(item, spending=tuple({**dict(item.spending), **usage}.items()))


def heed_budget(turn: Turn, run: Run, item: WorkItem) -> None:
    """Pause work that has used up what its contract allows, and escalate (MWP-AUT-004)."""
    limit = eligibility.used_up(item)
    if limit is not None:
        escalate(turn, run, f"budget: {limit} is used up")


def escalate(turn: Turn, run: Run, reason: str) -> None:
    """Ask for a safe point at which the work is blocked with this reason.

    One that was asked for already serves as well, and is wanted now whoever else wanted it.
    """
    if slots.move(turn, run, "preempt"):
        run.escalation = reason
        slots.tell(turn, run, "preempt")
    elif run.phase is Phase.PREEMPTING:
        run.escalation, run.challenger = run.escalation or reason, ""
