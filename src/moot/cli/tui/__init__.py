"""The full-screen chat (extra `tui`): its state and reducer, what is drawn from it, its keys. Loaded when it is run."""
