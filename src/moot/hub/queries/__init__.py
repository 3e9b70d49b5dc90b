"""Queries of the hub: why, deliveries, inbox, search, the inspector, turns, events. Nothing here writes."""
