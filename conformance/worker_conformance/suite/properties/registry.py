"""The properties, each with its permanent ID, requirement, clause, level and area.

Two kinds: `Rules` holds monitors against a family of worlds, `Relation` compares two courses of one
world. Never plays.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from worker_conformance.judge.monitors import REGISTRY as MONITORS
from worker_conformance.scenario.generation import Taste
from worker_conformance.scenario.generation import taste as tastes
from worker_conformance.scenario.model import Level, Profile
from worker_conformance.suite.properties import variations
from worker_conformance.suite.properties.variations import Variation


@frozen
class PropertyInfo:
    """A property's permanent identity; as in `MonitorInfo`."""

    check_id: str
    title: str
    stake: str
    requirement: str
    profile: Profile
    reached: str
    level: Level = Level.MUST
    needs: tuple[str, ...] = ()


@frozen
class Rules:
    """In every world of this taste these monitors see no breach.

    `served` asks besides that nothing eligible is left over when all arrivals have stopped.
    """

    info: PropertyInfo
    taste: Taste
    monitors: frozenset[str]
    served: bool = False


@frozen
class Relation:
    """In every world of this taste the varied course ends like the plain one."""

    info: PropertyInfo
    variation: Variation
    taste: Taste = tastes.CALM


Property = Rules | Relation


def _monitors_of(*profiles: Profile) -> frozenset[str]:
    """All monitors of some areas that judge a MUST; all of all areas without one."""
    return frozenset(
        info.check_id
        for info, _ in MONITORS
        if info.level is Level.MUST and (not profiles or info.profile in profiles)
    )


def _rules(
    check_id: str,
    requirement: str,
    profile: Profile,
    taste: Taste,
    title: str,
    stake: str,
    *also: Profile,
    served: bool = False,
) -> Rules:
    reached = "work was left to be served" if served else "what these monitors watch occurred"
    info = PropertyInfo(check_id, title, stake, requirement, profile, reached)
    return Rules(info, taste, _monitors_of(profile, *also), served)


def _relation(
    check_id: str,
    requirement: str,
    profile: Profile,
    variation: Variation,
    title: str,
    stake: str,
) -> Relation:
    reached = "the Worker took work that could be compared in both courses"
    return Relation(PropertyInfo(check_id, title, stake, requirement, profile, reached), variation)


