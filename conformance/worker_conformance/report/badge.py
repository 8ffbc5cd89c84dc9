"""A badge: what may be said of a Worker, in a few words, as an SVG for a README.

Says no more than the claim does; where there is no claim it says so. Needs no font and no server.
"""

from markupsafe import escape

from worker_conformance.report.telling import visible

LABEL = "Worker conformance"

GREEN, RED, GREY = "#1a7f37", "#b3261e", "#59636e"
"""White text on each of them has a contrast above 4.5."""

CHARACTER_WIDTH = 6.5  # pixels at 11 px; `textLength` fits whatever font there is to it
PADDING = 7
NAMED_MAX = 2  # areas that are named; more are counted


def message_of(scope: str, areas: list[str], version: str) -> str:
    """The right half for a claim: its scope, and the suite's version."""
    words = {"all-areas": "all areas", "core-areas": "core areas"}
    narrow = ", ".join(areas) if len(areas) <= NAMED_MAX else f"{len(areas)} areas"
    return f"{words.get(scope, narrow)} · {visible(version)}"


def to_svg(message: str, color: str, words: str) -> str:
    """Spell a badge; `words` are what a screen reader says and a pointer shows."""
    left, right = (_width(text) for text in (LABEL, message))
    total = left + right
    said = escape(visible(words).replace("\n", " "))
    shown = escape(message)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="20" role="img" aria-label="{said}">
<title>{said}</title>
<clipPath id="r"><rect width="{total}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="20" fill="#3a434d"/>
<rect x="{left}" width="{right}" height="20" fill="{color}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" aria-hidden="true">
<text x="{PADDING}" y="14" textLength="{left - 2 * PADDING}">{LABEL}</text>
<text x="{left + PADDING}" y="14" textLength="{right - 2 * PADDING}">{shown}</text>
</g>
</svg>
"""


def _width(text: str) -> int:
    return round(len(text) * CHARACTER_WIDTH) + 2 * PADDING
