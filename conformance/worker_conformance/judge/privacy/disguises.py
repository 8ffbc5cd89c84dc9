"""The disguises in which a marker may travel: encodings, spellings, digests.

Turns a marker into the texts to look for, and a text into the digests that could give it away.
Knows no Group, no Trace and no Worker. Encryption, compression and digests under a secret key are
beyond it: what it cannot recognise, the non-interference pairs notice by its effect.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

_DROPPED = bytes(
    code for code in range(128) if not (chr(code).isdigit() or "a" <= chr(code) <= "z")
)

KEY_BYTES = 8
"""Bytes of a digest that tell it: shorter prefixes happen by chance."""

_KEY_MASK = 0xFFFF_FFFF_FFFF_0FFF
"""A UUID made from a digest overwrites four bits of it; they are left out on both sides."""

_HEX_RUN = re.compile(r"[0-9a-f]{16,}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_BASE64_RUN = re.compile(r"[0-9A-Za-z+/_-]{12,}")
_BASE64_STARTS = re.compile(r"[+/_-]")
_BASE64_CHARACTERS = 12  # nine bytes, one more than a key needs
_BASE64_STARTS_MAX = 6  # separators in front of a digest; more are part of it


class Needle(NamedTuple):
    """A text to look for, squeezed, and the name of the disguise."""

    text: str
    how: str


def squeeze(text: str) -> str:
    """Lower case, nothing but letters and digits; the squeeze of a join is the join of squeezes.

    So separators, line breaks, padding, letter case and zero bytes hide nothing.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return text.lower().encode("ascii", "ignore").translate(None, _DROPPED).decode("ascii")


@lru_cache(maxsize=4096)  # courses that are compared have the same markers
def needles(marker: str) -> tuple[Needle, ...]:
    """Every text in which a marker can be read without a key."""
    plain = squeeze(marker)
    found = [Needle(plain, "as it is"), Needle(plain[::-1], "reversed")]
    found += [Needle(digits, "as a number") for digits in _numbers(plain)]
    for spelling in dict.fromkeys((marker, marker.upper())):
        found += _bytes(spelling.encode(), "")
    if not plain.isdigit():  # a number is a text to nobody who hides it
        found += _characters(marker)
        # Both byte orders of UTF-16 have this much in common.
        found += _bytes(marker.encode("utf-16-le")[:-1], " of UTF-16")
    return tuple(dict.fromkeys(found))


def _characters(marker: str) -> Iterator[Needle]:
    """Character by character. Percent-encoding squeezes to hex, which `_bytes` looks for."""
    raw = marker.encode()
    by_byte = f"x{raw.hex('x')}"
    yield Needle(by_byte.replace("x", "u00"), "JSON-escaped")
    yield Needle(by_byte, "escaped byte by byte")
    yield Needle("".join(map(str, raw)), "as character codes")


def _bytes(raw: bytes, of: str) -> Iterator[Needle]:
    yield Needle(raw.hex(), f"hex{of}")
    for shift in range(3):
        yield Needle(_aligned(raw, shift), f"base64{of}")


def _aligned(raw: bytes, shift: int) -> str:
    """What `raw` looks like behind `shift` other bytes, without the characters they reach into.

    base64 and base64url differ in characters that squeezing drops.
    """
    first, last = -(-shift * 8 // 6), (shift + len(raw)) * 8 // 6
    return squeeze(base64.b64encode(b"\0" * shift + raw).decode()[first:last])


def _numbers(plain: str) -> Iterator[str]:
    """A hexadecimal tag as a JSON number, a number in hexadecimal.

    Only the digits that a double keeps: 15 of a tag, all of a numeric marker.
    """
    if plain.isdigit():
        yield f"{int(plain):x}"
    elif re.fullmatch(r"[0-9a-f]{16}", plain):
        yield str(int(plain, 16))[:15]


# --- digests --------------------------------------------------------------------------


class _State(Protocol):
    def digest(self) -> bytes: ...


_Hash = Callable[[bytes], _State]


def _md5(raw: bytes) -> _State:
    return hashlib.md5(raw, usedforsecurity=False)


def _sha1(raw: bytes) -> _State:
    return hashlib.sha1(raw, usedforsecurity=False)


DIGESTS: Mapping[str, tuple[_Hash, bytes]] = {
    "MD5": (_md5, b""),
    "SHA-1": (_sha1, b""),
    "SHA-256": (hashlib.sha256, b""),
    "SHA-384": (hashlib.sha384, b""),
    "SHA-512": (hashlib.sha512, b""),
    "SHA3-256": (hashlib.sha3_256, b""),
    "BLAKE2b": (hashlib.blake2b, b""),
    "BLAKE2s": (hashlib.blake2s, b""),
    "UUIDv5 (URL)": (_sha1, uuid.NAMESPACE_URL.bytes),
    "UUIDv5 (DNS)": (_sha1, uuid.NAMESPACE_DNS.bytes),
    "UUIDv3 (URL)": (_md5, uuid.NAMESPACE_URL.bytes),
}
"""Digests that need no key, each with what is put in front of the text.

Shorter checksums are left out: they meet by chance.
"""


@lru_cache(maxsize=16384)  # courses that are compared tell the same texts
def digest_keys(text: str) -> tuple[int, ...]:
    """The keys of a text under every digest, in the order of `DIGESTS`."""
    raw, read = text.encode(), int.from_bytes
    return tuple(
        read(digest(prefix + raw).digest()[:KEY_BYTES]) & _KEY_MASK
        for digest, prefix in DIGESTS.values()
    )


def key_of(digest: bytes) -> int:
    """The 60 bits by which a digest is told, whole or cut short."""
    return int.from_bytes(digest[:KEY_BYTES]) & _KEY_MASK


def keys_in(text: str) -> Iterator[int]:
    """The keys of whatever in a text might be a digest: in hex, as a UUID, in base64."""
    lower = text.lower()
    for run in _HEX_RUN.findall(lower):
        yield int(run[: 2 * KEY_BYTES], 16) & _KEY_MASK
    if "-" in lower:
        for one in _UUID.findall(lower):
            yield int(one.replace("-", "")[: 2 * KEY_BYTES], 16) & _KEY_MASK
    for run in _BASE64_RUN.findall(text):
        yield from _base64_keys(run)


def _base64_keys(run: str) -> Iterator[int]:
    starts = [0]
    starts += [found.end() for found in _BASE64_STARTS.finditer(run)][:_BASE64_STARTS_MAX]
    for start in starts:
        piece = run[start : start + _BASE64_CHARACTERS]
        if len(piece) == _BASE64_CHARACTERS:
            yield key_of(base64.b64decode(piece.replace("-", "+").replace("_", "/")))


def key_of_number(number: int) -> int | None:
    """The key of a 64-bit number that might be the head of a digest."""
    whole = 1 << (KEY_BYTES * 8)
    return number & _KEY_MASK if whole >> 8 <= number < whole else None
