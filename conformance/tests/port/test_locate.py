"""Finding a Worker from what a person wrote, and telling what is wrong with it."""

import pickle
import sys
from pathlib import Path

import pytest

from worker_conformance.errors import AdapterError, SuiteFailure, UsageError
from worker_conformance.port.locate import locate

MISTAKES: dict[str, tuple[str, str, str]] = {
    "no colon": ("well_behaved", "worker-spec", "module:factory"),
    "nothing after the colon": ("well_behaved:", "worker-spec", "module:factory"),
    "no such module": ("no_such_module:x", "module-not-found", "install it"),
    "no such submodule": ("json.no_such:x", "module-not-found", "install it"),
    "a misspelt attribute": ("well_behaved:Workr", "no-such-attribute", "did you mean 'Worker'?"),
    "no factory": ("well_behaved:DECLARATION", "not-callable", "without arguments"),
    "no command": ("stdio:", "command-line", "module:factory"),
    "an open quotation": ("stdio:'x", "command-line", "quotation"),
    "a port that is none": ("tcp:127.0.0.1:0", "tcp-address", "tcp:127.0.0.1:4000"),
    "a port too high": ("tcp:127.0.0.1:99999", "tcp-address", "from 1 to 65535"),
    "a port of many digits": ("tcp:[::1]:" + "9" * 5_000, "tcp-address", "from 1 to 65535"),
    "no such command": ("stdio:no-such-command --x", "command-not-found", "spelling"),
}


@pytest.mark.usefixtures("adapters")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_with_what_to_write_instead(name: str) -> None:
    spec, code, hint = MISTAKES[name]
    with pytest.raises(UsageError) as caught:
        locate(spec)
    assert caught.value.code == code
    assert hint in caught.value.hint


def test_files_that_cannot_run_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "worker").write_text("")
    (tmp_path / "folder").mkdir()
    assert "./worker" in failure("stdio:worker").hint
    assert "chmod +x" in failure("stdio:./worker").hint
    assert "directory" in failure("stdio:./folder").cause


def test_a_module_in_the_working_directory_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_worker_of_my_own.py").write_text("class Outer:\n    make = dict\n")
    assert locate("a_worker_of_my_own:Outer.make").transport == "in-process"


def test_a_module_that_fails_to_import_is_a_broken_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "a_broken_worker.py").write_text("import no_such_dependency\n")
    found = failure("a_broken_worker:make")
    assert isinstance(found, AdapterError)
    assert "no_such_dependency" in found.cause
    assert "a_broken_worker.py:1" in found.hint


def test_a_factory_pickles_and_opens_independent_ports(adapters: Path) -> None:
    factory = pickle.loads(pickle.dumps(locate("well_behaved:Worker")))  # noqa: S301 - our own bytes
    one, two = factory.open(), factory.open()
    one.initialize()
    two.initialize()
    one.crash()
    two.shutdown()
    assert adapters.is_dir()


def test_a_command_line_is_split_as_a_shell_would() -> None:
    factory = locate(f"stdio:{sys.executable} -c 'print(1)'", timeout_seconds=3)
    assert factory.command == (sys.executable, "-c", "print(1)")
    assert factory.transport == "stdio"
    assert factory.open().transport == "stdio"
    assert "print(1)" in factory.describe()


def failure(spec: str) -> SuiteFailure:
    with pytest.raises(SuiteFailure) as caught:
        locate(spec)
    return caught.value
