"""Links between the pages lead somewhere: files that exist, headings that are there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
OURS = (
    "README.md",
    "adapters.md",
    "architecture.md",
    "areas.md",
    "ci.md",
    "contributing.md",
    "faq.md",
    "quickstart.md",
    "results.md",
    "spec-findings.md",
    "worker-port.md",
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """Anchors as the usual renderers make them, and those written out."""
    text = re.sub(r"```.*?```", "", text_of(path), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    made = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
    return made | set(re.findall(r'<a id="([^"]+)">', text))


def links() -> Iterator[tuple[str, str]]:
    for name in OURS:
        for target in LINK.findall(text_of(DOCS / name)):
            if "://" not in target:
                yield name, target


@pytest.mark.parametrize(("page", "target"), tuple(links()))
def test_links_lead_to_a_file_and_a_heading_that_exist(page: str, target: str) -> None:
    file, _, anchor = target.partition("#")
    path = (DOCS / file).resolve() if file else DOCS / page
    assert path.exists()
    assert path.is_relative_to(ROOT)
    if anchor:
        assert anchor in anchors(path)


@pytest.mark.parametrize("page", OURS)
def test_pages_end_their_lines_before_they_run_out_of_the_window(page: str) -> None:
    lines = text_of(DOCS / page).splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith(("|", " "))] == []
