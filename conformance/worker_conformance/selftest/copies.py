"""Private copies of the reference Worker, in which single parts are replaced.

A copy is the whole package imported once more, so that a replacement reaches every user of the part
in this copy and nobody else. Never touches the package that everybody imports.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast
from weakref import WeakKeyDictionary

import reference_worker
from worker_conformance.port.in_process import InProcessWorker

PACKAGE = "reference_worker"

# What a replacement is: it takes the place of a function whose type the copy alone knows.
Part = Callable[..., object] | type | object


class Parts:
    """The modules of one copy."""

    def __init__(self) -> None:
        self._modules = _imported_anew()

    def module(self, name: str) -> Any:  # the copy has no static type
        """A module of the copy by its short name."""
        return self._modules[f"{PACKAGE}.{name}"]

    def get(self, path: str) -> Any:  # as `module`
        """What stands at `module.name` or `module.Class.name`."""
        found = self.module(path.partition(".")[0])
        for name in path.split(".")[1:]:
            found = getattr(found, name)
        return found

    def replace(self, path: str, part: Part) -> None:
        """Put `part` at `path`, and wherever another module imported it by name.

        Raises AttributeError where there is nothing to replace: a fault that has come loose from
        its place must not go unnoticed.
        """
        owner_path, _, name = path.rpartition(".")
        owner, before = self.get(owner_path), self.get(path)
        setattr(owner, name, part)
        for module in self._modules.values():
            if module is not owner and vars(module).get(name) is before:
                setattr(module, name, part)

    def replace_loaded(self, changed: Callable[[Any], Any]) -> None:
        """Find other WorkItems in the journal than were written: `changed` gets each of them."""
        load = self.get("journal.Journal.load")

        def otherwise(journal: Any) -> Any:  # as `module`
            projection = load(journal)
            for item in projection.items:
                projection.items.put(item.work_item_id, changed(item))
            return projection

        self.replace("journal.Journal.load", otherwise)

    def declare(self, **parameters: object) -> None:
        """Declare other parameters than the reference Worker does."""
        declaration = self.get("port.declaration")

        def declared() -> Any:  # as `module`
            original = declaration()
            return {**original, "parameters": {**original["parameters"], **parameters}}

        self.replace("port.declaration", declared)


def _imported_anew() -> dict[str, ModuleType]:
    names = [f"{PACKAGE}.{one.name}" for one in pkgutil.iter_modules(reference_worker.__path__)]
    known = {n: m for n, m in sys.modules.items() if n == PACKAGE or n.startswith(f"{PACKAGE}.")}
    for name in known:
        del sys.modules[name]
    try:
        return {n: importlib.import_module(n) for n in names if not n.endswith("__main__")}
    finally:
        for name in [PACKAGE, *names]:
            sys.modules.pop(name, None)
        sys.modules.update(known)


class Altered:
    """A factory of Workers made from one copy, altered once by `change`."""

    def __init__(self, change: Callable[[Parts], None]) -> None:
        self.__name__ = change.__name__
        self.__module__ = change.__module__
        self.__doc__ = change.__doc__
        self._change = change
        self._parts: Parts | None = None

    def __call__(self) -> InProcessWorker:
        """Make a Worker; the copy is made with the first one."""
        if self._parts is None:
            parts = Parts()
            self._change(parts)
            self._parts = parts
        return cast(InProcessWorker, self._parts.get("port.factory")())


def altered(change: Callable[[Parts], None]) -> Altered:
    """Turn a function that alters a copy into a factory of altered Workers."""
    return Altered(change)


_NOTES: WeakKeyDictionary[object, dict[Any, Any]] = WeakKeyDictionary()


def notes(turn: Any) -> dict[Any, Any]:  # a Turn of the copy
    """A place for an alteration to keep something for the length of one runtime session."""
    return _NOTES.setdefault(turn.runtime.timers, {})