REGISTRY: Sequence[Property] = (
    Rules(
        PropertyInfo(
            "PROP-0001",
            "Every rule holds in every world",
            "Whatever the Organization, the network and the machine do, no rule may be broken.",
            "WRK-003.a",
            Profile.LEASES,
            "what the monitors watch occurred",
        ),
        tastes.EVERYTHING,
        _monitors_of(),
    ),
    _rules(
        "PROP-0002",
        "WRK-029.c",
        Profile.REPLAY,
        tastes.NETWORK,
        "The rules of Replay hold over any network",
        "Events come late, twice, out of order and forged, over links that break.",
    ),
    _rules(
        "PROP-0003",
        "WRK-014.c",
        Profile.LEASES,
        tastes.SESSIONS,
        "Nothing happens under an old session, lease or epoch",
        "Sessions end and begin at every moment, with the disk and without it.",
        Profile.OFFLINE,
    ),
    _rules(
        "PROP-0004",
        "WRK-019.a",
        Profile.LEASES,
        tastes.ENDINGS,
        "Nothing happens after ownership, Membership or Mission has ended",
        "Offers, ownership, Memberships and Missions end while Commands are under way.",
    ),
    _rules(
        "PROP-0005",
        "AUT-003.a",
        Profile.SCHEDULING,
        tastes.GATES,
        "No gate opens but by its own approval",
        "Approvals run out, or belong to an Ownership Epoch that is over.",
    ),
    _rules(
        "PROP-0006",
        "WRK-010.b",
        Profile.SCHEDULING,
        tastes.CONTENTION,
        "Everything eligible is served once arrivals stop",
        "A WorkItem that falls out of a queue waits for ever, and nobody hears of it.",
        Profile.ISOLATION,
        served=True,
    ),
    _rules(
        "PROP-0007",
        "WRK-015.d",
        Profile.PREEMPTION,
        tastes.CHECKPOINTS,
        "Set-aside work comes back as it was left",
        "Work is preempted and blocked, and taken up again over crashes and lost disks.",
    ),
    _rules(
        "PROP-0008",
        "WRK-018.a",
        Profile.RETRIES,
        tastes.FAILURES,
        "Attempts are counted over crashes",
        "A Worker that counts its attempts in memory tries for ever.",
    ),
    _relation(
        "PROP-0009",
        "WRK-029.a",
        Profile.REPLAY,
        variations.duplicates,
        "Events delivered again make no difference",
        "Delivery is at least once; what happens twice is paid twice.",
    ),
    _relation(
        "PROP-0010",
        "WRK-029.a",
        Profile.REPLAY,
        variations.redelivery,
        "The whole history delivered again in a later session makes no difference",
        "A Worker that deduplicates in memory only does everything again after a restart.",
    ),
    _relation(
        "PROP-0011",
        "WRK-029.b",
        Profile.REPLAY,
        variations.reordered,
        "The order of arrival within a Group makes no difference",
        "Buffering and discarding Workers alike end where the sequence leads.",
    ),
    _relation(
        "PROP-0012",
        "EVT-006.a",
        Profile.REPLAY,
        variations.interleaved,
        "Any interleaving of the Groups' streams leads to the same state of each",
        "Events of different Groups have no order; a Worker that gives them one depends on chance.",
    ),
    _relation(
        "PROP-0013",
        "WRK-008.b",
        Profile.REPLAY,
        variations.crashes,
        "A crash at any step, then Replay, equals no crash",
        "What is only in memory is lost with the process.",
    ),
    _relation(
        "PROP-0014",
        "WRK-030.b",
        Profile.REPLAY,
        variations.lost_answers,
        "A crash before the answers arrive equals no crash",
        "Between a Command and its Event lies the moment that is hardest to recover from.",
    ),
    _relation(
        "PROP-0015",
        "WRK-008.b",
        Profile.REPLAY,
        variations.stops,
        "A graceful stop at any step equals no stop",
        "Durable is durable, whether the process is killed or asked to go.",
    ),
    _relation(
        "PROP-0016",
        "WRK-008.c",
        Profile.REPLAY,
        variations.lost_disks,
        "An empty disk and Replay equal the live projection",
        "Every local projection can be rebuilt from the Group's history.",
    ),
    _relation(
        "PROP-0017",
        "S16-SNAP.a",
        Profile.REPLAY,
        variations.snapshots,
        "A Snapshot and its tail equal the full history",
        "What a Snapshot carries has to be restored to the last member.",
    ),
    _relation(
        "PROP-0018",
        "WRK-014.c",
        Profile.LEASES,
        variations.replaced_sessions,
        "A new session at any step loses no work",
        "The old session's leases are dead; the work is not.",
    ),
    _relation(
        "PROP-0019",
        "EVT-009.a",
        Profile.REPLAY,
        variations.cut_connection,
        "A connection that is cut for a while makes no difference in the end",
        "What was said meanwhile comes in the replay, and has to be taken from there.",
    ),
    _relation(
        "PROP-0020",
        "MSN-014.a",
        Profile.SCHEDULING,
        variations.cut_group,
        "One Group's broken link is no other Group's trouble",
        "Groups share a Worker, and nothing else.",
    ),
    _relation(
        "PROP-0021",
        "EVT-003.a",
        Profile.LEASES,
        variations.unanswered,
        "Commands that nobody answered are made good",
        "A lost answer must neither lose the work nor do it twice.",
    ),
    _relation(
        "PROP-0022",
        "FND-014.a",
        Profile.SCHEDULING,
        variations.noise,
        "Messages and unknown extensions make no difference",
        "Conversation is not authority.",
    ),
    _relation(
        "PROP-0023",
        "SDV-015.a",
        Profile.SIGNATURES,
        variations.forgeries,
        "Forged Events make no difference",
        "What was changed after signing, or signed by another, states no fact.",
    ),
    _relation(
        "PROP-0024",
        "WRK-008.a",
        Profile.REPLAY,
        variations.alone,
        "A Group's work ends the same with and without its neighbours",
        "Inbox, Cursor and queue belong to one Group each.",
    ),
)
"""All properties, in the order of their IDs. IDs are permanent and never used again."""
