"""What can be said about a home without opening a hub on it: for `moot doctor`."""

import time

from msgspec import Struct

from moot.model.participant import Host
from moot.model.records.share import CONFIG, SHARES, Share
from moot.ports import Health
from moot.settings import Home
from moot.wiring import reading, store_alone


async def check(home: Home) -> Health:
    """Read the whole database and every audit chain; raises what opening it raises. It says nothing of moot.toml."""
    store = await store_alone(home)
    try:
        return await store.check()
    finally:
        await store.close()


class StoreUsers(Struct, frozen=True):
    """Who works on a store now, from whichever machine."""

    hosts: tuple[Host, ...]
    shares: tuple[Share, ...]
    """Parts of agents."""
    ruler: Share | None
    """The hub whose moot.toml defines the links."""


async def users(home: Home) -> StoreUsers:
    reads, now = reading(home), time.time()
    try:
        hosts = [host for host in await reads.hosts() if host.lease_until > now]
        shares = [share for share in await reads.records(SHARES.all()) if share.until > now]
    finally:
        await reads.close()
    parts = tuple(share for share in shares if share.grp != CONFIG)
    return StoreUsers(tuple(hosts), parts, next((share for share in shares if share.grp == CONFIG), None))
