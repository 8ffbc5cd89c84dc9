"""Workers for these tests, on a bench without a name that could be imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from attrs import frozen

from worker_conformance.port.contract import Port
from worker_conformance.port.in_process import InProcessPort, InProcessWorker
from worker_conformance.port.locate import PortFactory


@frozen
class _Local:
    """Opens Ports to what a function makes."""

    make: Callable[[], InProcessWorker]
    spec: str = "tests:local"

    def open(self) -> Port:
        return InProcessPort(self.make)


def local(make: Callable[[], InProcessWorker]) -> PortFactory:
    """A factory for the bench."""
    return cast(PortFactory, _Local(make))
