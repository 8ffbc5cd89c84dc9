"""What the tests of the Port share: ports to the adapters here, and a look at what they leave."""

import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from worker_conformance.documents.json_types import JsonObject
from worker_conformance.port import guard
from worker_conformance.port.process import living_in_group
from worker_conformance.port.subprocess_port import StdioPort

ADAPTERS = Path(__file__).parent / "adapters"
DYING_SECONDS_MAX = 5.0  # a killed process may need a moment until it is off the list


@pytest.fixture
def adapters(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the adapters, from which modules can be imported as well."""
    monkeypatch.syspath_prepend(str(ADAPTERS))
    return ADAPTERS


@pytest.fixture
def tick() -> JsonObject:
    return {"type": "tick", "now": "2026-07-15T00:00:00Z"}


@pytest.fixture
def port_to() -> Iterator[Callable[..., StdioPort]]:
    """Open a Port to an adapter by name; what is still up at the end is killed."""
    opened: list[StdioPort] = []

    def open_port(name: str, timeout_seconds: float = 10.0) -> StdioPort:
        command = (sys.executable, "-S", "-E", str(ADAPTERS / f"{name}.py"))
        opened.append(StdioPort(command, timeout_seconds=timeout_seconds, grace_seconds=0.3))
        return opened[-1]

    yield open_port
    for port in opened:
        port.close()


@pytest.fixture
def no_leaks() -> Iterator[None]:
    """The test leaves no descriptor open; the guard's pipe stays for the life of the suite."""
    guard.ensure()
    before = open_descriptors()
    yield
    assert open_descriptors() == before


@pytest.fixture
def living() -> Callable[[int], tuple[int, ...]]:
    """Return the processes of a group, with its leader, that are alive."""
    return living_in_group


@pytest.fixture
def is_gone() -> Callable[[int], bool]:
    """Tell whether the last process of a group goes within a few seconds."""

    def gone(group: int) -> bool:
        for _ in range(int(DYING_SECONDS_MAX / 0.01)):
            if not living_in_group(group):
                return True
            select.select([], [], [], 0.01)
        return False

    return gone


def open_descriptors() -> set[str]:
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(f"{entry.name} {entry.readlink()}")
        except FileNotFoundError:
            continue  # the listing's own descriptor
    return found
