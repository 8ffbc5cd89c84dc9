"""What the site has besides the pages of docs/: repository files, and a page for each requirement.

The pages link to files of the repository (`../vectors/…`), as is right where the repository is
browsed. On the site these files are copied below `source/`, and the links lead there. Each section
of requirements.md also becomes a page of its own that a reviewer can link to.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
REQUIREMENTS = "requirements.md"
LOG = logging.getLogger("mkdocs.hooks.site")
LOADED = re.compile(
    r"""<(?:script|img|iframe|link rel="(?:stylesheet|preload|icon)")[^>]*"""
    r"""(?:src|href)="(?P<from>(?:https?:)?//[^"]+)\""""
)
LINK = re.compile(r"(?<=\]\()(?P<target>[^)#\s]+)(?P<rest>#[^)\s]*)?(?=\))")
SECTION = re.compile(r"^### (?P<id>\S+)\n(?P<text>.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, *, config: Any) -> Files:
    """Add the repository's files that a page links to, and the pages of requirements."""
    for path in sorted(set(_linked(DOCS.glob("*.md")))):
        if path.suffix == ".md":
            continue
        content = path.read_text("utf-8") if path.is_file() else _listing(path)
        files.append(File.generated(config, _place(path), content=content))
    for name, text in _requirements():
        page = File.generated(config, f"requirement/{name.lower()}.md", content=text)
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    for path in _readmes():
        page = File.generated(config, _place(path), content=path.read_text("utf-8"))
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Let links to files of the repository lead to their copies."""
    source = page.file.src_uri
    here = _origin(source)
    depth = len(PurePosixPath(source).parents) - 1

    def moved(match: re.Match[str]) -> str:
        target, rest = match["target"], match["rest"] or ""
        path = (here.parent / target).resolve()
        if "://" in target or not path.is_relative_to(ROOT):
            return match[0]
        if path.is_relative_to(DOCS):
            return "../" * depth + path.relative_to(DOCS).as_posix() + rest
        return "../" * depth + _place(path) + (rest if path.suffix == ".md" else "")

    text = LINK.sub(moved, markdown)
    return _with_pages(text) if source == REQUIREMENTS else text


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """Refuse, in a strict build, whatever a page would load from elsewhere."""
    for match in LOADED.finditer(output):
        LOG.warning("%s loads %s", page.file.src_uri, match["from"])
    return output


def _origin(source: str) -> Path:
    """Where a page's links are meant from."""
    if source.startswith("requirement/"):
        return DOCS / REQUIREMENTS
    if source.startswith("source/"):
        return ROOT / source.removeprefix("source/")
    return DOCS / source


def _linked(pages: Iterator[Path]) -> Iterator[Path]:
    """The repository's files and folders outside docs/ that pages link to."""
    for page in (*pages, *_readmes()):
        for match in LINK.finditer(page.read_text("utf-8")):
            target = match["target"]
            path = (page.parent / target).resolve()
            if "://" in target or path.is_relative_to(DOCS) or not path.is_relative_to(ROOT):
                continue
            if path.is_dir() and (path / "README.md").is_file():
                continue
            yield path


def _readmes() -> tuple[Path, ...]:
    return tuple(
        path
        for name in ("vectors", "tests", "reference", "examples")
        if (path := ROOT / name / "README.md").is_file()
    )


def _place(path: Path) -> str:
    """Where a file or folder of the repository stands on the site."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        told = "README.md" if (path / "README.md").is_file() else "files.txt"
        return f"source/{name}/{told}"
    # As text a browser shows it; by its own name it would offer to save it.
    return f"source/{name}" if path.suffix == ".md" else f"source/{name}.txt"


def _listing(folder: Path) -> str:
    names = (each.relative_to(ROOT).as_posix() for each in sorted(folder.rglob("*")))
    return "\n".join(name for name in names if "__pycache__" not in name) + "\n"


def _requirements() -> Iterator[tuple[str, str]]:
    text = (DOCS / REQUIREMENTS).read_text("utf-8")
    for match in SECTION.finditer(text):
        up = f"[All requirements](requirements.md#{_slug(match['id'])})"
        yield match["id"], f"# {match['id']}\n{match['text'].rstrip()}\n\n{up}\n"


def _with_pages(text: str) -> str:
    """Below each heading of a requirement, a link to its own page."""

    def linked(match: re.Match[str]) -> str:
        name = match["id"]
        told = f"[a page of its own](requirement/{name.lower()}.md)"
        return f"### {name}\n\n{told}\n{match['text']}"

    return SECTION.sub(linked, text)


def _slug(text: str) -> str:
    return re.sub(r"[^\w-]", "", text.lower())
