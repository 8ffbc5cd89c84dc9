"""What came of one world, and how it is written down as one line of JSON.

Never decides a verdict.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from math import isfinite
from typing import Self

from attrs import field, frozen

from worker_conformance.documents.json_types import (
    JsonObject,
    JsonValue,
    find,
    integer_at,
    list_at,
    object_at,
    text_at,
)
from worker_conformance.judge.verdicts import Failure, Verdict

SECONDS_DIGITS = 3
SIGNATURE_DIGITS = 8  # of a hash, in a file's name: enough for the failures of one property

PER_WORLD = frozenset(
    {
        Verdict.SUITE_ERROR,
        Verdict.ADAPTER_ERROR,
        Verdict.FAIL,
        Verdict.INCONCLUSIVE,
        Verdict.PASS,
    }
)
"""What one world can come to."""


@frozen
class Flaw:
    """A failure of one world, shortened.

    `signature` is the same for worlds that fail in the same way. `steps` and `characters` tell how
    long the counterexample is. `text` is that counterexample as YAML; it is no part of the line,
    and empty where a flaw was read from one, or where nothing could be shortened.
    """

    signature: str
    failure: Failure
    steps: int = 0
    characters: int = 0
    text: str = field(default="", eq=False, repr=False)

    @property
    def length(self) -> tuple[int, int]:
        """What shorter means among counterexamples."""
        return (self.steps, self.characters)


@frozen
class Outcome:
    """What came of the world of this number.

    `witness` counts how often what the property is about occurred, `coverage` what the world
    reached, `seconds` is real time. `reason` says why there is neither a pass nor a failure.
    """

    number: int
    check_id: str
    verdict: Verdict
    witness: int = 0
    reason: str = ""
    flaw: Flaw | None = None
    coverage: Mapping[str, int] = field(factory=dict)
    seconds: float = field(default=0.0, eq=False)

    def __attrs_post_init__(self) -> None:
        """Refuse a failure without its evidence."""
        if self.verdict not in PER_WORLD:
            raise ValueError(f"no world comes to {self.verdict}")
        if (self.verdict is Verdict.FAIL) != (self.flaw is not None):
            raise ValueError(f"{self.verdict} and its evidence contradict each other")
        if min(self.number, self.witness, *self.coverage.values()) < 0:
            raise ValueError("a count is below 0")

    def to_line(self) -> str:
        """As one line of JSON without its line break; ASCII, whatever a Worker has said."""
        document: JsonObject = {
            "world": self.number,
            "check": self.check_id,
            "verdict": self.verdict.value,
            "witness": self.witness,
            "seconds": round(self.seconds, SECONDS_DIGITS),
            "coverage": dict(self.coverage),
        }
        if self.reason:
            document["reason"] = self.reason
        if self.flaw is not None:
            document["flaw"] = _flaw(self.flaw)
        return json.dumps(document, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_line(cls, line: str | bytes) -> Self:
        """Read what `to_line` made; raise ValueError or TypeError for anything else."""
        try:
            document = json.loads(line)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        flaw = find(document, "flaw")
        return cls(
            number=integer_at(document, "world"),
            check_id=text_at(document, "check"),
            verdict=Verdict(text_at(document, "verdict")),
            witness=integer_at(document, "witness"),
            reason="" if find(document, "reason") is None else text_at(document, "reason"),
            flaw=None if flaw is None else _read_flaw(flaw),
            coverage={
                name: integer_at(document, "coverage", name)
                for name in object_at(document, "coverage")
            },
            seconds=_seconds(document),
        )


def name_of(check_id: str, signature: str) -> str:
    """The file name of the counterexamples that share a signature."""
    digest = sha256(signature.encode("utf-8", "backslashreplace")).hexdigest()
    return f"{check_id}-{digest[:SIGNATURE_DIGITS]}.yaml"


def _flaw(flaw: Flaw) -> JsonObject:
    document: JsonObject = {
        "signature": flaw.signature,
        "steps": flaw.steps,
        "characters": flaw.characters,
        "expected": flaw.failure.expected,
        "observed": flaw.failure.observed,
        "transcript": list(flaw.failure.transcript),
    }
    if flaw.failure.stderr:
        document["stderr"] = flaw.failure.stderr
    return document


def _read_flaw(document: JsonValue) -> Flaw:
    failure = Failure(
        expected=text_at(document, "expected"),
        observed=text_at(document, "observed"),
        transcript=tuple(str(line) for line in list_at(document, "transcript")),
        stderr="" if find(document, "stderr") is None else text_at(document, "stderr"),
    )
    return Flaw(
        text_at(document, "signature"),
        failure,
        integer_at(document, "steps"),
        integer_at(document, "characters"),
    )


def _seconds(document: JsonValue) -> float:
    seconds = find(document, "seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError("no number at /seconds")
    if not isfinite(seconds) or seconds < 0:
        raise ValueError("/seconds is no length of time")
    return float(seconds)
