"""Runs agents: claims their turns, lets their brains think under a deadline, and posts what they say."""
