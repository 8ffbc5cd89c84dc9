"""The self-test as a module; the same as the command `worker-conformance selftest`."""

from __future__ import annotations

import sys

from worker_conformance.cli.entry import call

if __name__ == "__main__":
    sys.exit(call(["selftest", *sys.argv[1:]]))
