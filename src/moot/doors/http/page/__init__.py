"""The page in the browser: signing in to it, and its files."""
