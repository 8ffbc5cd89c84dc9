"""The simulated Organization: Group Authorities, registry, policy and the executor of a Worker.

Answers a Worker as the specification says that an Organization does. Never judges the Worker and
never moves the clock: `now` comes in as microseconds since the scenario's epoch.
"""
