"""Where a clause stands on the specification's site.

Knows addresses only; never opens one.
"""

from __future__ import annotations

import re
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

_CLAUSE = re.compile(rf"MWP-(?P<part>{'|'.join(PAGES)})-\d{{3}}", re.ASCII)


def clause_link(clause: str) -> str | None:
    """The address of a clause, or None for a text that is no published clause ID."""
    is_one = _CLAUSE.fullmatch(clause)
    return f"{SITE}/{PAGES[is_one['part']]}/#{clause.lower()}" if is_one else None
