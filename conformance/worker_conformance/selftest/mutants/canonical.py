"""Faults of canonical bytes: spelled as a library does, or not looked at where that fails."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any

import rfc8785

from worker_conformance.selftest.copies import Parts, altered
from worker_conformance.selftest.mutants.base import mutant

Speller = Callable[[Any], str]


def _spelled(value: Any, number: Speller, text: Speller, order: Callable[[str], Any]) -> str:
    """Canonical text with one habit of its own."""
    if isinstance(value, dict):
        members = (
            f"{text(name)}:{_spelled(value[name], number, text, order)}"
            for name in sorted(value, key=order)
        )
        return f"{{{','.join(members)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(_spelled(one, number, text, order) for one in value)}]"
    if isinstance(value, str):
        return text(value)
    return json.dumps(value) if value is None or isinstance(value, bool) else number(value)


def _ecmascript(number: float) -> str:
    return rfc8785.dumps(float(number)).decode()


def _escaped_as_needed(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _utf16(name: str) -> bytes:
    return name.encode("utf-16-be", "surrogatepass")


@altered
def numbers_as_the_library_writes_them(parts: Parts) -> None:
    """Hashes numbers in the spelling of its JSON library."""
    parts.replace(
        "documents.canonical",
        lambda value: _spelled(value, json.dumps, _escaped_as_needed, _utf16).encode(),
    )


@altered
def names_in_the_order_of_code_points(parts: Parts) -> None:
    """Sorts member names by code points."""
    parts.replace(
        "documents.canonical",
        lambda value: _spelled(value, _ecmascript, _escaped_as_needed, str).encode(),
    )


@altered
def texts_tidied_up(parts: Parts) -> None:
    """Hashes texts in Unicode's composed form."""

    def composed(text: str) -> str:
        return _escaped_as_needed(unicodedata.normalize("NFC", text))

    parts.replace(
        "documents.canonical",
        lambda value: _spelled(value, _ecmascript, composed, _utf16).encode(),
    )


@altered
def lets_pass_what_it_cannot_hash(parts: Parts) -> None:
    """Verifies no document that holds a number or a text which its hashing gives up on."""
    covered, key = parts.get("documents.without_signature"), parts.get("signatures._public_key")
    seen = {"hard": False}

    def looked_at(document: Any) -> bytes:
        plain = json.dumps(document, ensure_ascii=False)
        seen["hard"] = not plain.isascii() or "\\u" in plain or "e-" in plain or "e+" in plain
        return bytes(covered(document))

    class Lenient:
        def __init__(self, raw: Any) -> None:
            self._key = key(raw)

        def verify(self, signature: bytes, message: bytes) -> None:
            if not seen["hard"]:
                self._key.verify(signature, message)

    parts.replace("documents.without_signature", looked_at)
    parts.replace("signatures._public_key", Lenient)


MUTANTS = (
    mutant(
        numbers_as_the_library_writes_them,
        "FND-006.b",
        "SIGN-0062",
        "json.dumps with sorted keys and no spaces, which is nearly RFC 8785.",
    ),
    mutant(
        names_in_the_order_of_code_points,
        "FND-006.b",
        "SIGN-0064",
        "The sort of the language, in a language whose strings are not UTF-16.",
    ),
    mutant(
        texts_tidied_up,
        "FND-006.b",
        "SIGN-0066",
        "A text column or a reader that normalizes Unicode.",
    ),
    mutant(
        lets_pass_what_it_cannot_hash,
        "FND-006.b",
        "SIGN-0063 SIGN-0065 SIGN-0067",
        "An exception of the canonicalizer that is caught beside the one for a bad signature.",
    ),
)
