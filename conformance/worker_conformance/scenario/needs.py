"""The words that a vector may need, so that none is misspelt and then heeded by nobody.

What each of them does is decided where checks are chosen and where abstentions are kept.
"""

ATTRIBUTES = ("priorityClass", "deadline", "waitingTime", "quota", "gate", "resources")
"""What a Scheduler may declare that it considers."""

TRIGGERS = ("preempt", "estimates", "presence", "automaticRetry", "offlineWork")
"""What a Worker may declare that it never produces."""

CONSIDERS = "considers."
"""A need such as `considers.quota`: judged only where the Worker says that it considers it."""

UNDIVIDED = "undivided"
"""The need of a check that is about Workers without time slicing."""

RENEWAL = "renewal"
"""The need of a check that is about Workers which renew their leases themselves."""

NEEDS = (
    "stdio",
    "thorough",
    "ordinary",
    UNDIVIDED,
    RENEWAL,
    *TRIGGERS,
    *(f"{CONSIDERS}{attribute}" for attribute in ATTRIBUTES),
)
"""All of them, as `vectors/README.md` explains them."""
