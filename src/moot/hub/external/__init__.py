"""Outside agents: what is delivered to them, the turn they have open, their sessions and hooks."""
