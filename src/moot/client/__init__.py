"""A hub somewhere else, with the same methods as one that is open here.

Light on purpose: a command that goes through a running hub imports this and no store, no brain and no template. A
program that only wants `transport.blocking_socket` does not even import what waits: `RemoteHub` comes when it is first
used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from moot.client.hub import RemoteHub

__all__ = ["RemoteHub"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module moot.client has no attribute {name}")
    from moot.client.hub import RemoteHub  # noqa: PLC0415  brings asyncio along

    return RemoteHub
