"""What a text says: mentions, commands, silence, names, search operators; and what may be said at all."""
