"""Whose turn it is: in groups, in direct conversations, and how one turn moves."""
