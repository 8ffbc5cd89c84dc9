"""The digest of an adapter: over the files that its locator names.

Says whether the adapter of one run is the adapter of another. Covers the program or script that is
named, or the modules of the package that is; never what those load in turn, nor the interpreter
that the search path supplies. Never runs or imports anything.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
from hashlib import sha256
from pathlib import Path

from worker_conformance.documents.canonical import sha256_of
from worker_conformance.port.locate import STDIO, TCP

FILES_MAX = 1_000  # a package that is larger is named by its version, not by its files


def adapter_digest(spec: str) -> str | None:
    """`sha256:…` over the files that the locator `spec` names; None where it names none.

    Of `stdio:` these are the words of the command line that are files, without a program that is
    found on the search path; of `module:factory` the Python files of the module's package.
    """
    if spec.startswith(TCP):
        return None
    try:
        files = _named_files(spec) if spec.startswith(STDIO) else _module_files(spec)
        told = {name: sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    except (OSError, ValueError, ImportError, AttributeError):
        return None  # the digest is a courtesy; what is wrong here is told by those who need it
    return sha256_of(dict(told)) if told and len(told) <= FILES_MAX else None


def _named_files(spec: str) -> dict[str, Path]:
    program, *arguments = shlex.split(spec.removeprefix(STDIO))
    words = [program, *arguments] if os.sep in program else arguments
    return {word: Path(word) for word in words if Path(word).is_file()}


def _module_files(spec: str) -> dict[str, Path]:
    top = spec.partition(":")[0].partition(".")[0]
    found = importlib.util.find_spec(top)
    if found is None or found.origin is None:
        return {}
    origin = Path(found.origin)
    if not found.submodule_search_locations:
        return {origin.name: origin}
    return {
        path.relative_to(origin.parent).as_posix(): path
        for path in sorted(origin.parent.rglob("*.py"))
    }
