"""Finds a Worker from what a person writes after `--worker`, and opens Ports to it.

`module:factory` is a Python object in this process, `stdio:<command line>` a process. Mistakes are
told before anything runs, with the nearest thing that exists. Never starts a process by itself.
"""

import difflib
import importlib
import importlib.util
import os
import shlex
import shutil
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import cast

from attrs import frozen

from worker_conformance.errors import AdapterError, UsageError
from worker_conformance.port.contract import Port
from worker_conformance.port.in_process import InProcessPort, WorkerFactory
from worker_conformance.port.subprocess_port import TIMEOUT_SECONDS, StdioPort

STDIO = "stdio:"
FORMS = "write 'module:factory' for a Python object or 'stdio:<command line>' for a process"
_SERVE = "worker_conformance.port.serve"


@frozen
class PortFactory:
    """Opens any number of independent Ports to one Worker. Plain data: it pickles.

    `spec` is what the user wrote, `command` the process to start (empty: in this process).
    """

    spec: str
    command: tuple[str, ...] = ()
    timeout_seconds: float = TIMEOUT_SECONDS

    @property
    def transport(self) -> str:
        """`stdio` or `in-process`, as of the Ports that `open` returns."""
        return "stdio" if self.command else "in-process"

    def open(self) -> Port:
        """Return a new Port, not yet initialized."""
        return self.open_process() if self.command else self.open_in_process()

    def open_in_process(self) -> InProcessPort:
        """Return a Port to an object; only where `spec` names one."""
        return InProcessPort(import_factory(self.spec))

    def open_process(self) -> StdioPort:
        """Return a Port to a process, also for `module:factory`: for crashes during a call."""
        command = self.command or (sys.executable, "-m", _SERVE, self.spec)
        return StdioPort(command, self.timeout_seconds)

    def describe(self) -> str:
        """Say in words what would be opened."""
        if self.command:
            return f"the process '{shlex.join(self.command)}'"
        return f"the Python object '{self.spec}'"


def locate(spec: str, timeout_seconds: float = TIMEOUT_SECONDS) -> PortFactory:
    """Return the factory for `spec`; raise `UsageError` where it names nothing that exists.

    A module that is there and fails while it is imported is an `AdapterError`.
    """
    if spec.startswith(STDIO):
        return PortFactory(spec, _command(spec.removeprefix(STDIO)), timeout_seconds)
    import_factory(spec)
    return PortFactory(spec, timeout_seconds=timeout_seconds)


def import_factory(spec: str) -> WorkerFactory:
    """Import `module:factory`; the working directory is searched too, as `python -m` does."""
    module_name, colon, attribute = spec.partition(":")
    if not colon or not module_name or not attribute:
        raise UsageError("worker-spec", f"'{spec}' names no Worker", FORMS)
    found = _attribute(_module(module_name), attribute, spec)
    if not callable(found):
        raise UsageError(
            "not-callable",
            f"'{spec}' is of type '{type(found).__name__}', not a function or class",
            "name what returns a new Worker when it is called without arguments",
        )
    return cast(WorkerFactory, found)


def _command(line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(
            "command-line", f"the command line cannot be split: {error}", "close each quotation"
        ) from None
    if not words:
        raise UsageError("command-line", "no command stands after 'stdio:'", FORMS)
    if shutil.which(words[0]) is None:
        raise _no_command(words[0])
    return words


def _no_command(name: str) -> UsageError:
    if Path(name).is_dir():
        return UsageError("not-executable", f"'{name}' is a directory", "name a program in it")
    if Path(name).is_file() and os.sep in name:
        return UsageError(
            "not-executable",
            f"'{name}' is there, but may not be executed",
            f"make it executable (chmod +x {shlex.quote(name)}) or name its interpreter",
        )
    if Path(name).is_file():
        return UsageError(
            "command-not-found",
            f"'{name}' is a file in this directory, but not on the search path",
            f"write './{name}', or name its interpreter",
        )
    return UsageError(
        "command-not-found", f"there is no command '{name}'", "check its spelling and PATH"
    )


def _module(name: str) -> ModuleType:
    _search_working_directory()
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _import_failed(name, error) from None
        raise UsageError(
            "module-not-found",
            f"there is no module '{error.name}'",
            f"install it into this Python ({sys.executable}), or run from the directory that "
            "holds it",
        ) from None
    except Exception as error:  # noqa: BLE001 - foreign code may raise anything
        raise _import_failed(name, error) from None


def _search_working_directory() -> None:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


def _import_failed(name: str, error: Exception) -> AdapterError:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return AdapterError(
        "import-failed",
        f"importing '{name}' raised {type(error).__name__}: {error}",
        f"it was raised at {frame.filename}:{frame.lineno}; try python -c 'import {name}'",
    )


def _attribute(module: ModuleType, path: str, spec: str) -> object:
    found: object = module
    for name in path.split("."):
        if not hasattr(found, name):
            near = difflib.get_close_matches(name, dir(found), n=1)
            raise UsageError(
                "no-such-attribute",
                f"'{spec}': there is no '{name}' in '{module.__name__}'",
                f"did you mean '{near[0]}'?" if near else "name a function or class in it",
            )
        found = getattr(found, name)
    return found
