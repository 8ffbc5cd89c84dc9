"""Baselines: the failures of a Worker that are known, why, for how long, and how they look."""
