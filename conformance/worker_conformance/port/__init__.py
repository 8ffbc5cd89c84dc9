"""The Worker Port: how the suite talks to a Worker, in-process or over standard input and output.

Carries messages and checks their shape. Never judges a Worker by a clause.
"""
