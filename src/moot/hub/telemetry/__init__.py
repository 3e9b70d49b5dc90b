"""What a hub tells operators about itself: traces, and counts for /metrics."""
