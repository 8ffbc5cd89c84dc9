"""Points that a key registry can show as public keys: some that are none, and some that are.

Each stands for one part of the rule for public keys (MWP-SDV-005): reduced, on the curve, not the
identity, in the subgroup of prime order. What is not reduced, or a negative zero, and is not the
identity is never in that subgroup, so that no other spelling stands here. Never signs or verifies.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from worker_conformance.documents import base64url
from worker_conformance.documents.ed25519 import FIELD_PRIME, PUBLIC_KEY_BYTES

_BASE = 4 * pow(5, -1, FIELD_PRIME) % FIELD_PRIME  # the y of the base point (RFC 8032, 5.1)
_NEGATIVE = 1 << 255  # the sign bit of x


def _encoded(number: int) -> str:
    return base64url.encode(number.to_bytes(PUBLIC_KEY_BYTES, "little"))


SMALL_ORDER_POINT = _encoded(0)
"""The point with y = 0: canonical, on the curve, and of order four (MWP-SDV-005)."""

POINTS: Mapping[str, str] = MappingProxyType(
    {
        "identity": _encoded(1),
        "unreduced_identity": _encoded(FIELD_PRIME + 1),
        "mixed_order": _encoded((FIELD_PRIME - _BASE) | _NEGATIVE),  # base point + (0, -1)
        "off_curve": _encoded(2),
        "base_point": _encoded(_BASE),
        "negative_base_point": _encoded(_BASE | _NEGATIVE),
        "largest": _encoded(FIELD_PRIME - 9),
        "smallest": _encoded(26),
    }
)
"""By name. The last four are public keys; `largest` and `smallest` by y, of all that are."""
