"""Unpadded base64url in its one canonical spelling (MWP-FND-007).

Never guesses: padding, other alphabets and nonzero unused bits are refused, not repaired.
"""

import base64
import re

_ALPHABET = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)


def encode(content: bytes) -> str:
    """Return the canonical spelling of `content`."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes | None:
    """Return the bytes that `text` spells, or None if it is not their canonical spelling."""
    if _ALPHABET.fullmatch(text) is None or len(text) % 4 == 1:
        return None
    content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    # Two spellings differ only in unused bits of the last character; the encoder leaves them zero.
    return content if encode(content) == text else None
