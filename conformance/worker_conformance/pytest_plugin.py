"""The pytest plugin: `pytest --pyargs worker_conformance.suite --worker SPEC`.

pytest loads it wherever the suite is installed, so it only names its options, and loads the suite
where that is what a user wants to run. Everything else stands in `suite.pytest_side`.
"""

from __future__ import annotations

import re
import secrets
from importlib import import_module

import pytest

GROUP = "MissionWeaveProtocol Worker conformance"
SUITE = re.compile(r"worker_conformance[./\\]suite")
SEED_BITS = 32

WORKER, RESTART, SEED = "conformance_worker", "conformance_restart", "conformance_seed"
TIMEOUT, BASELINE, REPORT = "conformance_timeout", "conformance_baseline", "conformance_report"
QUICK = "conformance_quick"

OPTIONS: tuple[tuple[str, str, str, str, str], ...] = (
    (
        "--worker",
        WORKER,
        "SPEC",
        "reference_worker:factory",
        "the Worker to judge: module:factory, 'stdio:<command line>' or 'tcp:<host>:<port>'",
    ),
    ("--worker-restart", RESTART, "COMMAND", "", "what restarts a server of 'tcp:'"),
    ("--worker-seed", SEED, "N|random", "random", "steers keys, identifiers and canaries"),
    ("--worker-timeout", TIMEOUT, "S", "30", "longest wait for one answer, in real seconds"),
    ("--worker-baseline", BASELINE, "FILE", "", "known failures (YAML), as for 'run --baseline'"),
    (
        "--worker-report",
        REPORT,
        "DIR",
        "",
        "folder for report.html, result.json and junit.xml; written only if given",
    ),
)
"""Option, member of the namespace, metavar, default, help."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the options; they mean something only to the suite."""
    group = parser.getgroup("worker-conformance", GROUP)
    for option, member, metavar, default, told in OPTIONS:
        group.addoption(
            option, dest=member, metavar=metavar, default=default, help=f"{told} ({default or '-'})"
        )
    group.addoption(
        "--worker-quick",
        dest=QUICK,
        action="store_true",
        help="the short run: for a first look, not for a claim",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Bring in the suite where it is to be collected; draw the seed once, for all processes."""
    if not any(SUITE.search(str(argument)) for argument in config.args):
        return
    if config.getoption(SEED) == "random":
        setattr(config.option, SEED, str(secrets.randbits(SEED_BITS)))
    side = import_module("worker_conformance.suite.pytest_side")
    side.install(config)
