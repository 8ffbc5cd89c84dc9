"""The behavioural conformance suite for MissionWeaveProtocol 0.1 Workers."""

__version__ = "0.1.0"
