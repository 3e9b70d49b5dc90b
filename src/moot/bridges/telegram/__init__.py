"""Telegram: one bot per agent, all in one process."""
