"""What a batch has before it: its desk, laid out behind locks, and what of it others may have changed."""
