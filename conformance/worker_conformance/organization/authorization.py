"""The Authorization Service: capability tokens for work that runs, and their revocation.

Issues a token bound to Agent, session, WorkItem, Ownership Epoch and Execution Lease once the work
has started, if its contract allows effects at all and its gate is open; a renewed lease gets a
further token. Never puts a token into an Event, and never judges how the Worker uses one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.errors import SuiteError
from worker_conformance.organization import checks, contracts, talk
from worker_conformance.organization.items import USAGE_LIMITS, Item
from worker_conformance.organization.leases import Lease
from worker_conformance.organization.ledger import Ledger
from worker_conformance.organization.moments import SECOND, text
from worker_conformance.scenario.surroundings import ChangeToken

EFFECTS = ("reversible", "external", "high_risk", "destructive")
"""Kinds of operation, each including less than the next; a contract's risk names the greatest."""


@frozen
class Token:
    """One token that was issued and neither revoked nor outlived."""

    token_id: str
    group: str
    work: str
    lease_id: str
    lease_ends: int
    expires_at: int


@define
class AuthorizationService:
    """Tokens over all Groups of one Organization.

    `in_use` is false as long as no contract allows any effect: then nothing is ever looked at.
    """

    ledgers: Mapping[str, Ledger]
    in_use: bool = False
    _live: dict[str, Token] = field(factory=dict)
    _made: dict[str, int] = field(factory=dict)

    def knows(self, risk: str) -> None:
        """A contract with this risk may come into being."""
        self.in_use = self.in_use or risk != "none"

    def new_session(self) -> None:
        """A runtime has gone with its tokens; nobody is left to tell."""
        self._live.clear()

    def news(self, reached: Callable[[], Mapping[str, int]], now: int) -> tuple[JsonObject, ...]:
        """What the Worker has to be told now, as `token` and `token_revoked` stimuli.

        `reached` is asked for the position up to which Events were delivered, for each Group that
        the Worker is connected with: a token follows the fact of its lease (MWP-AUT-001).
        """
        if not self.in_use:
            return ()
        positions = reached()
        revoked = [self._revocation(one) for one in self._ended(positions, now)]
        return (*revoked, *self._due(positions, now))

    def change(self, group: str, step: ChangeToken, now: int) -> tuple[JsonObject, ...]:
        """What a scenario asks for itself."""
        self.in_use = True
        if step.revoked:
            mine = [one for one in self._live.values() if one.work == step.work]
            return tuple(self._revocation(one) for one in mine)
        ledger = self.ledgers[group]
        item = ledger.items.get(step.work)
        lease = item.owner.execution if item is not None and item.owner else None
        if item is None or lease is None or not lease.is_current(now):
            raise SuiteError("not-running", f"{step.work} has no lease that a token could bind to")
        return (self._issue(ledger, item, lease, step, now),)

    # --- issuing ----------------------------------------------------------------------

    def _due(self, reached: Mapping[str, int], now: int) -> Iterator[JsonObject]:
        for ledger in self.ledgers.values():
            for name in sorted(ledger.executing) if ledger.name in reached else ():
                item = ledger.items[name]
                lease = item.owner.execution if item.owner else None
                if lease is None or not self._wants(ledger, item, lease, now):
                    continue
                if ledger.lease_opened.get(lease.lease_id, 0) <= reached[ledger.name]:
                    yield self._issue(ledger, item, lease, ChangeToken(item.name), now)

    def _wants(self, ledger: Ledger, item: Item, lease: Lease, now: int) -> bool:
        """MWP-AUT-003: withheld until the gate is open."""
        has = any(
            one.lease_id == lease.lease_id and one.lease_ends == lease.expires_at
            for one in self._live.values()
        )
        return (
            not has
            and item.plan.risk != "none"
            and item.plan.token == "auto"  # noqa: S105 - who issues tokens, not a secret
            and item.owned_by(ledger.names.agent_id)
            and lease.is_current(now)
            and checks.gate_open(ledger, item, now)
        )

    def _issue(
        self, ledger: Ledger, item: Item, lease: Lease, step: ChangeToken, now: int
    ) -> JsonObject:
        number = self._made[item.name] = self._made.get(item.name, 0) + 1
        token_id = ledger.names.numbered("token", item.name, ledger.name, number)
        expires_at = lease.expires_at  # never beyond the lease under which it was issued
        if step.expires_seconds is not None:
            expires_at = min(expires_at, now + step.expires_seconds * SECOND)
        self._live[token_id] = Token(
            token_id, ledger.name, item.name, lease.lease_id, lease.expires_at, expires_at
        )
        token: JsonObject = {
            "tokenId": token_id,
            "leaseId": lease.lease_id,
            "agentId": ledger.names.agent_id,
            "sessionEpoch": lease.session_epoch,
            "workItemId": item.work_item_id,
            "ownershipEpoch": lease.ownership_epoch,
            "operations": [*(step.operations or allowed_effects(item.plan.risk))],
            "budget": budget_of(ledger, item),
            "expiresAt": text(expires_at),
        }
        secret = contracts.token_secret(item.name, ledger.name, ledger.names)
        token |= _misfit(step.wrong, ledger, item, lease)
        return {"type": "token", "token": token, "secret": f"{secret}-{number}"}

    # --- revoking ---------------------------------------------------------------------

    def _ended(self, reached: Mapping[str, int], now: int) -> Iterable[Token]:
        """Tokens whose lease is closed (MWP-AUT-006); those that ran out need no word."""
        for one in tuple(self._live.values()):
            item = self.ledgers[one.group].items[one.work]
            lease = item.owner.execution if item.owner else None
            if lease is not None and lease.lease_id == one.lease_id:
                continue
            if now >= one.expires_at:
                del self._live[one.token_id]
            elif one.group in reached:
                yield one

    def _revocation(self, token: Token) -> JsonObject:
        del self._live[token.token_id]
        return {"type": "token_revoked", "tokenId": token.token_id}


def allowed_effects(risk: str) -> tuple[str, ...]:
    """What a contract with this risk allows; work without effects outside needs none."""
    return EFFECTS[: EFFECTS.index(risk) + 1] if risk in EFFECTS else ("reversible",)


def budget_of(ledger: Ledger, item: Item) -> JsonObject:
    """A token's budget: what is left of the contract's and of the Mission's (MWP-AUT-005)."""
    return {
        limit: max(0, talk.remaining(ledger, item, dimension))
        for dimension, limit in USAGE_LIMITS.items()
    }


def _misfit(wrong: str | None, ledger: Ledger, item: Item, lease: Lease) -> JsonObject:
    """A binding that does not fit, by name (MWP-AUT-001: each one alone is enough)."""
    names = ledger.names
    misfits: Mapping[str, JsonObject] = {
        "agent": {"agentId": names.other_agent_id},
        "session": {"sessionEpoch": lease.session_epoch + 1},
        "work": {"workItemId": f"{item.work_item_id}-other"},
        "epoch": {"ownershipEpoch": lease.ownership_epoch + 1},
        "lease": {"leaseId": f"{lease.lease_id}-other"},
    }
    return {} if wrong is None else misfits[wrong]
