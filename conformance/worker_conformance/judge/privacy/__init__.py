"""Privacy: what one Group can learn of another from what a Worker sends and does.

Markers and digests are searched in single documents (`watch`), views are compared between worlds
(`views`), published numbers against the backlog of others (`positions`).
"""
