"""The version of the reference Worker, where every module can import it without a cycle."""

__version__ = "0.1.0"
