"""The catalogue of properties: permanent ID, requirement, level and area of each.

What is judged, and how, stands in `registry`; this page alone is needed to list and explain them.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from worker_conformance.scenario.model import Level, Profile

WATCHED = "what these monitors watch occurred"
COMPARED = "the Worker took work that could be compared in both courses"


@frozen
class PropertyInfo:
    """A property's permanent identity; as in `MonitorInfo`.

    `needs` are triggers without which it has nothing to judge.
    """

    check_id: str
    title: str
    stake: str
    requirement: str
    profile: Profile
    reached: str = COMPARED
    level: Level = Level.MUST
    also: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


PROPERTIES: Sequence[PropertyInfo] = (
    PropertyInfo(
        "PROP-0001",
        "Every rule holds in every world",
        "Whatever the Organization, the network and the machine do, no rule may be broken.",
        "WRK-003.a",
        Profile.LEASES,
        WATCHED,
    ),
    PropertyInfo(
        "PROP-0002",
        "The rules of Replay hold over any network",
        "Events come late, twice, out of order and forged, over links that break.",
        "WRK-029.c",
        Profile.REPLAY,
        WATCHED,
    ),
    PropertyInfo(
        "PROP-0003",
        "Nothing happens under an old session, lease or epoch",
        "Sessions end and begin at every moment, with the disk and without it.",
        "WRK-014.c",
        Profile.LEASES,
        WATCHED,
    ),
    PropertyInfo(
        "PROP-0004",
        "Nothing happens after ownership, Membership or Mission has ended",
        "Offers, ownership, Memberships and Missions end while Commands are under way.",
        "WRK-019.a",
        Profile.LEASES,
        WATCHED,
    ),
    PropertyInfo(
        "PROP-0005",
        "No gate opens but by its own approval",
        "Approvals run out, or belong to an Ownership Epoch that is over.",
        "AUT-003.a",
        Profile.SCHEDULING,
        WATCHED,
    ),
    PropertyInfo(
        "PROP-0006",
        "Everything eligible is served once arrivals stop",
        "A WorkItem that falls out of a queue waits for ever, and nobody hears of it.",
        "WRK-010.b",
        Profile.SCHEDULING,
        "work was left to be served",
    ),
    PropertyInfo(
        "PROP-0007",
        "Set-aside work comes back as it was left",
        "Work is preempted and blocked, and taken up again over crashes and lost disks.",
        "WRK-015.d",
        Profile.PREEMPTION,
        WATCHED,
    ),
    PropertyInfo(
        "PROP-0008",
        "Attempts are counted over crashes",
        "A Worker that counts its attempts in memory tries for ever.",
        "WRK-018.a",
        Profile.RETRIES,
        WATCHED,
        needs=("automaticRetry",),
    ),
    PropertyInfo(
        "PROP-0009",
        "Events delivered again make no difference",
        "Delivery is at least once; what happens twice is paid twice.",
        "WRK-029.a",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0010",
        "The whole history delivered again in a later session makes no difference",
        "A Worker that deduplicates in memory only does everything again after a restart.",
        "WRK-029.a",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0011",
        "The order of arrival within a Group makes no difference",
        "Buffering and discarding Workers alike end where the sequence leads.",
        "WRK-029.b",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0012",
        "Any interleaving of the Groups' streams leads to the same state of each",
        "Events of different Groups have no order; a Worker that gives them one depends on chance.",
        "EVT-006.a",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0013",
        "A crash at any step, then Replay, equals no crash",
        "What is only in memory is lost with the process.",
        "WRK-008.b",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0014",
        "A crash before the answers arrive equals no crash",
        "Between a Command and its Event lies the moment that is hardest to recover from.",
        "WRK-030.b",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0015",
        "A graceful stop at any step equals no stop",
        "Durable is durable, whether the process is killed or asked to go.",
        "WRK-008.b",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0016",
        "An empty disk and Replay equal the live projection",
        "Every local projection can be rebuilt from the Group's history.",
        "WRK-008.c",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0017",
        "A Snapshot and its tail equal the full history",
        "What a Snapshot carries has to be restored to the last member.",
        "S16-SNAP.a",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0018",
        "A new session at any step loses no work",
        "The old session's leases are dead; the work is not.",
        "WRK-014.c",
        Profile.LEASES,
    ),
    PropertyInfo(
        "PROP-0019",
        "A connection that is cut for a while makes no difference in the end",
        "What was said meanwhile comes in the replay, and has to be taken from there.",
        "EVT-009.a",
        Profile.REPLAY,
    ),
    PropertyInfo(
        "PROP-0020",
        "One Group's broken link is no other Group's trouble",
        "Groups share a Worker, and nothing else.",
        "MSN-014.a",
        Profile.SCHEDULING,
    ),
    PropertyInfo(
        "PROP-0021",
        "Commands that nobody answered are made good",
        "A lost answer must neither lose the work nor do it twice.",
        "EVT-003.a",
        Profile.LEASES,
    ),
    PropertyInfo(
        "PROP-0022",
        "Messages and unknown extensions make no difference",
        "Conversation is not authority.",
        "FND-014.a",
        Profile.SCHEDULING,
    ),
    PropertyInfo(
        "PROP-0023",
        "Forged Events make no difference",
        "What was changed after signing, or signed by another, states no fact.",
        "SDV-015.a",
        Profile.SIGNATURES,
    ),
    PropertyInfo(
        "PROP-0024",
        "A Group's work ends the same with and without its neighbours",
        "Inbox, Cursor and queue belong to one Group each.",
        "WRK-008.a",
        Profile.REPLAY,
    ),
)
"""All properties, in the order of their IDs. IDs are permanent and never used again."""
