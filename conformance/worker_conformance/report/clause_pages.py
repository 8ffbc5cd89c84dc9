"""Where a clause stands on the specification's site.

Knows addresses only; never opens one.
"""

from __future__ import annotations

from collections.abc import Mapping

SITE = "https://missionweaveprotocol.github.io/0.1/reference/specification"

PAGES: Mapping[str, str] = {
    "FND": "foundations",
    "IDN": "identity-registry-and-sessions",
    "SDV": "signed-documents-and-trust",
    "ADM": "first-admission-and-historical-trust",
    "MSN": "missions-groups-and-membership",
    "WRK": "work-scheduling-and-recovery",
    "AUT": "authorization-and-budgets",
    "EVT": "commands-events-and-ordering",
    "EXT": "errors-extensions-and-security",
}
"""The page of each part, by the letters of its clause IDs."""


def clause_link(clause: str) -> str | None:
    """The address of a clause, or None for a text that is no clause ID of the specification."""
    parts = clause.split("-")
    is_one = len(parts) == 3 and parts[0] == "MWP" and parts[1] in PAGES and parts[2].isdigit()
    return clause_page(clause) if is_one else None


def clause_page(clause: str) -> str:
    """The address of a published clause ID (`MWP-WRK-010`). Raises KeyError for any other text."""
    _, part, _ = clause.split("-")
    return f"{SITE}/{PAGES[part]}/#{clause.lower()}"
