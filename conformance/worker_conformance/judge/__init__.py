"""Judging: the Trace, the monitors that watch it, and the verdicts they come to."""
