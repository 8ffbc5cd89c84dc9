"""Playing scenarios against a Worker and collecting what comes of it."""
