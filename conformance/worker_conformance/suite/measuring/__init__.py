"""Measuring a Worker behind its Port: decisions, Replay, restarts, disclosures, memory.

`stopwatch` stands between the suite and the Worker, `scene` plays one backlog, `rounds` repeats
scenes, `catalogue` makes figures of them, `figures` holds these. Nothing here judges.
"""
