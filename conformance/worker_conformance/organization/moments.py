"""Moments of virtual time as the documents spell them. Never asks what time it is."""

from __future__ import annotations

from functools import lru_cache

from worker_conformance.scenario.clock import SECOND, moment_of, text_of

__all__ = ["SECOND", "moment_of", "text"]


@lru_cache(maxsize=4096)  # one instant is spelled many times: occurredAt, createdAt, updatedAt, …
def text(now: int) -> str:
    """Spell a moment (microseconds since the scenario's epoch) as RFC 3339."""
    return text_of(now)
