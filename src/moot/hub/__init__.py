"""A hub that is open in this process: `Hub.open`, and every method that `sdk/` declares, carried out."""

from moot.hub.hub import Hub

__all__ = ["Hub"]
