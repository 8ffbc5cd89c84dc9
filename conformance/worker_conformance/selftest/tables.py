"""The tables of docs/fairness.md, made from what is tested.

`python -m worker_conformance.selftest.tables` prints both; a test compares them with the page.
"""

from __future__ import annotations

from worker_conformance.selftest.conforming import CONFORMING
from worker_conformance.selftest.faults import UNFAIR
from worker_conformance.selftest.schedulers import Scheduler


def conforming_table() -> str:
    """The conforming families, and the unit of service that each declares."""
    rows = ["| Scheduler | how it works | unit |", "|---|---|---|"]
    rows += [
        f"| {name} | {_first_line(scheduler)} | `{scheduler.unit}` |"
        for name, scheduler in CONFORMING.items()
    ]
    return "\n".join(rows) + "\n"


def unfair_table() -> str:
    """The unfair Schedulers, the trial that shows the fault, and the check that must catch it."""
    rows = ["| Scheduler | what is wrong with it | trial | caught by |", "|---|---|---|---|"]
    rows += [
        f"| {name} | {_first_line(fault.scheduler)} | {fault.trial} | `{fault.check}` |"
        for name, fault in UNFAIR.items()
    ]
    return "\n".join(rows) + "\n"


def _first_line(scheduler: type[Scheduler]) -> str:
    return (scheduler.__doc__ or "").strip().splitlines()[0].rstrip(".")


if __name__ == "__main__":
    print(f"{conforming_table()}\n{unfair_table()}", end="")
