"""Values that canonical bytes are easily made wrong of, as data of an Extension Profile.

RFC 8785 writes numbers as ECMAScript does, sorts names by UTF-16 code units, and escapes no more
than it must. Whoever signs or verifies with a JSON library's own spelling comes to other bytes for
each of these, and to the same bytes for nearly everything else. Never signs and never judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import nextafter

from worker_conformance.documents.json_types import JsonObject, JsonValue, find

NUMBERS: JsonObject = {
    "whole": 1e16,  # 10000000000000000, where others write an exponent
    "small": 1e-7,  # 1e-7 with one digit of exponent
    "large": 1e21,  # the first that has an exponent
    "least": 5e-324,
    "tenths": 0.1 + 0.2,  # seventeen digits
    "third": 333333333.33333329,
    "zero": -0.0,  # 0
    "two": 2.0,  # 2
    "power": 2**60,  # 1152921504606847000: the shortest digits, filled up
}

NAMES: JsonObject = {
    "\u20ac": "euro sign",
    "\r": "carriage return",
    "\ufb33": "dalet with dagesh",  # after the smiley, whose first unit is a surrogate
    "1": "one",
    "\U0001f602": "smiley",
    "\u0080": "control",
    "\u00f6": "o with diaeresis",
    "": "no name at all",
}

TEXT: JsonObject = {
    "controls": "\u0000\u0001\b\t\n\f\r\u001f\u007f",
    "quotes": '"\\/</script>',
    "lines": "\u2028\u2029",
    "composed": "\u00e9",
    "decomposed": "e\u0301",
    "beyond": "\U0001f680",
}

HARD_VALUES: Mapping[str, JsonObject] = {"numbers": NUMBERS, "names": NAMES, "text": TEXT}
"""By the word that a vector uses."""

_SMALLEST_CHANGES: Mapping[str, JsonObject] = {
    "numbers": {**NUMBERS, "tenths": nextafter(0.1 + 0.2, 1.0)},
    "names": {**NAMES, "\ufb33": "smiley", "\U0001f602": "dalet with dagesh"},
    "text": {**TEXT, "decomposed": "\u00e9"},
}


def altered(event: JsonObject) -> JsonObject | None:
    """The Event with the smallest change in such data, or None where it carries none."""
    extensions = event.get("extensions")
    if not isinstance(extensions, dict):
        return None
    for uri, carried in extensions.items():
        for name, values in HARD_VALUES.items():
            if isinstance(carried, dict) and find(carried, "data") == values:
                changed: JsonValue = {**carried, "data": _SMALLEST_CHANGES[name]}
                return {**event, "extensions": {**extensions, uri: changed}}
    return None
