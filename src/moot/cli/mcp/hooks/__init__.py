"""What the hooks of a coding CLI run: which agent the session is, and what waits for it."""
