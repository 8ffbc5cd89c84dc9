"""The Scenario: one model for hand-written vectors, generated worlds and saved failures.

Says what a world looks like, what happens in it and what must be observed. Never reads YAML
(`loader` does), never talks to a Worker (`suite.world` does), never judges (`judge` does).

All values are frozen. Durations are whole seconds from the scenario's epoch; a Group or a
WorkItem is named by a short local name (`A`, `a1`) that the Organization expands into URIs.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from attrs import field, frozen

from worker_conformance.scenario.surroundings import Surrounding

EPOCH = "2026-07-15T00:00:00Z"
"""Virtual time at which every scenario begins."""

DAY_SECONDS = 86_400
FAR_SECONDS = 3_650 * DAY_SECONDS
"""Ten years: beyond any run, for limits that a scenario is not about."""

LEASE_SECONDS = 300
"""The length of an Execution Lease where a plan is not about it."""


class Profile(StrEnum):
    """An area of a Worker's duties, claimed as a whole (design: the Worker Port)."""

    REPLAY = "replay"
    SCHEDULING = "scheduling"
    DISCLOSURE = "disclosure"
    ISOLATION = "isolation"
    LEASES = "leases"
    PREEMPTION = "preemption"
    ADMISSION = "admission"
    BLOCKING = "blocking"
    RETRIES = "retries"
    OFFLINE = "offline"
    SIGNATURES = "signatures"


CORE_PROFILES = frozenset(
    {
        Profile.REPLAY,
        Profile.SCHEDULING,
        Profile.DISCLOSURE,
        Profile.ISOLATION,
        Profile.LEASES,
        Profile.PREEMPTION,
    }
)
"""Fairness, privacy of disclosures, lease rules and Replay: the areas of the claim."""


