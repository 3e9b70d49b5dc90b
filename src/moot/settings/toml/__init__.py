"""moot.toml as a text: where things stand in it, and changes that leave the rest alone."""
