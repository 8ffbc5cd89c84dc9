"""Reports: one result, told to programs, CI systems, browsers and people at a terminal."""
