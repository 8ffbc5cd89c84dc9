"""What a mutant is: a Worker with one realistic fault, and what is known of that fault.

Never runs one; the matrix does.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

from attrs import frozen

from worker_conformance.port.in_process import InProcessWorker


@frozen
class Mutant:
    """A faulty Worker. `factory` names it as `--worker` does.

    `requirement` is what it breaks, `killed_by` the checks that are expected to notice, `fault`
    what it does wrong, `field` where such faults occur. `seen_in` names scenarios that show it to
    monitors, where no vector is expected to notice it.
    """

    name: str
    factory: str
    requirement: str
    killed_by: tuple[str, ...]
    fault: str
    field: str
    seen_in: tuple[str, ...] = ()


def mutant(
    factory: Callable[[], InProcessWorker],
    requirement: str,
    killed_by: str,
    field: str,
    seen_in: str = "",
) -> Mutant:
    """Register a factory: a class, or an `altered` function. Checks are listed with spaces."""
    words = re.sub(r"(?<!^)(?=[A-Z])", "-", factory.__name__)
    return Mutant(
        name=words.replace("_", "-").lower(),
        factory=f"{factory.__module__}:{factory.__name__}",
        requirement=requirement,
        killed_by=tuple(killed_by.split()),
        fault=" ".join((inspect.getdoc(factory) or "").split()),
        field=field,
        seen_in=tuple(seen_in.split()),
    )
