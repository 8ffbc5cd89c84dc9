"""Checks that compare worlds: pairs that differ in a secret, sweeps that differ in a backlog, twins
that differ in one improvement or in nothing.

`registry` names the checks, `judging` runs one; the rest plays and compares.
"""
