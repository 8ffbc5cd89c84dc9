"""A minimal, spec-faithful Worker for MissionWeaveProtocol 0.1."""

__version__ = "0.1.0"
