"""The suite's own examination: what it must let pass, and what it must catch."""