class Level(StrEnum):
    """How strongly the specification demands a duty, and so how a breach is reported."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    READING = "READING"


@frozen
class AgentPlan:
    """The Worker's identity: `slots` is the Agent Card's maximum concurrency."""

    slots: int = 1
    capabilities: tuple[str, ...] = ("acme.build@2.1.0",)
    card_version: int = 3


@frozen
class GroupPlan:
    """One Mission Group as policy and Membership show it to the Worker.

    `budget` limits what the Mission may use in all, by dimension (`tool_calls`, …). A Group that is
    not `joined` is missing from `start` until a `join` step.
    """

    name: str
    weight: float = 1
    slot_quota: int | None = None
    priority_class: str = "standard"
    scopes: tuple[str, ...] = ("work.accept_offer",)
    visibility_start: int = 0
    provisional_seconds: int | None = None
    external_side_effect_limit: int | None = None
    budget: Mapping[str, int] = field(factory=dict)
    joined: bool = True


@frozen
class WorkPlan:
    """One WorkItem's contract and how the executor behaves when it runs.

    `duration_seconds` is the running time after which the executor reports `completed`;
    `completes=False` runs until a `report` step ends it. `running_time_seconds` is the contract's
    bound of it; without one it is what all tries together may take. `safe_point_seconds` is the
    time from `preempt` to the safe point; `None` waits for a `report` step. `budget` sets limits of
    the contract by dimension (`tool_calls`, …); `lacks` is a part that the contract does not have,
    and `extension` says whether data of an unknown profile in it is `critical` or `optional`.
    `token="manual"`: the Authorization Service issues none by itself.
    """

    name: str
    group: str
    duration_seconds: int = 60
    completes: bool = True
    running_time_seconds: int | None = None
    safe_point_seconds: int | None = 0
    goal: str | None = None
    deadline_seconds: int = FAR_SECONDS
    urgency: str = "normal"
    approval: str = "not_required"
    risk: str = "none"
    depends_on: tuple[str, ...] = ()
    capability: str = "acme.build@2.1.0"
    authorization_eligible: bool = True
    external_side_effect_limit: int = 0
    attempts: int = 1
    backoff: str = "none"
    max_delay_seconds: int = 0
    retryable: tuple[str, ...] = ()
    offer_seconds: int = 7 * DAY_SECONDS
    start_by_seconds: int = FAR_SECONDS
    ownership_seconds: int = FAR_SECONDS
    lease_seconds: int = LEASE_SECONDS
    lease_delay_seconds: int = 0
    budget: Mapping[str, int] = field(factory=dict)
    lacks: str | None = None
    extension: str | None = None
    token: str = "auto"  # noqa: S105 - who issues tokens, not a secret


class ActKind(StrEnum):
    """What the Organization does in a Group; each appends the Event(s) that PROTOCOL 15.2 names."""

    CREATED = "created"
    """`mission.created`."""
    MEMBER = "member"
    """`membership.changed`: this Worker's Membership, active."""
    AUTHORIZE = "authorize"
    """`work.authorized`."""
    OFFER = "offer"
    """`work.offer.created` to this Worker (a fresh offer, or one after ownership has ended)."""
    EXTEND_OFFER = "extend_offer"
    """`work.offer.created`: the same offer, expiring later."""
    WITHDRAW = "withdraw"
    """`work.offer.created`: this Worker's pending offer withdrawn, another Agent's made."""
    OFFER_BOTH = "offer_both"
    """`work.offer.created` to this Worker and to another Agent at once."""
    OFFER_OTHER = "offer_other"
    """`work.offer.created` to another Agent; an expired owner is fenced first."""
    TAKEN = "taken"
    """`work.offer.accepted` by the other Agent, under the next Ownership Epoch."""
    MESSAGE = "message"
    """`message.posted`: conversation, never authority."""
    REVISE = "revise"
    """`work.contract.revised`: the contract version rises."""
    GRANT = "grant"
    """`approval.execution.granted`."""
    UNBLOCK = "unblock"
    """`work.unblocked`."""
    ACCEPT_RESULT = "accept_result"
    """`work.result.accepted`."""
    FAIL = "fail"
    """`work.failed`, by the Coordinator."""
    CANCEL = "cancel"
    """`work.cancelled`."""
    PROMOTE = "promote"
    """`mission.child.created`: the WorkItem becomes a child Mission; ownership is fenced."""
    CHILD_APPROVED = "child_approved"
    """`work.result.accepted`: the child Mission of a promoted WorkItem was approved."""
    CHILD_FAILED = "child_failed"
    """`work.progressed`, or `work.failed` where the child was indispensable."""
    CANCEL_MISSION = "cancel_mission"
    """`mission.cancelled`."""
    TERMINATE_MISSION = "terminate_mission"
    """`mission.terminated`."""
    APPROVE_MISSION = "approve_mission"
    """`mission.submitted_for_approval` and `mission.approved`."""
    ARCHIVE = "archive"
    """`group.archived`: the Mission has ended before."""
    REPLACE_COORDINATOR = "replace_coordinator"
    """`mission.coordinator.assigned`: another Agent, in a higher Coordinator Epoch."""
    ASIDE = "aside"
    """A core Event that asks nothing of a Worker, of one of the kinds ASIDES."""
    MOVE_MEMBERSHIP = "move_membership"
    """`membership.changed`: the Membership Epoch rises."""
    END_MEMBERSHIP = "end_membership"
    """`membership.ended`."""
    OTHER_MEMBER = "other_member"
    """`membership.changed` of another Agent, in a higher Membership Epoch than the Worker's."""
    END_OTHER_MEMBER = "end_other_member"
    """`membership.ended` of that Agent."""
    EXTENSION = "extension"
    """An Event of an extension kind nobody is bound to understand."""
    MISFILED = "misfiled"
    """What would hold in another Group, truly signed: `work.cancelled` or `membership.ended`."""


FALSE_APPROVALS = ("signature", "approver", "decision")
"""An Approval whose signature is wrong, whose approver may not approve, or that denies."""


ASIDES = (
    "mission.coordinator.renewed",
    "membership.delegation.granted",
    "message.redacted",
    "policy.cooperation_override.granted",
    "group.snapshot.created",
)
"""Core Event kinds of what is between others (PROTOCOL 15.2)."""


MISFILED = ("work", "claim", "membership", "approval")
"""Of another Group: an end of work, the same with a claim on it, a Membership's end, a grant."""


HARD_DATA = ("numbers", "names", "text")
"""Data of an Extension Profile whose canonical bytes are easily made wrong."""


@frozen
class Act:
    """One fact that the Organization brings about in one Group, `args` as its kind wants them.

    Known `args`: `text` (message), `changes` (revise: WorkPlan members), `checkpoint` (offer: the
    WorkItem whose latest Checkpoint it carries instead of its own), `expires_seconds`
    (grant), `critical` (extension), `data` (extension: one of HARD_DATA),
    `kind` (aside: one of ASIDES), `epoch` (grant: for another Ownership Epoch), `what` (misfiled:
    one of MISFILED), `how` (grant: what is wrong with it, one of FALSE_APPROVALS),
    `indispensable` (child_failed).
    """

    kind: ActKind
    work: str | None = None
    args: Mapping[str, object] = field(factory=dict)


