"""Finds a Worker from what a person writes after `--worker`, and opens Ports to it.

`module:factory` is a Python object in this process, `stdio:<command line>` a process, and
`tcp:<host>:<port>` a server. Mistakes are told before anything runs, with the nearest thing that
exists. Never starts a process by itself.
"""

import difflib
import importlib
import importlib.util
import ipaddress
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
from worker_conformance.port.contract import TIMEOUT_SECONDS
from worker_conformance.port.in_process import InProcessPort, WorkerFactory
from worker_conformance.port.subprocess_port import StdioPort
from worker_conformance.port.tcp import Address, TcpPort

STDIO = "stdio:"
TCP = "tcp:"
RESTART = "--restart"
FORMS = (
    "write 'module:factory' for a Python object, 'stdio:<command line>' for a process or "
    "'tcp:<host>:<port>' for a server"
)
PORT_MAX = 65_535
PORT_DIGITS_MAX = 5
_SERVE = "worker_conformance.port.serve"


@frozen
class PortFactory:
    """Opens any number of independent Ports to one Worker. Plain data: it pickles.

    `spec` is what the user wrote. `command` is the process to start, or what restarts the server
    at `address`; without both the Worker is an object in this process.
    """

    spec: str
    command: tuple[str, ...] = ()
    timeout_seconds: float = TIMEOUT_SECONDS
    address: Address | None = None

    @property
    def transport(self) -> str:
        """`tcp`, `stdio` or `in-process`, as of the Ports that `open` returns."""
        if self.address is not None:
            return "tcp"
        return "stdio" if self.command else "in-process"

    def open(self) -> InProcessPort | StdioPort | TcpPort:
        """Return a new Port, not yet initialized."""
        if self.address is not None:
            return TcpPort(self.address, self.command, timeout_seconds=self.timeout_seconds)
        return self.open_process() if self.command else self.open_in_process()

    def open_in_process(self) -> InProcessPort:
        """Return a Port to an object; only where `spec` names one."""
        return InProcessPort(import_factory(self.spec), timeout_seconds=self.timeout_seconds)

    def open_process(self) -> StdioPort:
        """Return a Port to a process, also for `module:factory`: for crashes during a call."""
        command = self.command or (sys.executable, "-m", _SERVE, self.spec)
        return StdioPort(command, timeout_seconds=self.timeout_seconds)

    def describe(self) -> str:
        """Say in words what would be opened."""
        if self.address is not None:
            restarted = f", restarted by '{shlex.join(self.command)}'" if self.command else ""
            return f"the server at {self.address}{restarted}"
        if self.command:
            return f"the process '{shlex.join(self.command)}'"
        return f"the Python object '{self.spec}'"


def locate(spec: str, timeout_seconds: float = TIMEOUT_SECONDS) -> PortFactory:
    """Return the factory for `spec`; raise `UsageError` where it names nothing that exists.

    A module that is there and fails while it is imported is an `AdapterError`.
    """
    if spec.startswith(STDIO):
        return PortFactory(spec, _command(spec.removeprefix(STDIO), STDIO), timeout_seconds)
    if spec.startswith(TCP):
        address, command = _server(spec)
        return PortFactory(spec, command, timeout_seconds, address)
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


def with_restart(spec: str, restart: str) -> str:
    """Return `spec` with the command that restarts the server it names; empty for none."""
    if not restart:
        return spec
    if not spec.startswith(TCP):
        raise UsageError(
            "restart",
            f"{RESTART} is for a server, and '{spec}' names none",
            "leave it out: whatever the suite starts it also restarts; or name 'tcp:<host>:<port>'",
        )
    return f"{spec} {RESTART} {shlex.quote(restart)}"


def _server(spec: str) -> tuple[Address, tuple[str, ...]]:
    """Read `tcp:<host>:<port>`, which may be followed by `--restart COMMAND`."""
    address, *rest = _words(spec.removeprefix(TCP)) or ("",)
    host, _, port = address.rpartition(":")
    digits = port.lstrip("0")
    if not host or not digits.isdecimal():
        raise UsageError(
            "tcp-address", f"'{TCP}{address}' names no server", "write 'tcp:127.0.0.1:4000', say"
        )
    if len(digits) > PORT_DIGITS_MAX or int(digits) > PORT_MAX:
        hint = f"a port is a number from 1 to {PORT_MAX}"
        raise UsageError("tcp-address", f"the port of '{TCP}{address}' is too high", hint)
    command: tuple[str, ...] = ()
    if rest:
        if len(rest) != 2 or rest[0] != RESTART:
            raise UsageError(
                "tcp-address",
                f"after the address comes '{' '.join(rest)}'",
                f"only {RESTART} and one quoted command may follow it",
            )
        command = _command(rest[1], RESTART)
    return Address(_loopback(host.strip("[]")), int(digits)), command


def _loopback(host: str) -> str:
    """Refuse other machines: a Worker gets private keys, and a path of this one."""
    try:
        near = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        near = False
    if near:
        return host
    raise UsageError(
        "not-loopback",
        f"'{host}' is not the loopback address of this machine",
        "write 127.0.0.1, [::1] or localhost: suite and Worker share a disk",
    )


def _words(line: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(
            "command-line", f"the command line cannot be split: {error}", "close each quotation"
        ) from None


def _command(line: str, after: str) -> tuple[str, ...]:
    words = _words(line)
    if not words:
        raise UsageError("command-line", f"no command stands after '{after}'", FORMS)
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
