"""Commands in which somebody says something: chat, send, ask, demo."""
