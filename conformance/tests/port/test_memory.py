"""Whatever an adapter pours out, the suite keeps little of it."""

import subprocess
import sys
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).parent / "adapters"
MEBIBYTES_MAX = 200

MEETS_ALL_OF_THEM = """
import re, sys
from worker_conformance.errors import AdapterError
from worker_conformance.port.subprocess_port import StdioPort

for adapter in sys.argv[1:]:
    port = StdioPort((sys.executable, "-S", "-E", adapter), timeout_seconds=5.0)
    try:
        port.initialize()
        port.timeout_seconds = 1.0
        port.handle({"type": "tick", "now": "2026-07-15T00:00:00Z"})
    except AdapterError as broken:
        print(broken.code, port.stderr_tail()[-20:].encode())
    finally:
        port.close()
# Not `ru_maxrss`: that begins with what the process took which started this one.
print(re.search(r"VmHWM:\\s+([0-9]+) kB", open("/proc/self/status").read())[1])
"""
POURING = (
    "endless_line",
    "endless_stderr",
    "endless_stdout",
    "deep_nesting",
    "talkative_stderr",
    "half_a_line",
)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc here")
def test_the_suite_stays_small_beside_adapters_that_pour_out_without_end() -> None:
    adapters = [str(ADAPTERS / f"{name}.py") for name in POURING]
    told = subprocess.run(  # noqa: S603 - our own interpreter and the program above
        [sys.executable, "-c", MEETS_ALL_OF_THEM, *adapters],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=120,
    ).stdout.splitlines()
    assert "line-too-long" in told[0]
    assert int(told[-1]) < MEBIBYTES_MAX * 1024  # kibibytes
