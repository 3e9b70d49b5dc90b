"""What is pushed: event streams and WebSockets, fed by one reader of the log."""
