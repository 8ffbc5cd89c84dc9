"""Text that came out of a Worker, made harmless for Markdown, workflow commands and XML.

Never decides what is said.
"""

import re

from worker_conformance.report.telling import visible


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line, also in a cell of a table."""
    one_line = " ".join(visible(text).split())
    return re.sub(r"([\\`*_{}\[\]<>#|!&~$@])", _entity_or_escape, one_line)


def code(text: str) -> str:
    """Text as Markdown code, also in a cell of a table."""
    one_line = " ".join(visible(text).split()).replace("`", "'").replace("|", "\\|")
    return f"`{one_line}`" if one_line else ""


def _entity_or_escape(match: re.Match[str]) -> str:
    entities = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "&#64;"}
    return entities.get(match[0], f"\\{match[0]}")
