"""Sharing checks out over processes: one at a time, and together what looks at the same worlds.

Loaded with several jobs only. Keeps the order in which checks were collected, but for a sweep,
which xdist puts first as the largest. Never plays a check.
"""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # has no types

from worker_conformance.suite.comparisons.catalogue import SWEPT


class SharingOut:
    """The plugin of the process that collects."""

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: object) -> object:
        """What says which process plays what next."""
        return _ByWorlds(config, log)


class _ByWorlds(LoadScopeScheduling):  # type: ignore[misc]  # has no types
    """A check goes to the next process that is free, a sweep's to the one that has its worlds."""

    def _split_scope(self, nodeid: str) -> str:
        """What has to stay together."""
        return scope_of(nodeid)


def scope_of(node_id: str) -> str:
    """The name of what a check has to stay together with: of itself, or of its sweep."""
    check_id = node_id.partition("[")[2].rstrip("]")
    return "sweep" if check_id in SWEPT else node_id
