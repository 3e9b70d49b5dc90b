"""The Python SDK: `Hub.open`, and everything one can do with a hub."""

from moot.hub.hub import Hub

__all__ = ["Hub"]
