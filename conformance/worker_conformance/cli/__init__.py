"""The command line: what a person or a CI system types, and the exit code that answers."""

from worker_conformance.cli.entry import main

__all__ = ["main"]
