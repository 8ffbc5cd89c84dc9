"""What a Worker says of itself in `initialize`, typed, with the Port's defaults and ceilings.

A declaration selects which checks apply and which figure a bound is held to. It is never evidence:
no check passes because of what stands here. This module reads and caps; it judges nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from attrs import Attribute, evolve, field, fields, frozen

from worker_conformance.documents.json_types import JsonObject, JsonValue

PROFILES = (
    "replay",
    "scheduling",
    "disclosure",
    "isolation",
    "leases",
    "preemption",
    "admission",
    "blocking",
    "retries",
    "offline",
    "signatures",
)

CORE_PROFILES = frozenset(PROFILES[:6])  # the four areas: fairness, privacy, leases, Replay

CEILINGS: Mapping[str, float] = {
    "lag_quanta": 8,
    "frame_factor": 8,
    "starvation_horizon_seconds": 30 * 24 * 3600,
    "class_share_ratio": 64,
    "max_preemptions_per_item": 10,
    "ack_interval_seconds": 60,
    "resend_seconds": 600,
    "settle_limit": 10_000,
}
"""The most of each figure that a run honours. Two more depend on the slots: `effective_for`."""

RESERVED_SLOTS_MAX = 8

SLOT_CEILINGS: Mapping[str, Callable[[int], int]] = {
    "reorder_latency": lambda slots: slots,
    "reserved_slots": lambda slots: RESERVED_SLOTS_MAX if slots > 1 else 0,
}
"""Ceilings that depend on a scenario's slots. Reserved slots come on top of those where there are
several, so that all others find as many as the scenario means; they are said in the claim."""


@frozen
class Parameters:
    """The declared parameters, each with the default the Port gives it.

    Field names are the wire names in snake case. `payload_paths` are pairs of name and JSON
    Pointer.
    """

    fairness_unit: str = "dispatch"
    lag_quanta: float = 2
    frame_factor: float = 2
    randomised: bool = False
    starvation_horizon_seconds: float = 3600
    class_share_ratio: float = 8
    considers: frozenset[str] = frozenset()
    reorder_latency: int = 0
    reserved_slots: int = 0
    queue_capacity: int = 1000
    time_slicing: bool = False
    max_preemptions_per_item: int = 3
    out_of_order: str = "buffer"
    ack_interval_seconds: float = 0
    resend_seconds: float = 30
    estimate_granularity_seconds: float = 300
    renewal: str = "worker"
    renewal_command_kind: str = "ext.missionweaveprotocol.core.work_execution_lease_renew"
    payload_paths: tuple[tuple[str, str], ...] = (("ownershipEpoch", "/ownershipEpoch"),)
    deterministic: bool = False
    reusable: bool = True
    settle_limit: int = 100
    abstains: frozenset[str] = frozenset()

    def payload_path(self, name: str) -> str | None:
        """Return the JSON Pointer of the number `name` in Command payloads, if one is declared."""
        return dict(self.payload_paths).get(name)

    def effective(self) -> tuple["Parameters", tuple[str, ...]]:
        """Return what a run holds the Worker to, and a note for each figure above its ceiling."""
        return _held_to(self, CEILINGS)

    def effective_for(self, slots: int) -> tuple["Parameters", tuple[str, ...]]:
        """As `effective`, with the ceilings that depend on the number of Capacity Slots as well."""
        by_slots = {name: ceiling(slots) for name, ceiling in SLOT_CEILINGS.items()}
        return _held_to(self, {**CEILINGS, **by_slots})


@frozen
class Declaration:
    """A Worker's answer to `initialize`. Compares by meaning, not by spelling."""

    name: str
    version: str
    language: str
    homepage: str | None = None
    profiles: frozenset[str] = frozenset()
    parameters: Parameters = field(factory=Parameters)

    def claims(self, profile: str) -> bool:
        """Whether the Worker claims `profile`."""
        return profile in self.profiles

    @property
    def claims_core(self) -> bool:
        """Whether all profiles of the four core areas are claimed."""
        return self.profiles >= CORE_PROFILES

    @classmethod
    def from_json(cls, document: JsonObject) -> "Declaration":
        """Read a declaration that the Port's schema has accepted."""
        homepage = document.get("homepage")
        return cls(
            name=str(document["name"]),
            version=str(document["version"]),
            language=str(document["language"]),
            homepage=None if homepage is None else str(homepage),
            profiles=frozenset(map(str, cast("list[JsonValue]", document["profiles"]))),
            parameters=_parameters(cast(JsonObject, document.get("parameters", {}))),
        )


def wire_name(name: str) -> str:
    """Return the member name of a parameter: `lag_quanta` is `lagQuanta` on the wire."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _parameters(document: JsonObject) -> Parameters:
    declared: dict[str, Any] = {}  # each field has its own type; the schema has checked it
    for parameter in _FIELDS:
        wire = wire_name(parameter.name)
        if wire in document:
            declared[parameter.name] = _typed(parameter, document[wire])
    return evolve(Parameters(), **declared)


def _typed(parameter: "Attribute[object]", value: JsonValue) -> object:
    """Turn a schema-checked JSON value into the type of its field."""
    if isinstance(value, list):
        return frozenset(value)
    if isinstance(value, dict):
        # A declared path replaces the default of the same name and leaves the others.
        return tuple(sorted({**dict(Parameters().payload_paths), **value}.items()))
    if isinstance(parameter.default, int) and isinstance(value, float) and value.is_integer():
        return int(value)  # 5.0 is an integer to JSON Schema, and stays one here
    return value


def _held_to(
    declared: Parameters, ceilings: Mapping[str, float]
) -> tuple[Parameters, tuple[str, ...]]:
    capped: dict[str, Any] = {}  # a ceiling has the type of its field
    notes = []
    for name, ceiling in ceilings.items():
        value = getattr(declared, name)
        if value > ceiling:
            capped[name] = ceiling
            notes.append(f"{wire_name(name)}: declared {value}, held to the ceiling {ceiling}")
    return evolve(declared, **capped), tuple(notes)


_FIELDS = cast('tuple["Attribute[object]", ...]', tuple(fields(Parameters)))
