"""Playing the world of one number: the task that is spread over processes.

A failure is shortened here, where it was found. Each thread that plays keeps a Worker on a bench of
its own, over many worlds; a world has a folder and a seed of its own all the same. Never knows what
other worlds came to.
"""

from __future__ import annotations

import threading
import warnings
from contextlib import suppress
from time import perf_counter

from worker_conformance.errors import AdapterError, SuiteFailure, UsageError
from worker_conformance.judge.verdicts import Failure, Verdict
from worker_conformance.port.locate import locate
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.properties.catalogue import PropertyInfo
from worker_conformance.suite.properties.finding import Finding
from worker_conformance.suite.properties.judging import judge_world
from worker_conformance.suite.properties.saving import Origin, text_of
from worker_conformance.suite.properties.theatre import Theatre
from worker_conformance.suite.soak.campaign import Campaign, edition
from worker_conformance.suite.soak.outcome import Flaw, Outcome


def play_world(campaign: Campaign, number: int) -> Outcome:
    """Play one world of a campaign.

    Raises UsageError where this process has another edition of the suite, or no such Worker.
    """
    if campaign.suite != edition():
        raise UsageError(
            "suite-version",
            f"a node has suite {edition()}, and the campaign is of suite {campaign.suite}",
            "install the same version everywhere",
        )
    # Dask's own threads draw from `random` while a world is drawn, which Hypothesis takes for ours.
    warnings.filterwarnings("ignore", message="Do not use the `random` module inside strategies")
    info, seed = campaign.property_of(number), campaign.seed_of(number)
    began = perf_counter()
    try:
        judged = judge_world(info, Theatre(_bench(campaign), seed))
    except UsageError:
        raise
    except AdapterError as broken:
        cause = f"{broken} {broken.hint}".strip()
        return _without_judgement(info, number, Verdict.ADAPTER_ERROR, cause, began)
    except SuiteFailure as failure:
        return _without_judgement(info, number, Verdict.SUITE_ERROR, str(failure), began)
    except Exception as error:  # noqa: BLE001 - a fault of ours in one world is told with its number
        told = f"{type(error).__name__}: {error}"
        return _without_judgement(info, number, Verdict.SUITE_ERROR, told, began)
    found = judged.found
    return Outcome(
        number=number,
        check_id=info.check_id,
        verdict=judged.verdict,
        witness=judged.witness,
        reason=judged.reason,
        flaw=None if found is None else _flaw(info, found, Origin(campaign.worker, seed)),
        coverage=judged.coverage,
        seconds=perf_counter() - began,
    )


def open_benches() -> int:
    """How many Workers this process has."""
    return len(_benches)


def close_benches() -> None:
    """End every Worker of this process; the next world opens a new one."""
    with _lock:
        benches = list(_benches.values())
        _benches.clear()
    for _, bench in benches:
        # A bench of another thread may not let itself be closed from here; the guard does it then.
        with suppress(Exception):
            bench.close()


def _flaw(info: PropertyInfo, found: Finding, origin: Origin) -> Flaw:
    text = text_of(info, found, origin)
    failure = Failure(found.expected, found.observed, found.transcript)
    return Flaw(found.kind, failure, len(found.scenario.steps), len(text), text)


def _without_judgement(
    info: PropertyInfo, number: int, verdict: Verdict, reason: str, began: float
) -> Outcome:
    seconds = perf_counter() - began
    return Outcome(number, info.check_id, verdict, reason=reason, seconds=seconds)


_lock = threading.Lock()
_benches: dict[int, tuple[tuple[str, float], Bench]] = {}
"""By thread: whom its bench is for, and the bench."""


def _bench(campaign: Campaign) -> Bench:
    wanted, thread = (campaign.worker, campaign.timeout_seconds), threading.get_ident()
    with _lock:
        known, bench = _benches.get(thread, (None, None))
        if bench is not None and known == wanted:
            return bench
        if bench is not None:
            bench.close()
            del _benches[thread]
        bench = Bench(locate(*wanted))
        _benches[thread] = (wanted, bench)
        return bench
