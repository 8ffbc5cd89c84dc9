"""A property as one check of a run: judged, its counterexample saved, its result made.

The door of this package: what a run needs to know of it is here. Never decides how many worlds.
"""

from __future__ import annotations

from pathlib import Path

from attrs import evolve, field, frozen

from worker_conformance.errors import AdapterError
from worker_conformance.judge.verdicts import Failure, Measurement, Verdict
from worker_conformance.suite.play import Sighting
from worker_conformance.suite.properties.catalogue import PROPERTIES
from worker_conformance.suite.properties.coverage import Coverage
from worker_conformance.suite.properties.judging import judge
from worker_conformance.suite.properties.saving import Origin, save
from worker_conformance.suite.properties.theatre import Theatre

_BY_ID = {info.check_id: info for info in PROPERTIES}


@frozen
class PropertyRun:
    """What came of a property: the members of its result, and what the monitors saw meanwhile.

    `saved` is the counterexample's file.
    """

    verdict: Verdict
    witness: int = 0
    reason: str = ""
    failure: Failure | None = None
    measurements: tuple[Measurement, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    coverage: Coverage = field(factory=dict)
    saved: Path | None = None


def run_property(
    check_id: str, theatre: Theatre, worlds: int, origin: Origin, folder: Path | None
) -> PropertyRun:
    """Judge a property over so many worlds; a counterexample goes to `folder`, if given."""
    info = _BY_ID[check_id]
    try:
        judged = judge(info, theatre, worlds)
    except AdapterError as broken:
        failure = Failure("an adapter that keeps the Worker Port", f"{broken} {broken.hint}")
        return PropertyRun(Verdict.ADAPTER_ERROR, reason=broken.cause, failure=failure)
    run = PropertyRun(
        verdict=judged.verdict,
        witness=judged.witness,
        reason=judged.reason,
        measurements=judged.measurements,
        sightings=judged.sightings,
        coverage=judged.coverage,
    )
    found = judged.found
    if found is None:
        return run
    saved = save(info, found, origin, folder) if folder else None
    place = str(saved) if saved else None
    failure = Failure(
        found.expected,
        found.observed,
        found.transcript,
        step=place,
        timeline=found.timeline,
        vector=saved.read_text("utf-8") if saved else "",
    )
    return evolve(run, failure=failure, saved=saved)
