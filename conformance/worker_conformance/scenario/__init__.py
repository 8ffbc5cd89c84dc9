"""Scenarios: what a world looks like, what happens in it, and what must be seen."""
