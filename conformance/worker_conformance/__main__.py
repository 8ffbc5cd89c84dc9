"""`python -m worker_conformance`: the command line, where its script is not on the search path."""

from __future__ import annotations

from worker_conformance.cli.entry import main

if __name__ == "__main__":
    main()
