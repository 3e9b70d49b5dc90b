"""What every command has: options, a way into the hub, errors, exit codes."""
