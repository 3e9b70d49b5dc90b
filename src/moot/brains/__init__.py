"""Brains: the demo brain, decorated functions, models (llm/) and coding CLIs (command/)."""
