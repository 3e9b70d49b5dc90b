"""How processes and readers learn that something happened. Hints and history; the store stays the truth."""