class ConditionKind(StrEnum):
    """What can be observed at the Port; the word a vector uses for it.

    Commands and effects count within the window that the last `mark` opened.
    """

    # Commands of the Worker, by WorkItem.
    ACCEPT = "accept"
    START = "start"
    RENEW = "renew"
    CHECKPOINT = "checkpoint"
    BLOCK = "block"
    PUBLISH = "publish"
    SUBMIT = "submit"
    FAIL = "fail"
    # Effects towards the executor or the Organization, by WorkItem.
    RUN = "run"
    RESUME = "resume"
    PREEMPT = "preempt"
    CONTINUE = "continue"
    PAUSE = "pause"
    CANCEL = "cancel"
    RELEASE = "release"
    DECLINE = "decline"
    DISCLOSE = "disclose"
    OPERATION = "operation"
    REFUSE = "refuse"
    # Positions, by Group.
    ACK = "ack"
    SUBSCRIBE = "subscribe"
    # Present state.
    RUNNING = "running"
    NOT_RUNNING = "not_running"
    STATE = "state"
    # Shapes of the window.
    ORDER = "order"
    COUNT = "count"
    NAMES_LEASE = "names_lease"
    LEAKS = "leaks"
    PONG = "pong"
    ONE_KEY = "one_key"
    KEYS_APART = "keys_apart"
    # Judgements over the whole run.
    HOLDS = "holds"
    FAIR = "fair"
    SERVED_WITHIN = "served_within"


@frozen
class Condition:
    """One observation: `value` as its kind wants it.

    * a tuple of WorkItem names: Commands, effects, RUNNING, NOT_RUNNING (all of them);
      DECLINE also takes a mapping from name to reason;
    * a mapping from Group name to sequence: ACK, SUBSCRIBE (`END`: the last of its log then;
      `ACKED`: no lower than the Worker's own last ACK);
    * a mapping from a Group to others: LEAKS (something of theirs in what it receives, or in the
      context of its runs, anywhere in the history);
    * a tuple of `"word name"`: ORDER (a subsequence of the window's Commands and effects);
    * a mapping from `"word name"` to an exact count: COUNT;
    * a mapping from WorkItem name to the ordinal of its Execution Lease: NAMES_LEASE;
    * a mapping from WorkItem name to its state in the Group's record: STATE;
    * a tuple of monitors' check IDs: HOLDS (none of them saw a breach in the whole history);
    * `True`: PONG (the last PING was answered), FAIR (the fairness bound held);
    * a mapping from WorkItem name to the ID of an operation: ONE_KEY (carried out more than once,
      always under the same idempotency key; over the whole history);
    * a tuple of WorkItem names: KEYS_APART (their operations share no idempotency key);
    * a mapping from WorkItem name to seconds since its acceptance: SERVED_WITHIN, or to the
      word `horizon` for the declared anti-starvation bound.
    """

    kind: ConditionKind
    value: object


END = -1
"""The last sequence of a Group's log at the moment of looking."""

ACKED = -2
"""At least the highest position that the Worker had acknowledged before."""


class Mood(StrEnum):
    """What follows when a condition does not hold.

    `given`: the scenario has not reached its point, the verdict is inconclusive.
    `expect`: the requirement is broken. `should`: it is not followed. `never`: it is broken if
    the condition *does* hold.
    """

    GIVEN = "given"
    EXPECT = "expect"
    SHOULD = "should"
    NEVER = "never"


@frozen
class Start:
    """Start a runtime session on the state directory, and play the replay that follows."""


@frozen
class Stop:
    """End the runtime gracefully."""


@frozen
class Crash:
    """SIGKILL between two calls (in-process: the object is dropped)."""


@frozen
class CrashDuring:
    """Deliver as `deliver` does, and SIGKILL before the answer is read."""

    sequences: Mapping[str, tuple[int, ...]]


@frozen
class Wipe:
    """Lose the disk: the next `start` gets an empty state directory."""


@frozen
class Deliver:
    """Deliver Events by Group and sequence, in the order written, in one `frames` call.

    A sequence of `-1` stands for everything not yet delivered. `one_by_one` makes a call of
    each Event.
    """

    sequences: Mapping[str, tuple[int, ...]]
    one_by_one: bool = False


