"""What whoever looks after a hub sees and does: what is going on, processes, role files, settings, logs."""
