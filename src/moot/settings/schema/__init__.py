"""What can be set and which values it takes."""
