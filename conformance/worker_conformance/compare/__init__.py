"""Results side by side: what became worse or better, and how several Workers stand."""
