"""Knows where the suite's data folders are: vectors, schemas, starters.

Installed from a wheel they lie inside this package; in a checkout vectors and schemas are top-level
folders of the repository. Never reads their content.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def schemas_path() -> Path:
    """Return the folder that holds `protocol/`, `port/` and the suite's other JSON Schemas."""
    return _data_folder("schemas")


def vectors_path() -> Path:
    """Return the folder that holds the vectors, one folder for each area."""
    return _data_folder("vectors")


def starters_path() -> Path:
    """Return the folder that holds the adapters to begin with, one folder for each language."""
    return _PACKAGE / "starters"


def _data_folder(name: str) -> Path:
    packaged = _PACKAGE / name
    # An editable install has no packaged copy, so its data cannot go stale.
    return packaged if packaged.is_dir() else _CHECKOUT / name
