"""What all our HTML pages have in common: templates, own styles and scripts, and the page's policy.

Whatever a Worker has said is escaped, a name that a template misspells is an error, and the policy
lets nothing run that is not our own.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"


def templates(folder: Path = TEMPLATES, **filters: Callable[..., object]) -> Environment:
    """The templates of a folder, with filters of their own."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    return environment


@cache
def own_file(name: str) -> Markup:
    """A style or script of ours, to stand in a page as it is."""
    return Markup((TEMPLATES / name).read_text("utf-8"))  # noqa: S704 - our own file, no input


def policy_hash(content: str) -> str:
    """How a page's Content-Security-Policy names the one style or script that it lets in."""
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"
