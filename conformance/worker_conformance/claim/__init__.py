"""Claims: what may be said of a Worker because of a run, in which words, and whether it holds."""
