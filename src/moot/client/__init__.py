"""A hub somewhere else, with the same methods as one that is open here.

Light on purpose: a command that goes through a running hub imports this and no store, no brain and no template.
"""

from moot.client.hub import RemoteHub

__all__ = ["RemoteHub"]
