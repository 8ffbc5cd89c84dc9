"""A minimal, spec-faithful Worker for MissionWeaveProtocol 0.1."""

from reference_worker._version import __version__
from reference_worker.port import factory

__all__ = ["__version__", "factory"]
