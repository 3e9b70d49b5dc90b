"""In front of every request: is it meant for this hub, who sends it, and not too often."""
