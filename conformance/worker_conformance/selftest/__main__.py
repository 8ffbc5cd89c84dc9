"""Prints the kill matrix: `python -m worker_conformance.selftest > docs/kill-matrix.md`.

Takes minutes. With `--full` every mutant and variant meets every vector, which takes hours.
"""

from __future__ import annotations

import os
import sys

from worker_conformance.selftest.matrix import all_checks, kill_matrix, subjects, widened
from worker_conformance.selftest.page import render

SEED = 1


def main(arguments: list[str]) -> int:
    """Play, print, and say by the exit code whether anything is amiss."""
    chosen = list(subjects().values())
    if "--full" in arguments:
        chosen = [widened(one) for one in chosen]
    matrix = kill_matrix(chosen, all_checks(), SEED, jobs=os.cpu_count() or 1)
    sys.stdout.write(render(matrix))
    return 1 if matrix.survivors() or matrix.idle_checks() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
