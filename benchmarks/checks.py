"""What each check of an ordinary run costs, and how much of that is the Worker's own time.

`python benchmarks/checks.py [SEED]` plays all checks of an ordinary run, one after the other,
against the reference Worker in this process, and prints a JSON object for each, the dearest first,
and one for all. Seconds are processor time. `worker` is what the Worker itself took; the rest is
`judging`: the Organization, the network, the executor, copies and schemas of the Port, and the
monitors.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import process_time

from attrs import define, field
from worker_conformance.documents.json_types import JsonObject
from worker_conformance.judge.verdicts import CheckKind
from worker_conformance.port.in_process import InProcessWorker
from worker_conformance.port.locate import locate
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import CheckInfo, catalogue, scenarios
from worker_conformance.suite.comparisons.catalogue import BY_ID as COMPARISONS
from worker_conformance.suite.comparisons.judging import judge as judge_comparison
from worker_conformance.suite.engine import RunOptions, left_out
from worker_conformance.suite.properties.check import run_property
from worker_conformance.suite.properties.saving import Origin
from worker_conformance.suite.properties.theatre import Theatre

import reference_worker

WORKER = "checks:Timed"


@define
class Timed:
    """The reference Worker, and how long it took; `spent` is over all of them."""

    inner: InProcessWorker = field(factory=reference_worker.factory)
    spent = 0.0

    def initialize(self, params: JsonObject) -> JsonObject:
        """As the Worker does."""
        return self.inner.initialize(params)

    def handle(self, stimulus: JsonObject) -> JsonObject:
        """As the Worker does, by the watch."""
        began = process_time()
        try:
            return self.inner.handle(stimulus)
        finally:
            Timed.spent += process_time() - began

    def shutdown(self) -> JsonObject:
        """As the Worker does."""
        return self.inner.shutdown()


def main(seed: int) -> None:
    """Play and print."""
    ordinary = [info for info in catalogue() if not left_out(info, RunOptions(WORKER))]
    figures: list[dict[str, object]] = []
    with Bench(locate(WORKER)) as bench:
        theatre = Theatre(bench, seed)
        bench.play(scenarios()["LEASE-0001"], seed)  # compiles the schemas
        for info in ordinary:
            if info.kind is not CheckKind.MONITOR:
                began, before = process_time(), sys.modules["checks"].Timed.spent
                _play(info, bench, theatre, seed)
                seconds = process_time() - began
                worker = sys.modules["checks"].Timed.spent - before
                figures.append(_figure(info.check_id, seconds, worker))
    for figure in sorted(figures, key=lambda one: -float(str(one["seconds"]))):
        print(json.dumps(figure))
    whole = [sum(float(str(one[name])) for one in figures) for name in ("seconds", "worker")]
    print(json.dumps(_figure("all", whole[0], whole[1])))


def _play(info: CheckInfo, bench: Bench, theatre: Theatre, seed: int) -> None:
    if info.check_id in COMPARISONS:
        judge_comparison(info.check_id, bench, seed)
    elif info.kind is CheckKind.PROPERTY:
        run_property(info.check_id, theatre, RunOptions(WORKER).worlds, Origin(WORKER, seed), None)
    else:
        bench.play(scenarios()[info.check_id], seed)


def _figure(name: str, seconds: float, worker: float) -> dict[str, object]:
    return {
        "check": name,
        "seconds": round(seconds, 3),
        "worker": round(worker, 3),
        "judging": round(seconds - worker, 3),
        "judgingShare": round((seconds - worker) / seconds, 2) if seconds else 0.0,
    }


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
