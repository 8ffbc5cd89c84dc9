"""Values by identifier that remember the present call: what is known now, and what was before it.

Knows nothing of what the values are, and never judges.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView
from typing import Generic, TypeVar

from attrs import define, field

Value = TypeVar("Value")


@define
class Layered(Generic[Value]):
    """Values by identifier, with what they were before and during the present call."""

    _now: dict[str, Value] = field(factory=dict)
    _before: dict[str, Value | None] = field(factory=dict)
    _learned: dict[str, list[Value]] = field(factory=dict)

    def new_call(self) -> None:
        """From here on, what is known now counts as known before."""
        self._before.clear()
        self._learned.clear()

    def set(self, key: str, value: Value) -> None:
        """Learn a value in the present call."""
        self._before.setdefault(key, self._now.get(key))
        self._learned.setdefault(key, []).append(value)
        self._now[key] = value

    def during(self, key: str) -> list[Value]:
        """What was known when the present call began, and each value learned in it.

        A Worker may handle the Events of one call one by one: any of these may justify an effect.
        """
        before = self.before(key)
        return [*([] if before is None else [before]), *self._learned.get(key, ())]

    def now(self, key: str) -> Value | None:
        """What is known, the present call included."""
        return self._now.get(key)

    def before(self, key: str) -> Value | None:
        """What was known when the present call began."""
        return self._before[key] if key in self._before else self._now.get(key)

    def values(self) -> Iterator[Value]:
        """Everything known now."""
        return iter(self._now.values())

    def keys(self) -> KeysView[str]:
        """The identifiers known now, whenever it is looked at."""
        return self._now.keys()

    def changed(self) -> KeysView[str]:
        """The identifiers of which something was learned in the present call."""
        return self._learned.keys()

    def clear(self) -> None:
        """Forget everything."""
        self._now.clear()
        self._before.clear()
        self._learned.clear()
