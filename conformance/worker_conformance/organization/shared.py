"""What all Groups of one Organization share: session, keys, policy, receipts, scripted answers.

One owner for each of these facts, so that no Group Authority keeps a copy that goes stale. Never
appends an Event.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field, frozen

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.organization.items import Item
from worker_conformance.organization.keys import Keyring
from worker_conformance.organization.moves import Holder
from worker_conformance.organization.names import Names
from worker_conformance.organization.policy import Policy
from worker_conformance.organization.refusals import Refusal
from worker_conformance.scenario.model import AgentPlan, Answer

RENEWAL_KIND = "ext.missionweaveprotocol.core.work_execution_lease_renew"
PAYLOAD_PATHS: Mapping[str, str] = {"ownershipEpoch": "/ownershipEpoch"}


@frozen
class Receipt:
    """A Command that was authentic: its protected content and, if accepted, its Events.

    `refused_at` is when the scenario had it refused, with `refusal`: a second copy of the Command
    that comes at the same instant gets the same answer (PROTOCOL 15.1).
    """

    protected: bytes
    events: tuple[JsonObject, ...] | None
    refusal: Refusal | None = None
    refused_at: int | None = None


@define
class Shared:
    """Facts of the Organization as a whole.

    `renewal_kind` and `payload_paths` are what the Worker declares. `unanswered` holds WorkItem
    IDs whose checkpoint or block Command was left without an answer. `paused_until` says by Group
    when its Authority takes Commands again, `homes` by WorkItem ID to which Group it belongs,
    `items_of` the WorkItems of each Group, and `grown` which Groups' logs have grown since somebody
    asked. The wall clock is `wall_offset` ahead of elapsed time; a new Command must be issued
    within `freshness` of it (both in microseconds; None: any time).
    """

    names: Names
    keys: Keyring
    agent: AgentPlan
    policy: Policy
    session_epoch: int = 0
    renewal_kind: str = RENEWAL_KIND
    payload_paths: Mapping[str, str] = field(factory=lambda: dict(PAYLOAD_PATHS))
    organization_renews: bool = False
    receipts: dict[str, Receipt] = field(factory=dict)
    unanswered: set[str] = field(factory=set)
    paused_until: dict[str, int] = field(factory=dict)
    homes: dict[str, str] = field(factory=dict)
    items_of: dict[str, dict[str, Item]] = field(factory=dict)
    grown: set[str] = field(factory=set)
    wall_offset: int = 0
    freshness: int | None = None
    _answers: list[Answer] = field(factory=list)

    def worker(self) -> Holder:
        """This Worker in its present session."""
        return Holder(self.names.agent_id, self.agent.card_version, max(self.session_epoch, 1))

    def rival(self) -> Holder:
        """The other Agent that is offered work."""
        return Holder(self.names.other_agent_id, 1, 1)

    def coordinator(self, epoch: int) -> Holder:
        """The Coordinator of this epoch as an owner of promoted work."""
        return Holder(self.names.coordinator_id(epoch), 1, 1)

    def script(self, answer: Answer) -> None:
        """Answer the next Command of a kind (`renew` stands for the declared renewal) so."""
        self._answers.append(answer)

    def scripted(self, kind: str) -> Answer | None:
        """Take the oldest answer scripted for a kind."""
        for answer in self._answers:
            wanted = self.renewal_kind if answer.command == "renew" else answer.command
            if wanted == kind:
                self._answers.remove(answer)
                return answer
        return None
