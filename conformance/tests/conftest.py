"""Which tests are long: those that judge many Workers, or play many worlds.

They say nothing about an interpreter, so tox runs them once, in an environment of their own;
`pytest -m "not long"` leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker_conformance.suite.bench import Bench

from .generation.workers import local

HERE = Path(__file__).parent
DEBIAN_CRATES = Path("/usr/share/cargo/registry")
LONG = (
    "selftest/",
    "generation/",
    "privacy/test_leaky.py",
    "privacy/test_worlds.py",
    "fairness/test_families.py",
    "fairness/test_over_the_port.py",
    "fairness/test_worlds.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them by where they stand."""
    for item in items:
        if not item.path.is_relative_to(HERE):
            continue
        place = item.path.relative_to(HERE).as_posix()
        if place.startswith(LONG):
            item.add_marker(pytest.mark.long)


@pytest.fixture
def bench_of() -> Callable[[Any], Bench]:
    """Makes a bench for what a function makes: a Worker without a name to import it by."""
    return lambda make: Bench(local(make))


@pytest.fixture
def cargo_without_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cargo with a home of its own takes the crates that Debian packages, and asks nobody."""
    home = tmp_path / "cargo-home"
    home.mkdir()
    config = "[net]\noffline = true\n"
    if DEBIAN_CRATES.is_dir():
        config += '[source.crates-io]\nreplace-with = "here"\n'
        config += f'[source.here]\ndirectory = "{DEBIAN_CRATES}"\n'
    (home / "config.toml").write_text(config)
    monkeypatch.setenv("CARGO_HOME", str(home))
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
