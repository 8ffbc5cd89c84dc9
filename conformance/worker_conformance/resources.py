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


def vectors_to_extend(here: Path) -> Path | None:
    """Return the vectors of a checkout: the one that `here` lies in, else this suite's own.

    None where neither is one: what an installed suite has among its files is not to be added to.
    """
    for folder in (here, *here.parents):
        if (folder / "vectors" / "requirements.yaml").is_file():
            return folder / "vectors"
    own = vectors_path()
    return None if own.is_relative_to(_PACKAGE) else own


def _data_folder(name: str) -> Path:
    packaged = _PACKAGE / name
    # An editable install has no packaged copy, so its data cannot go stale.
    return packaged if packaged.is_dir() else _CHECKOUT / name
