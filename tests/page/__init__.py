"""The page in a real browser against a real hub, and the sources it is built from."""
