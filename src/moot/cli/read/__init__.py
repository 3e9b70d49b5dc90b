"""Commands that only read: inbox, tail, why, search, status, logs, explain."""
