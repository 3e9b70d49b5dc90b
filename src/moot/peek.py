"""Quick looks at a home, for completion and hooks, which must answer in milliseconds.

The composition root of those who cannot wait for wiring.py: here too it is known which store a home has. Below:
a store's own peek module, which imports next to nothing.
"""

from moot.stores.sqlite.peek import agent_names, anything_to_do, conversation_names, is_there, note_names

__all__ = ["agent_names", "anything_to_do", "conversation_names", "is_there", "note_names"]
