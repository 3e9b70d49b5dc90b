"""The terminal: what is shown, what is typed, and how lines are worded."""