@frozen
class Forge:
    """Deliver one Event with something changed after signing, or signed wrongly.

    `how` is one of `payload`, `signature`, `signer`, `sequence_twin` (another Event under this
    sequence number), `id_twin` (this Event's ID under the next sequence number), `retired_key`
    (signed with the key that a rotation ended), `scalar` (S beyond the group order), `small_order`
    (R of small order), `time` (the signature's time is another), `offset` (its time is spelled with
    an offset), `value_only` (only the signature's value was left out of what was signed),
    `schema` (a member that the schema does not know, signed all the same). The sequence `END` is
    the last of the log when the step comes, however much the Worker itself has added to it.
    """

    group: str
    sequence: int
    how: str


@frozen
class Publish:
    """The Organization acts in Groups now."""

    acts: Mapping[str, tuple[Act, ...]]


@frozen
class Advance:
    """Let virtual time pass, with a `tick` at every `wakeAt` on the way and at the end."""

    seconds: int


@frozen
class Delivery:
    """Whether Events reach the Worker by themselves (`auto`) or by `deliver` steps."""

    mode: Literal["auto", "manual"]


@frozen
class SetPolicy:
    """Change policy: Groups' weight, quota or class; WorkItems' class or approval; limits.

    `cards` says by version whether an Agent Card is `compatible` with work in progress,
    `capabilities` by ID whether one is `available`, `remaining` by Group what is left of a budget.
    """

    groups: Mapping[str, Mapping[str, object]] = field(factory=dict)
    work: Mapping[str, Mapping[str, object]] = field(factory=dict)
    limits: Mapping[str, int] = field(factory=dict)
    cards: Mapping[str, str] = field(factory=dict)
    capabilities: Mapping[str, str] = field(factory=dict)
    remaining: Mapping[str, Mapping[str, int]] = field(factory=dict)


@frozen
class Link:
    """Cut (`down`) or heal (`up`) the whole connection, or that of the named Groups."""

    state: Literal["up", "down"]
    groups: tuple[str, ...] = ()


@frozen
class Report:
    """The executor reports on a running WorkItem: `kind` and members as port.md gives them.

    `lease` names the ordinal of the run's lease for a late report of an earlier run.
    """

    work: str
    kind: str
    members: Mapping[str, object] = field(factory=dict)
    lease: int | None = None


@frozen
class Answer:
    """How the Authority answers the next Command of a kind: an error code, or `silence`.

    `retry_after_seconds` is the guidance that goes with it.
    """

    command: str
    code: str
    retryable: bool = False
    retry_after_seconds: int | None = None


@frozen
class Truncate:
    """Drop a Group's online log up to a sequence: replay from below gets `CURSOR_TOO_OLD`.

    `snapshot` is `true`, or how the Snapshot is forged: `signature`, `signer`, `state_hash`, or
    `reference` (the Authority's ERROR refers to another one).
    """

    group: str
    through: int
    snapshot: str = "true"


@frozen
class Ping:
    """Send a `PING`."""


@frozen
class Mark:
    """Open a new window: Commands and effects before it no longer count in conditions."""


@frozen
class Drive:
    """Keep the Worker under a closed-loop load (fairness: the drivers).

    `driver` is a name of the fairness module's drivers, `members` its settings.
    """

    driver: str
    members: Mapping[str, object] = field(factory=dict)


@frozen
class Check:
    """Look: each condition in its mood."""

    mood: Mood
    conditions: tuple[Condition, ...]


Action = (
    Start
    | Stop
    | Crash
    | CrashDuring
    | Wipe
    | Deliver
    | Forge
    | Publish
    | Advance
    | Delivery
    | SetPolicy
    | Link
    | Report
    | Answer
    | Truncate
    | Ping
    | Mark
    | Drive
    | Check
    | Surrounding
)


@frozen
class Step:
    """One action and where it is written (`line`, 1-based; 0 when generated)."""

    action: Action
    line: int = field(default=0, eq=False)


@frozen
class Scenario:
    """A world, what happens in it, and what must be seen.

    `log` is what each Group's Events say before the Worker's own Commands add to them. `also` are
    further requirements that it judges: a Worker that breaks one of them alone fails it.
    """

    id: str
    title: str
    stake: str
    requirement: str
    level: Level
    profile: Profile
    steps: tuple[Step, ...]
    also: tuple[str, ...] = ()
    twin: str | None = None
    case: str | None = None
    needs: tuple[str, ...] = ()
    agent: AgentPlan = AgentPlan()
    groups: tuple[GroupPlan, ...] = ()
    work: tuple[WorkPlan, ...] = ()
    log: Mapping[str, tuple[Act, ...]] = field(factory=dict)
    delivery: Literal["auto", "manual"] = "auto"
    source: str | None = field(default=None, eq=False)
