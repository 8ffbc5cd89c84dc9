"""The wheel carries what the checkout has: both packages, every vector and every schema."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build wheel and sdist from the checkout, without a network."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return folder


def names_in_wheel(folder: Path) -> set[str]:
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def names_in_sdist(folder: Path) -> set[str]:
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def data_files(folder: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".yaml", ".json"}
    }


@pytest.mark.parametrize("folder", ["vectors", "schemas"])
def test_the_wheel_holds_every_vector_and_schema(built: Path, folder: str) -> None:
    expected = {f"worker_conformance/{name}" for name in data_files(folder)}
    inside = {
        name
        for name in names_in_wheel(built)
        if name.startswith(f"worker_conformance/{folder}/") and name.endswith((".yaml", ".json"))
    }
    assert inside == expected
    assert data_files(folder) <= names_in_sdist(built)


def test_the_wheel_holds_both_packages_and_nothing_of_the_tests(built: Path) -> None:
    tops = {name.split("/")[0] for name in names_in_wheel(built)}
    packages = {name for name in tops if not name.endswith(".dist-info")}
    assert packages == {"reference_worker", "worker_conformance"}


def test_every_module_and_starter_is_in_the_wheel(built: Path) -> None:
    inside = names_in_wheel(built)
    for source in ("reference", "conformance"):
        package = next(path for path in (ROOT / source).iterdir() if (path / "py.typed").exists())
        for path in package.rglob("*"):
            kinds = {".py", ".typed", ".json", ".ini", ".j2", ".css"}
            starter = "starters" in path.parts and "__pycache__" not in path.parts
            if path.is_file() and (path.suffix in kinds or starter):
                assert str(path.relative_to(ROOT / source)) in inside
