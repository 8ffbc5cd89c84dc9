"""Every command in the pages is run: those of `sh` blocks, in the README and below docs/.

The command line is the real one. What judges a Worker for minutes is answered by an engine with a
stored result; what cannot run here stands in NOT_RUN, each with its reason.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from configparser import ConfigParser
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from attrs import evolve

from worker_conformance.baseline import file as baseline_file
from worker_conformance.cli.entry import call
from worker_conformance.judge.trace import Trace
from worker_conformance.judge.verdicts import RunResult
from worker_conformance.report import json_report
from worker_conformance.suite import checks, engine
from worker_conformance.suite.checks import CheckInfo
from worker_conformance.suite.engine import ProgressListener, RunOptions

ROOT = Path(__file__).parents[3]
PAGES = (
    *sorted(ROOT.glob("*/README.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "README.md",
)
STORED = ROOT / "conformance" / "tests" / "report" / "data" / "result-2-passing.json"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLUGIN = "worker_conformance.pytest_plugin"

NOT_RUN: Mapping[str, str] = {
    "python -m pip install": "installs from an index; the wheel has tests of its own",
    "python -m venv": "makes an environment, and changes the shell it is typed in",
    "git clone": "the address is the reader's",
    "cd ": "changes the shell it is typed in",
    "cargo build": "needs a Rust toolchain; starters are built by the tests of init",
    "python -m worker_conformance.selftest.automatic": "judges mutants for hours",
    "python -m worker_conformance.selftest.seeds": "plays every mutant and variant for an hour",
    "python -m worker_conformance.selftest.runs": "repeats the ordinary run for hours",
    "python benchmarks/": "measures for minutes, and wants an idle machine",
    "python -m reference_worker": "its help is a test of the reference Worker's",
    "tox run": "is what runs these tests",
    'worker-conformance doctor "stdio:target/release': "needs the program that cargo builds",
    'worker-conformance doctor "stdio:examples/': "example Workers have tests of their own",
    'worker-conformance doctor "stdio:node examples/': "as above, and it needs Node",
    'worker-conformance doctor "stdio:./my-': "needs the reader's own program",
    'worker-conformance doctor "tcp:': "needs the reader's own server",
}
"""How a command begins that is not run here, and why."""


def commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in BLOCK.findall(page.read_text("utf-8")):
            lines = (line.split("  #")[0].strip() for line in block.splitlines())
            name = page.relative_to(ROOT).as_posix()
            found += [(name, line) for line in lines if line and not line.startswith("#")]
    return found


def copied() -> list[tuple[str, str]]:
    """Commands of the workflow and of the tox environments to copy."""
    text = (ROOT / "docs" / "ci.md").read_text("utf-8")
    found = re.findall(r"^\s+(?:- run: )?((?:worker-conformance|pytest) .*)$", text, re.MULTILINE)
    filled = (one.replace("{envpython}", "python").replace(" {posargs}", "") for one in found)
    return [("docs/ci.md", one) for one in filled]


def is_run(command: str) -> bool:
    return not command.startswith(tuple(NOT_RUN))


class StoredEngine:
    """Takes the options of a run as the real one does, and answers with a stored result."""

    def run(self, options: RunOptions, listener: ProgressListener) -> RunResult:
        listener.planned(0)
        result = json_report.read(STORED)
        return evolve(result, worker=evolve(result.worker, adapter=options.worker))

    def catalogue(self) -> tuple[CheckInfo, ...]:
        return CATALOGUE

    def replay(self, path: Path, options: RunOptions) -> RunResult:
        return engine.replay(path, options)

    def rejudge(self, trace: Trace, path: Path) -> RunResult:
        return engine.rejudge(trace, path)


class ClaimingEngine(StoredEngine):
    """Knows no check that the stored result lacks."""

    def catalogue(self) -> tuple[CheckInfo, ...]:
        return ()


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what a reader has by then: a Worker, results, a claim, a baseline."""
    result = json_report.read(STORED)
    monkeypatch.setattr(checks, "requirement_digest", lambda: result.requirement_digest)
    monkeypatch.setattr(checks, "vector_digest", lambda: result.vector_digest)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    for folder in ("before", "after", "one", "two", "conformance-report"):
        (tmp_path / folder).mkdir()
        json_report.write(result, tmp_path / folder / "result.json")
    call(["claim", "conformance-report/result.json"], ClaimingEngine())
    baseline_file.write(tmp_path / "known.yaml", [])
    for name in ("vectors", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    (tmp_path / "my_worker.py").write_text(code, "utf-8")
    shutil.copytree(ROOT / "conformance/worker_conformance/starters/python", tmp_path / "my-worker")
    return tmp_path


CATALOGUE = engine.catalogue()
OURS = tuple(
    pytest.param(command, id=f"{page}:{command}")
    for page, command in dict.fromkeys([*commands(), *copied()])
    if is_run(command) and command.startswith("worker-conformance ")
)
PYTESTS = sorted({one for _, one in commands() if is_run(one) and one.startswith("pytest ")})


@pytest.mark.parametrize("command", OURS)
def test_a_command_of_the_pages_does_what_is_said(
    command: str, workplace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(command)[1:]
    if words[0] == "init":
        shutil.rmtree(workplace / "my-worker")
    claiming = words[0] in ("claim", "verify", "badge")
    code = call(words, ClaimingEngine() if claiming else StoredEngine())
    told = capfd.readouterr()
    may_fail = (0, 3) if words[0] == "doctor" else (0,)  # the ten lines of the README lack much
    assert code in may_fail, told.out + told.err


def test_pytest_takes_the_options_of_the_pages(tmp_path: Path) -> None:
    named = {one.name for one in entry_points(group="pytest11")}
    plugin = [] if PLUGIN in named else ["-p", PLUGIN]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    words = [word for line in PYTESTS for word in shlex.split(line)[1:]]
    options = list(dict.fromkeys(words))
    assert {"--pyargs", "-m", "-k", "-n", "--lf", "-x"} <= set(options)
    longest = max(PYTESTS, key=len)
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [
            sys.executable,
            "-m",
            "pytest",
            *plugin,
            *shlex.split(longest)[1:],
            "--collect-only",
            "-q",
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_other_command_has_a_reason_not_to_be_run() -> None:
    known = ("worker-conformance ", "pytest ")
    strange = [one for _, one in commands() if is_run(one) and not one.startswith(known)]
    assert strange == []
    unused = [word for word in NOT_RUN if not any(one.startswith(word) for _, one in commands())]
    assert unused == ["tox run"] or unused == []


def test_what_is_to_be_copied_can_be_read() -> None:
    text = (ROOT / "docs" / "ci.md").read_text("utf-8")
    (workflow,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    steps = yaml.safe_load(workflow)["jobs"]["conformance"]["steps"]
    assert [step["run"] for step in steps if "run" in step][1].startswith("worker-conformance run")
    (environments,) = re.findall(r"^```ini\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    settings = ConfigParser(interpolation=None)
    settings.read_string(environments)
    assert settings.sections() == ["testenv:conformance", "testenv:conformance-pytest"]
    assert len(copied()) == 4


def test_the_baseline_of_the_page_can_be_used(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    (text,) = re.findall(r"^```yaml\n(baseline: .*?)^```$", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / "known.yaml"
    path.write_text(text, "utf-8")
    (entry,) = baseline_file.load(path).entries.values()
    assert entry.check_id in {info.check_id for info in CATALOGUE}


def test_the_page_on_results_names_every_member() -> None:
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    schema = json.loads((ROOT / "schemas" / "report.schema.json").read_bytes())
    members = set(schema["properties"])
    members |= set(schema["$defs"]["check"]["properties"])
    members |= set(schema["$defs"]["excuse"]["properties"])
    members |= {"expected", "observed", "transcript", "stderr", "step"}
    members |= {f"failure.{one}" for one in ("timeline", "views", "vector")}
    entry = json.loads((ROOT / "schemas" / "baseline.schema.json").read_bytes())["$defs"]["entry"]
    members |= set(entry["properties"])
    assert [name for name in sorted(members) if f"`{name}`" not in page] == []
    version = schema["properties"]["schemaVersion"]["const"]
    assert f"\n| {version} | " in page
