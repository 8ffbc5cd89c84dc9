"""Privacy over several worlds: pairs that differ in a secret, sweeps that differ in a backlog.

`registry` names the checks, `judging` runs one; the rest plays and compares.
"""
