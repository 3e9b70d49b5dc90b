"""What changes something, beyond a single verb: a question and its answer, a broadcast, slash commands, tokens."""
