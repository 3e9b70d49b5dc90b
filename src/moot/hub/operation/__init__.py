"""What an operator of a hub sees and does: what is going on, processes, role files, settings, logs."""
