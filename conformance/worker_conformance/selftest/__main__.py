"""Prints the kill matrix: `python -m worker_conformance.selftest > docs/kill-matrix.md`.

Takes minutes: every check is played against every Worker of the self-test.
"""

from __future__ import annotations

import os
import sys

from worker_conformance.selftest.matrix import all_checks, kill_matrix, subjects
from worker_conformance.selftest.page import render

SEED = 1


def main() -> int:
    """Play, print, and say by the exit code whether anything is amiss."""
    matrix = kill_matrix(subjects(), all_checks(), SEED, jobs=os.cpu_count() or 1)
    sys.stdout.write(render(matrix))
    return 1 if matrix.survivors() or matrix.idle_checks() else 0


if __name__ == "__main__":
    sys.exit(main())
