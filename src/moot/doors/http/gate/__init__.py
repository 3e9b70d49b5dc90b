"""In front of every request: is it meant for us, who is it, and not too often."""
