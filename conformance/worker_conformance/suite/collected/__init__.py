"""The folder that pytest collects when a Worker is judged."""
