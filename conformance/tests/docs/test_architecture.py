"""The page on the architecture names modules that exist, and every package of the suite."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SUITE = ROOT / "conformance" / "worker_conformance"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMED = sorted(
    set(re.findall(r"\b[a-z_]+/[a-z_]+\.(?:py|yaml)|\b[a-z]+/port/[a-z]+\.[a-z.]+", TEXT))
)
ALONE = sorted(set(re.findall(r"`([a-z_]+\.py)`", TEXT)))
PACKAGES = sorted(path.parent.name for path in SUITE.glob("*/__init__.py"))
LAYERS = {
    "documents": ("documents",),
    "port": ("documents", "port"),
    "scenario": ("documents", "scenario"),
    "organization": ("documents", "scenario", "organization"),
    "judge": (
        "documents",
        "scenario",
        "judge",
        "port.declaration",
        "organization.names",
    ),
}
"""The table "What may know what", for the packages that it limits."""


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module
        and node.module.startswith("worker_conformance.")
    }


@pytest.mark.parametrize("name", NAMED)
def test_every_path_on_the_page_exists(name: str) -> None:
    assert (ROOT / name).exists() or list(SUITE.rglob(name))


@pytest.mark.parametrize("name", ALONE)
def test_every_module_named_alone_exists_in_some_package(name: str) -> None:
    assert list(SUITE.rglob(name))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_its_place_on_the_page(package: str) -> None:
    assert re.search(rf"\b{package}\b", TEXT)


@pytest.mark.parametrize("package", sorted(LAYERS))
def test_packages_know_no_more_than_the_page_says(package: str) -> None:
    allowed = tuple(f"worker_conformance.{one}." for one in LAYERS[package])
    beyond = {
        f"{path.name} imports {module}"
        for path in (SUITE / package).rglob("*.py")
        for module in imports(path)
        if module.split(".")[1] in PACKAGES and not f"{module}.".startswith(allowed)
    }
    assert beyond == set()
