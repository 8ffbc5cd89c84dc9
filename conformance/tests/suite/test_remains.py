"""Nothing is left behind, however a run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PLAYS_FOR_EVER = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and one under nohup this
from worker_conformance.port.locate import locate
from worker_conformance.suite.bench import Bench
from worker_conformance.suite.checks import scenarios

with Bench(locate(f"stdio:{sys.executable} -m reference_worker")) as bench:
    while True:
        bench.play(scenarios()["REPLAY-0001"], 1)
        print(bench._folder, flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_no_folder_and_no_process_outlives_the_suite(how: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    suite = subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", PLAYS_FOR_EVER],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    assert suite.stdout is not None
    folder = Path(suite.stdout.readline().strip())
    assert folder.is_relative_to(tmp_path)
    suite.send_signal(how)
    try:
        # The guard and the Worker hold the other ends of the pipe: it closes when all are gone.
        suite.communicate(timeout=60)
    finally:
        suite.kill()
    _wait_until_gone(folder)
    assert not folder.exists()
    assert not [one for one in _command_lines() if str(folder) in one]


def _wait_until_gone(folder: Path) -> None:
    """The guard answers to nobody: look until it is done, for a bounded number of times."""
    for _ in range(200):
        if not folder.exists():
            return
        subprocess.run([sys.executable, "-S", "-c", ""], check=True)


def _command_lines() -> list[str]:
    return [
        path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if os.access(path, os.R_OK)
    ]
