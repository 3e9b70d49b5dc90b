"""What the hub is asked: why, deliveries, inbox, search, the inspector, turns, events. Nothing here writes."""
