"""Disclosure: what this Worker tells about its schedule, and to whom.

Responsible for estimates and Presence (MWP-WRK-012, MWP-IDN-006). An estimate is made from the
Group's own queue, its own contract and fixed facts about this Worker, and from nothing that any
other Group did: what is not an input cannot be read off the output. Never publishes a position.
"""

from __future__ import annotations

import json

from attrs import evolve, frozen

from reference_worker import eligibility, leases
from reference_worker.documents import Document, encode_base64url, sha256
from reference_worker.instants import MICROS, spell
from reference_worker.records import WorkItem
from reference_worker.turn import Turn

GRANULARITY = 300 * MICROS  # declared as `estimateGranularitySeconds`
PRESENCE_LIFETIME = 60 * MICROS
ASSUMED_SERVICE = 600 * MICROS  # where a contract bounds no wall-clock time
# A window has to be honest without telling how busy others are: its end assumes that this Group
# gets one slot in this many, whatever the truth is at the moment.
ASSUMED_SHARE = 8


@frozen
class Window:
    """When an item will start and end; Instants in microseconds, already coarse."""

    start: int
    start_latest: int
    completion: int
    confidence: float
    status: str


def publish(turn: Turn, item: WorkItem, completion: int | None = None) -> None:
    """Publish an estimate if it differs materially from the one that was published last.

    `completion` is what the executor itself expects, where it said so.
    """
    current = turn.item(item.work_item_id)
    if current is None or not turn.is_live(item.group_id):
        return
    window = estimate(turn, current)
    if completion is not None:
        window = evolve(window, completion=max(window.start_latest, _ceil(completion)))
    text = json.dumps([window.start, window.start_latest, window.completion, window.status])
    occasion, _, known = current.published.partition(" ")
    if occasion != _occasion(turn, current) or known != text:
        published = f"{_occasion(turn, current)} {text}"
        noted = evolve(current, published=published, published_until=window.start_latest + 1)
        turn.projection.items.put(item.work_item_id, noted)
    if known == text:
        return
    turn.emit(
        {
            "type": "disclose",
            "groupId": item.group_id,
            "workItemId": item.work_item_id,
            "estimate": {
                "estimatedStart": spell(window.start),
                "estimatedCompletion": spell(window.completion),
                "confidence": window.confidence,
                "capacityStatus": window.status,
                "lastCalculatedAt": spell(turn.now),
            },
            "estimatedStartLatest": spell(window.start_latest),
        }
    )


def publish_on_occasion(turn: Turn, item: WorkItem) -> None:
    """Publish when the item's standing changed, or when its window is over and it still waits."""
    if _state(turn, item) == "active":
        return
    is_another = item.published.partition(" ")[0] != _occasion(turn, item)
    if is_another or turn.now >= item.published_until:
        publish(turn, item)
    published = turn.item(item.work_item_id)
    if published is not None and published.published_until > turn.now:
        turn.runtime.timers.set(published.published_until, item.work_item_id)


def _occasion(turn: Turn, item: WorkItem) -> str:
    epoch = item.ownership.epoch if item.ownership else 0
    return f"{epoch}:{_state(turn, item)}:{'held' if eligibility.unfit(turn, item) else 'free'}"


def _state(turn: Turn, item: WorkItem) -> str:
    """The item's state; what a new session has revoked is queued, whatever the last Event said."""
    return "queued" if leases.is_queued(turn, item) else item.state


def estimate(turn: Turn, item: WorkItem) -> Window:
    """The window of an item, from its own Group's facts alone."""
    service = service_bound(item)
    run = turn.runtime.run_of(item.work_item_id)
    if run is not None:
        start = _floor(turn.now)
        return Window(start, start + GRANULARITY, _ceil(turn.now + service), 0.9, "available")
    scheduler = turn.runtime.scheduler
    ahead = scheduler.waiting(item.group_id) - scheduler.holds(item.work_item_id)
    slots = turn.runtime.agent.slots_max
    start = _floor(turn.now)
    latest = _ceil(turn.now + ASSUMED_SHARE * (ahead + 1) * service // slots)
    return Window(start, latest, latest + _ceil_length(service), 0.5, _status(turn, item, ahead))


def _status(turn: Turn, item: WorkItem, ahead: int) -> str:
    if item.state == "blocked" or (item.state == "queued" and eligibility.unfit(turn, item)):
        return "blocked"
    return "queued" if ahead else "available"


def service_bound(item: WorkItem) -> int:
    """The longest the item may take, from its contract."""
    seconds = item.contract.limits().get("wallClockSecondsLimit")
    return ASSUMED_SERVICE if seconds is None else int(seconds) * MICROS


def _floor(instant: int) -> int:
    return instant - instant % GRANULARITY


def _ceil(instant: int) -> int:
    return _floor(instant + GRANULARITY - 1)


def _ceil_length(length: int) -> int:
    return (length + GRANULARITY - 1) // GRANULARITY * GRANULARITY


def reply_to_ping(turn: Turn, frame: Document) -> None:
    """Answer a PING with its nonce and our Presence (MWP-EVT-011)."""
    if "replyToNonce" in frame or turn.projection.session.fenced_by:
        return
    nonce = sha256(turn.identifier("nonce", "").encode())[7:39]
    turn.send(
        "PING",
        "",
        nonce=encode_base64url(bytes.fromhex(nonce)),
        replyToNonce=frame["nonce"],
        sentAt=turn.stamp(),
        presence=presence(turn),
    )


def presence(turn: Turn) -> Document:
    """This Agent's Presence Record.

    `queuedItems` is required by the schema, but the number of queued items over all Groups is
    another Group's business; it stays at 0, the value that tells least.
    """
    agent, active = turn.runtime.agent, len(turn.runtime.runs)
    return {
        "agentId": agent.agent_id,
        "sessionEpoch": turn.projection.session.session_epoch,
        "status": "busy" if active >= agent.slots_max else "online",
        "capacity": {
            "maxSlots": agent.slots_max,
            "activeSlots": active,
            "availableSlots": agent.slots_max - active,
            "queuedItems": 0,
        },
        "capabilityAvailability": [
            {
                "capability": {"id": identifier, "version": version},
                "status": turn.runtime.policy.availability.get(identifier, "available"),
            }
            for identifier, version in agent.capabilities
        ],
        "lastHeartbeat": turn.stamp(),
        "expiresAt": spell(turn.wall + PRESENCE_LIFETIME),
    }
