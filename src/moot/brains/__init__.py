"""Who thinks: the demo brain, decorated functions; models and coding CLIs come beside them."""
