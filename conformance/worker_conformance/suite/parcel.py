"""What a judging process hands to the collecting one: a result and what the monitors saw.

The collecting process may be the same or, with several jobs, another one on this machine.
"""

from __future__ import annotations

import base64
import pickle
from collections.abc import Mapping

from attrs import field, frozen

from worker_conformance.judge.verdicts import CheckResult
from worker_conformance.suite.play import Sighting


@frozen
class Parcel:
    """One played check; `coverage` is what its generated worlds reached."""

    result: CheckResult
    sightings: tuple[Sighting, ...]
    coverage: Mapping[str, int] = field(factory=dict)

    def wrap(self) -> str:
        """As one line of ASCII, for pytest's `user_properties`."""
        return base64.b85encode(pickle.dumps(self)).decode("ascii")

    @classmethod
    def unwrap(cls, text: str) -> Parcel:
        """Read what `wrap` wrote, in a process of the same run."""
        parcel = pickle.loads(base64.b85decode(text))  # noqa: S301 - written by our own process
        if not isinstance(parcel, cls):
            raise TypeError(f"not a parcel: {type(parcel).__name__}")
        return parcel
