"""The command line: what a person or a CI system types, and the exit code that answers."""

import gc

# Loading makes many objects and no garbage, and looking for some takes a fifth of its time.
_looked = gc.isenabled()
gc.disable()

from worker_conformance.cli.entry import main  # noqa: E402 - see above

if _looked:
    gc.enable()

__all__ = ["main"]
