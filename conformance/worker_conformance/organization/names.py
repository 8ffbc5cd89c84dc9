"""Every identifier of the simulated world, derived from the run's seed.

Makes URIs such as `urn:acme-0f…:group:a-5d…` and the canaries hidden in texts. Never draws at
random: the same seed names the same world, another seed shares no identifier with it, so that a
recorded run cannot pass for a live one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b

from attrs import field, frozen

TAG_BYTES = 8
"""64 bits derived from the seed in every identifier: more than a Worker can guess."""

NUMBER_BITS = 50
NUMBER_BASE = 10**15
"""Numeric canaries have 16 digits, all of the same length, and stay exact in a double."""


_CONTENT_KINDS = frozenset({"canary", "number"})
"""Kinds of tags that stand in texts and numbers, not in identifiers."""


@frozen
class Names:
    """The names of one run.

    `variants` gives Groups another set of identifiers and canaries: same length, same order among
    each other and against all other Groups, because the readable part stands before the
    hexadecimal one. `contents` gives Groups other canaries and keeps their identifiers. (The pairs
    of `suite.comparisons` compare two worlds that differ in nothing else.)
    """

    seed: int
    variants: Mapping[str, int] = field(factory=dict)
    contents: Mapping[str, int] = field(factory=dict)
    _tags: dict[tuple[str, str], str] = field(factory=dict, eq=False, repr=False)
    _local: dict[str, str] = field(factory=dict, eq=False, repr=False)
    _made: dict[tuple[str, str, str], str] = field(factory=dict, eq=False, repr=False)
    organization: str = field(init=False)

    @organization.default
    def _organization(self) -> str:
        return f"urn:acme-{self.tag('organization', '')}"

    # --- the Organization and its people ----------------------------------------------

    @property
    def organization_id(self) -> str:
        """The Organization itself."""
        return f"{self.organization}:organization"

    @property
    def agent_id(self) -> str:
        """The Worker under test."""
        return self.principal_id("agent", "worker")

    @property
    def agent_key_id(self) -> str:
        """The Worker's signing key."""
        return self.key_id("worker")

    @property
    def other_agent_id(self) -> str:
        """Another Worker, who competes for the same work."""
        return self.principal_id("agent", "rival")

    def coordinator_id(self, epoch: int = 1) -> str:
        """Who coordinates a Mission in this Coordinator Epoch."""
        return self.principal_id("agent", coordinator_role(epoch))

    @property
    def owner_id(self) -> str:
        """The human MissionOwner."""
        return self.principal_id("human", "owner")

    @property
    def approver_id(self) -> str:
        """The human who grants execution approvals."""
        return self.principal_id("human", "approver")

    @property
    def authority_id(self) -> str:
        """The Group Authority service."""
        return self.principal_id("service", "group-authority")

    def principal_id(self, kind: str, role: str) -> str:
        """A Principal by its type (agent, human, service) and role."""
        return f"{self.organization}:{kind}:{role}-{self.tag('principal', role)}"

    def key_id(self, role: str) -> str:
        """The signing key of a role."""
        return f"{self.organization}:key:{role}-{self.tag('key', role)}"

    # --- Groups and WorkItems ---------------------------------------------------------

    def group_id(self, group: str) -> str:
        """The Group with this local name."""
        return self._named("group", group, group)

    def mission_id(self, group: str) -> str:
        """The Mission that owns the Group."""
        return self._of("mission", group, group)

    def conversation_id(self, group: str) -> str:
        """The Group's planning Conversation."""
        return self._of("conversation", group, group)

    def membership_id(self, group: str) -> str:
        """This Worker's Membership of the Group."""
        return self._of("membership", group, group)

    def work_id(self, work: str, group: str) -> str:
        """The WorkItem with this local name, in its Group."""
        return self._named("work-item", work, group)

    def work_conversation_id(self, work: str, group: str) -> str:
        """The WorkItem's own Conversation."""
        return self._of("conversation", work, group)

    def numbered(self, kind: str, owner: str, group: str, number: int) -> str:
        """The `number`-th thing of a kind (event, offer, lease, …) of a Group or WorkItem."""
        return f"{self._of(kind, owner, group)}-{number}"

    def frame_id(self, text: str) -> str:
        """A wire frame of the Organization's side."""
        return f"{self.organization}:frame:{text}"

    def name_of(self, uri: str) -> str | None:
        """The local name (`A`, `a1`) of a Group or WorkItem that was named before."""
        return self._local.get(uri)

    # --- secrets ----------------------------------------------------------------------

    def canary(self, owner: str, group: str, what: str) -> str:
        """A text of 16 hexadecimal digits that occurs nowhere but in this Group's content."""
        return self.tag("canary", f"{what} {owner}", group)

    def number_canary(self, group: str, what: str) -> int:
        """A number of 16 digits that occurs nowhere but in this Group's content."""
        return _number(self.tag("number", f"{what} {group}", group))

    def budget_canary(self, work: str) -> int:
        """A number of 16 digits in a WorkItem's budget: the same in every variant.

        A budget is scheduling metadata, by which a Scheduler may lawfully go.
        """
        return _number(self.tag("budget", work))

    def key_seed(self, role: str) -> bytes:
        """The 32 secret bytes of a role's signing key."""
        return blake2b(f"{self.seed} key {role}".encode(), digest_size=32).digest()

    def tag(self, kind: str, name: str, group: str | None = None) -> str:
        """16 hexadecimal digits for one thing, by kind and local name."""
        known = self._tags.get((kind, name))
        if known is None:
            variant = self._variant(kind, group)
            text = f"{self.seed} {variant} {kind} {name}"
            known = blake2b(text.encode(), digest_size=TAG_BYTES).hexdigest()
            self._tags[kind, name] = known
        return known

    def _variant(self, kind: str, group: str | None) -> int:
        if group is None:
            return 0
        variant = self.variants.get(group, 0)
        return self.contents.get(group, variant) if kind in _CONTENT_KINDS else variant

    def _named(self, kind: str, name: str, group: str) -> str:
        uri = self._of(kind, name, group)
        self._local[uri] = name
        return uri

    def _of(self, kind: str, name: str, group: str) -> str:
        # One tag for everything of one Group or WorkItem: whoever leaks an Event's or a lease's
        # identifier leaks this tag, so that it is enough to look for the tag.
        known = self._made.get((kind, name, group))
        if known is None:
            owner = "group" if name == group else "work"
            known = f"{self.organization}:{kind}:{slug(name)}-{self.tag(owner, name, group)}"
            self._made[kind, name, group] = known
        return known


def _number(tag: str) -> int:
    return NUMBER_BASE + (int(tag, 16) >> (64 - NUMBER_BITS))


def slug(name: str) -> str:
    """A local name as it may stand in a URI."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "x"


def coordinator_role(epoch: int) -> str:
    """The role that coordinates in this Coordinator Epoch: two Agents take turns."""
    return "coordinator" if epoch % 2 else "successor"
