"""How a call reaches a hub elsewhere: over its socket in lines, or over HTTP in requests."""
