"""Steps about what is around a Worker: subscriptions, registry, clock, tokens, network.

The actions of the model that name no WorkItem's life and no Event of a log. Never reads YAML
(`around` does), and never plays anything (`suite.surroundings` does).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen


@frozen
class Join:
    """The Worker's subscription gains these Groups, which were not joined before."""

    groups: tuple[str, ...]


@frozen
class Leave:
    """The Worker's subscription loses these Groups; the Memberships are another matter."""

    groups: tuple[str, ...]


@frozen
class SetClock:
    """The wall clock is set: from now on it differs by so much from elapsed time.

    Stimuli carry `wallClock` from the first such step on. Freshness of Commands is judged by it;
    leases and offers go by elapsed time.
    """

    offset_seconds: int


KeyChange = Literal[
    "rotate", "revoke", "deauthorize", "spoil", "bind", "alias", "lend", "rebind", "repeat"
]


@frozen
class ChangeKeys:
    """The key registry changes for one role of the Organization, and the Worker is told.

    `rotate`: the old key ends now and a new one signs from now on. `revoke`: the key is revoked
    now, without a successor. `deauthorize`: the key stays good, its holder has lost the role.
    `spoil`: the registry shows a binding for this role that cannot be a public key. `bind`: it
    shows one more binding for this role, whose public key is the named `point` of the curve, or
    beside it. `alias`, `lend` and `rebind` break what is unique in a registry: the role's public
    key under a second key ID; under another Principal's; its key ID with another public key.
    `repeat`: its binding is declared a second time, as it is.
    """

    change: KeyChange
    role: str
    point: str = ""


@frozen
class RegisterCard:
    """The Worker's Agent Card is registered in a new version, and the Worker is told.

    `signer` is the role that signs it: `outsider` is authorized for nothing. With `another` it is
    another Agent's card.
    """

    version: int
    signer: str = "card-issuer"
    another: bool = False


@frozen
class AnnounceSession:
    """`ext.missionweaveprotocol.identity.session_opened` is delivered.

    For the Worker's own session, or (`replaced`) for a later one that another runtime has opened:
    the Worker at hand is fenced from then on. Or (`another`) for another Agent's session.
    """

    replaced: bool = False
    another: bool = False


@frozen
class ChangeToken:
    """The Authorization Service issues a further token for running work, or revokes those it has.

    `operations` are the effects that it allows; none given: what the contract's risk allows.
    `wrong` names a binding that does not fit: such a token allows nothing here.
    """

    work: str
    revoked: bool = False
    operations: tuple[str, ...] = ()
    expires_seconds: int | None = None
    wrong: str | None = None


@frozen
class Backpressure:
    """A Group's Authority takes no Commands for so long, and says so."""

    groups: Mapping[str, int]


@frozen
class SetFreshness:
    """From now on a new Command must have been issued within so many seconds (MWP-ADM-013)."""

    seconds: int


@frozen
class Raw:
    """Deliver one Event as raw bytes, spelled in a way that a JSON object cannot show.

    `how` is `respelled` for other lawful bytes of the same Event, `times` for one that spells its
    times in another lawful way, else what is wrong with the bytes.
    """

    group: str
    sequence: int
    how: str


@frozen
class Disturbance:
    """What the network does to one Group's Events on the way, and to the Worker's Commands.

    Every Event takes `delay_seconds`, and up to `reorder_seconds` more, so that later ones overtake
    it. Of a hundred Events about `duplicate` arrive twice, and `drop` are lost and come later; of a
    hundred moments at which Commands are sent, about `lose` bring none of them through. The link is
    cut for `cut_seconds` in every `every_seconds`. Which ones is drawn from the seed.
    """

    delay_seconds: int = 0
    reorder_seconds: int = 0
    duplicate: int = 0
    drop: int = 0
    lose: int = 0
    cut_seconds: int = 0
    every_seconds: int = 0


CALM = Disturbance()
"""Everything arrives once, in order and at once."""


@frozen
class Network:
    """From now on Groups' traffic is disturbed so; what is under way still arrives."""

    groups: Mapping[str, Disturbance] = field(factory=dict)


Surrounding = (
    Join
    | Leave
    | SetClock
    | ChangeKeys
    | RegisterCard
    | AnnounceSession
    | ChangeToken
    | Backpressure
    | SetFreshness
    | Raw
    | Network
)
