"""The Organization around one Worker: Groups, sessions, keys, policy, and the door for frames.

Opens sessions, hands out what `start` carries, verifies every Command before a Group Authority
sees it. Never moves the clock and never delivers anything by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from attrs import evolve

from worker_conformance.documents.json_types import JsonObject, JsonValue, find
from worker_conformance.documents.schemas import DocumentKind, frame_problems
from worker_conformance.documents.signing import Refused as Inauthentic
from worker_conformance.documents.signing import Verified, verify
from worker_conformance.errors import SuiteError
from worker_conformance.organization import cards, checks, contracts, requests
from worker_conformance.organization.authority import GroupAuthority
from worker_conformance.organization.authorization import AuthorizationService
from worker_conformance.organization.keys import keyring
from worker_conformance.organization.names import Names
from worker_conformance.organization.outcomes import About, Appended, Outcome, Refused
from worker_conformance.organization.policy import Policy
from worker_conformance.organization.refusals import Refusal
from worker_conformance.organization.shared import Shared
from worker_conformance.scenario.model import Answer, Scenario, SetPolicy, WorkPlan
from worker_conformance.scenario.surroundings import ChangeKeys, ChangeToken, RegisterCard


class Organization:
    """The whole world of one scenario except the Worker, the executor and the network.

    Building it plays `scenario.log` at the epoch. `names` are other names than the seed's usual
    ones, for the same world in disguise. `reserved` Capacity Slots are the Worker's on top of those
    that the scenario gives it.
    """

    def __init__(
        self, scenario: Scenario, seed: int, names: Names | None = None, *, reserved: int = 0
    ) -> None:
        agent = evolve(scenario.agent, slots=scenario.agent.slots + reserved)
        self.names = names or Names(seed)
        self._scenario = scenario
        self._shared = Shared(
            names=self.names,
            keys=keyring(seed),
            agent=agent,
            policy=Policy(agent, scenario.groups, self.names),
        )
        self._groups = {plan.name: GroupAuthority(plan, self._shared) for plan in scenario.groups}
        self._joined = {plan.name for plan in scenario.groups if plan.joined}
        self._tokens = AuthorizationService(
            {name: group.ledger for name, group in self._groups.items()}
        )
        self._by_id = {group.group_id: group for group in self._groups.values()}
        self._frames = 0
        for work in scenario.work:
            self.add_work(work)
        for name, acts in scenario.log.items():
            for act in acts:
                self.group(name).act(act, 0)

    # --- what the runner sets and asks ------------------------------------------------

    @property
    def session_epoch(self) -> int:
        """The Worker's newest Session Epoch; 0 before the first session."""
        return self._shared.session_epoch

    @property
    def shared(self) -> Shared:
        """Session, keys and policy."""
        return self._shared

    @property
    def renewal_kind(self) -> str:
        """The Command kind by which the Worker renews Execution Leases."""
        return self._shared.renewal_kind

    @renewal_kind.setter
    def renewal_kind(self, kind: str) -> None:
        self._shared.renewal_kind = kind

    @property
    def payload_paths(self) -> Mapping[str, str]:
        """JSON Pointers to numbers in the Worker's payloads."""
        return self._shared.payload_paths

    @payload_paths.setter
    def payload_paths(self, paths: Mapping[str, str]) -> None:
        self._shared.payload_paths = dict(paths)

    @property
    def organization_renews(self) -> bool:
        """Whether the Organization renews Execution Leases by itself."""
        return self._shared.organization_renews

    @organization_renews.setter
    def organization_renews(self, renews: bool) -> None:
        self._shared.organization_renews = renews

    @property
    def groups(self) -> tuple[GroupAuthority, ...]:
        """All Groups, in the scenario's order."""
        return tuple(self._groups.values())

    def group(self, name: str) -> GroupAuthority:
        """The Group with this local name; SuiteError if there is none."""
        try:
            return self._groups[name]
        except KeyError:
            raise SuiteError("unknown-group", f"the scenario has no Group {name!r}") from None

    def group_by_id(self, uri: str) -> GroupAuthority | None:
        """The Group with this URI."""
        return self._by_id.get(uri)

    def add_work(self, plan: WorkPlan) -> None:
        """Make a WorkItem known that may be authorized later."""
        self.group(plan.group).add_work(plan)
        self._tokens.knows(plan.risk)

    def find_work(self, work_item_id: str) -> tuple[GroupAuthority, str] | None:
        """The Group and local name of a WorkItem that exists."""
        home = self._shared.homes.get(work_item_id)
        if home is None:
            return None
        group = self._groups[home]
        return group, group.ledger.by_id[work_item_id]

    def take_grown(self) -> set[str]:
        """The Groups in which something was appended since this was last asked."""
        grown, self._shared.grown = self._shared.grown, set()
        return grown

    def work_ids(self) -> Mapping[str, str]:
        """The URIs of all WorkItems that are planned or exist, by local name."""
        return {
            plan.name: self.names.work_id(plan.name, group.name)
            for group in self._groups.values()
            for plan in group.ledger.plans()
        }

    def script_answer(self, answer: Answer) -> None:
        """Answer the next Command of a kind with an error code or with silence."""
        self._shared.script(answer)

    # --- sessions ---------------------------------------------------------------------

    def open_session(self, now: int) -> JsonObject:
        """A new runtime session: the members of `start` that the Organization knows.

        Issuing an epoch fences every older session (MWP-IDN-007, -008); its executions end.
        """
        self._new_session(now)
        self._tokens.new_session()
        groups: list[JsonValue] = [self.group_entry(group.name) for group in self._memberships()]
        return {
            "agent": self._agent(),
            "sessionEpoch": self.session_epoch,
            "organization": self.organization(),
            "groups": groups,
        }

    def reopen_session(self, now: int) -> JsonObject:
        """A new handshake after the connection was lost: the members of `link` `up`."""
        self._new_session(now)
        memberships: list[JsonValue] = [
            {"groupId": group.group_id, "membershipEpoch": group.ledger.membership.epoch}
            for group in self._memberships()
        ]
        return {"sessionEpoch": self.session_epoch, "memberships": memberships}

    def replace_session(self, now: int) -> None:
        """Another runtime of the same Agent opens a session; the one at hand is fenced."""
        self._new_session(now)

    def _memberships(self) -> Iterator[GroupAuthority]:
        for name, group in self._groups.items():
            if name in self._joined and group.ledger.membership.state != "ended":
                yield group

    def _new_session(self, now: int) -> None:
        self._shared.session_epoch += 1
        self._shared.unanswered.clear()
        for group in self._groups.values():
            group.new_session(now)

    def session_opened_event(self, now: int, *, another: bool = False) -> JsonObject:
        """The Organization's Event about the present session, or about one of `another` Agent.

        It has no Group and no sequence.
        """
        return cards.session_opened(self._shared, now, another=another)

    def register_card(self, step: RegisterCard, now: int) -> JsonObject:
        """Register an Agent Card in a new version; returns the Event about it."""
        if not step.another:
            self._shared.agent = evolve(self._shared.agent, card_version=step.version)
        return cards.card_registered(self._shared, step, now)

    # --- subscriptions, registry, clock -----------------------------------------------

    def join(self, name: str) -> JsonObject:
        """Let the Worker subscribe to a Group; the members of `join`."""
        self._joined.add(self.group(name).name)
        return {"group": self.group_entry(name)}

    def leave(self, name: str) -> JsonObject:
        """End the Worker's subscription to a Group; the members of `leave`."""
        self._joined.discard(name)
        return {"groupId": self.group(name).group_id}

    def is_joined(self, name: str) -> bool:
        """Whether the Worker may subscribe to a Group."""
        return name in self._joined

    def change_keys(self, step: ChangeKeys, now: int) -> JsonObject:
        """Change the key registry; the members of `keys`."""
        self._shared.keys = self._shared.keys.changed(step, now)
        entries = cast("list[JsonValue]", self._shared.keys.entries())
        return {"keys": entries, "authorized": self._shared.keys.authorized()}

    def set_clock(self, offset: int) -> None:
        """Let the wall clock run `offset` microseconds ahead of elapsed time."""
        self._shared.wall_offset = offset

    def set_freshness(self, window: int) -> None:
        """Demand that a new Command was issued within so many microseconds (MWP-ADM-013)."""
        self._shared.freshness = window

    def press_back(self, name: str, until: int, now: int) -> JsonObject:
        """Pause a Group until then; the error that says so (MWP-EVT-011)."""
        self._shared.paused_until[self.group(name).name] = until
        refusal = Refusal(
            "BACKPRESSURE",
            "this Group takes no Commands now",
            retryable=True,
            retry_after_ms=checks.milliseconds(until - now),
        )
        return refusal.document({"command": {"groupId": self.group(name).group_id}}, now)

    # --- capability tokens ------------------------------------------------------------

    def token_news(
        self, reached: Callable[[], Mapping[str, int]], now: int
    ) -> tuple[JsonObject, ...]:
        """Tokens to issue and to revoke now, as stimuli; see AuthorizationService.news."""
        return self._tokens.news(reached, now)

    def change_token(self, step: ChangeToken, now: int) -> tuple[JsonObject, ...]:
        """Tokens that a scenario issues or revokes itself, as stimuli."""
        group = next(
            (one.name for one in self.groups if step.work in one.ledger.items), self.groups[0].name
        )
        return self._tokens.change(group, step, now)

    def organization(self) -> JsonObject:
        """The `organization` member of `start`: keys, authorized principals, policy."""
        return {
            "organizationId": self.names.organization_id,
            "keys": cast("list[JsonValue]", self._shared.keys.entries()),
            "authorized": self._shared.keys.authorized(),
            "policy": self.policy(),
        }

    def group_entry(self, name: str) -> JsonObject:
        """A Group as `start` and `join` show it to its member."""
        ledger = self.group(name).ledger
        return {
            "groupId": ledger.group_id,
            "missionId": self.names.mission_id(name),
            "conversationId": self.names.conversation_id(name),
            "membership": ledger.membership.document(ledger.plan, self.names),
            "missionContext": contracts.mission_context(ledger.plan, self.names),
            "credentials": contracts.credentials(ledger.plan, self.names),
        }

    def _agent(self) -> JsonObject:
        agent = self._shared.agent
        return {
            "agentId": self.names.agent_id,
            "keyId": self.names.agent_key_id,
            "privateKey": self._shared.keys.worker_private_key(),
            "agentCardVersion": agent.card_version,
            "capabilities": [contracts.capability_document(one) for one in agent.capabilities],
            "maxConcurrency": agent.slots,
        }

    # --- policy and time --------------------------------------------------------------

    def policy(self) -> JsonObject:
        """The whole policy in force."""
        return self._shared.policy.document()

    def set_policy(self, change: SetPolicy) -> JsonObject:
        """Change the policy and return the whole of it."""
        self._shared.policy.change(change)
        return self.policy()

    def next_due(self) -> int | None:
        """When the Organization next does something by itself."""
        if not self._shared.organization_renews:
            return None
        planned = (group.next_renewal() for group in self._groups.values())
        return min((at for at in planned if at is not None), default=None)

    def act_due(self, now: int) -> tuple[tuple[str, tuple[Appended, ...]], ...]:
        """Do what is due by now; Group names with the Events appended there."""
        if not self._shared.organization_renews:
            return ()
        done = ((group.name, group.renew_due(now)) for group in self._groups.values())
        return tuple((name, appended) for name, appended in done if appended)

    # --- frames -----------------------------------------------------------------------

    def receive(self, frame: JsonObject, now: int) -> Outcome:
        """Take a COMMAND frame: schema, signature, actor, Group; then the Group Authority."""
        admitted = self._admitted(frame)
        group = self.group_by_id(str(find(frame, "command", "groupId")))
        if isinstance(admitted, Verified):
            if group is not None:
                return group.execute(admitted.document, now, admitted.signing_bytes)
            admitted = Refusal("GROUP_NOT_FOUND", "there is no such Group for this Agent")
        return Refused(_about(frame, group), admitted.code, admitted.document(frame, now))

    def _admitted(self, frame: JsonObject) -> Verified | Refusal:
        """The Command of a frame once it is authentic (MWP-SDV-015, -017)."""
        command = frame.get("command")
        if frame_problems(frame) or not isinstance(command, dict):
            return Refusal("SCHEMA_VALIDATION_FAILED", "the frame does not conform to its schema")
        outcome = verify(DocumentKind.COMMAND, command, self._shared.keys.registry)
        if isinstance(outcome, Inauthentic):
            return Refusal(outcome.wire_code, "the Command is not authentic")
        if outcome.principal != self._shared.keys["worker"].principal:
            return Refusal("AUTH_FORBIDDEN", "the Command's actor is not this connection's Agent")
        return outcome

    def event_frame(self, event: JsonObject) -> JsonObject:
        """An EVENT frame around an Event; every frame has its own ID."""
        return {**self._frame("EVENT"), "event": event}

    def error_frame(self, error: JsonObject) -> JsonObject:
        """An ERROR frame around an error document."""
        return {**self._frame("ERROR"), "error": error}

    def _frame(self, frame_type: str) -> JsonObject:
        self._frames += 1
        return {
            "protocolVersion": "0.1",
            "frameId": self.names.frame_id(str(self._frames)),
            "frameType": frame_type,
        }

    # --- privacy ----------------------------------------------------------------------

    def markers(self) -> Mapping[str, tuple[str, ...]]:
        """For each Group what belongs to it alone: identifiers, their tags, and canaries."""
        return {name: self._markers_of(name) for name in self._groups}

    def secrets(self) -> Mapping[str, tuple[str, ...]]:
        """For each Group its credentials and tokens: no document may carry them (MWP-AUT-002)."""
        return {name: self._secrets_of(group) for name, group in self._groups.items()}

    def _secrets_of(self, group: GroupAuthority) -> tuple[str, ...]:
        credentials = contracts.credentials(group.ledger.plan, self.names)
        tokens = (
            contracts.token_secret(plan.name, group.name, self.names)
            for plan in group.ledger.plans()
            if plan.risk != "none"
        )
        return (*map(str, credentials.values()), *tokens)

    def _markers_of(self, group: str) -> tuple[str, ...]:
        names = self.names
        found = [
            names.group_id(group),
            names.mission_id(group),
            names.conversation_id(group),
            names.membership_id(group),
            names.group_id(group).rpartition("-")[2],
            *contracts.secrets_of_group(group, names),
        ]
        for plan in self.group(group).ledger.plans():
            found += [
                names.work_id(plan.name, group),
                names.work_conversation_id(plan.name, group),
                names.work_id(plan.name, group).rpartition("-")[2],
                *contracts.secrets_of_work(plan.name, group, names),
            ]
        return tuple(found)


def _about(frame: JsonObject, group: GroupAuthority | None) -> About:
    """What can be said of a Command that was not admitted."""
    command = frame.get("command")
    kind, action_id = find(command, "kind"), find(command, "actionId")
    work = requests.work_of(command, group.ledger) if group else None
    return About(
        kind=kind if isinstance(kind, str) else "",
        action_id=action_id if isinstance(action_id, str) else None,
        group=group.name if group else None,
        work=work,
        work_item_id=group.ledger.items[work].work_item_id if group and work else None,
    )
