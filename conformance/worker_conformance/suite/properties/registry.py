"""How each property is judged: over which worlds, by which monitors, or by comparing with what.

Two kinds: `Rules` holds monitors against a family of worlds, `Relation` compares two courses of one
world. Never plays.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from worker_conformance.judge.monitors import REGISTRY as MONITORS
from worker_conformance.scenario.generation import Taste
from worker_conformance.scenario.generation import taste as tastes
from worker_conformance.scenario.model import Level, Profile
from worker_conformance.suite.properties import variations
from worker_conformance.suite.properties.variations import Variation


@frozen
class Rules:
    """In every world of this taste these monitors see no breach.

    `served` asks besides that nothing eligible is left over when all arrivals have stopped. A world
    that is compared with nothing costs less, and its fault has to be in its own drawing: there are
    `times` as many, the more the seldomer its faults show.
    """

    taste: Taste
    monitors: frozenset[str]
    served: bool = False
    times: float = 2


@frozen
class Relation:
    """In every world of this taste the varied course ends like the plain one."""

    variation: Variation
    taste: Taste = tastes.CALM


Judgement = Rules | Relation


def _monitors_of(*profiles: Profile) -> frozenset[str]:
    """All monitors of some areas that judge a MUST; those of all areas without one."""
    return frozenset(
        info.check_id
        for info, _ in MONITORS
        if info.level is Level.MUST and (not profiles or info.profile in profiles)
    )


EVERY_RULE = _monitors_of()
"""The monitors of all areas that judge a MUST."""

JUDGEMENTS: Mapping[str, Judgement] = {
    "PROP-0001": Rules(tastes.EVERYTHING, _monitors_of()),
    "PROP-0002": Rules(tastes.NETWORK, _monitors_of(Profile.REPLAY)),
    "PROP-0003": Rules(tastes.SESSIONS, _monitors_of(Profile.LEASES, Profile.OFFLINE)),
    "PROP-0004": Rules(tastes.ENDINGS, _monitors_of(Profile.LEASES), times=4),
    "PROP-0005": Rules(tastes.GATES, _monitors_of(Profile.SCHEDULING)),
    "PROP-0006": Rules(
        tastes.CONTENTION, _monitors_of(Profile.SCHEDULING, Profile.ISOLATION), served=True
    ),
    "PROP-0007": Rules(tastes.CHECKPOINTS, _monitors_of(Profile.PREEMPTION), times=2.5),
    "PROP-0008": Rules(tastes.FAILURES, _monitors_of(Profile.RETRIES)),
    "PROP-0009": Relation(variations.duplicates),
    "PROP-0010": Relation(variations.redelivery),
    "PROP-0011": Relation(variations.reordered),
    "PROP-0012": Relation(variations.interleaved, tastes.NEIGHBOURS),
    "PROP-0013": Relation(variations.crashes),
    "PROP-0014": Relation(variations.lost_answers),
    "PROP-0015": Relation(variations.stops),
    "PROP-0016": Relation(variations.lost_disks),
    "PROP-0017": Relation(variations.snapshots),
    "PROP-0018": Relation(variations.replaced_sessions),
    "PROP-0019": Relation(variations.cut_connection),
    "PROP-0020": Relation(variations.cut_group, tastes.NEIGHBOURS),
    "PROP-0021": Relation(variations.unanswered),
    "PROP-0022": Relation(variations.noise),
    "PROP-0023": Relation(variations.forgeries),
    "PROP-0024": Relation(variations.alone, tastes.NEIGHBOURS),
}
"""The judgement of every property in the catalogue; a test keeps the two together."""
