"""What can be said about a home without opening a hub on it: for `moot doctor`."""

from moot.ports import Health
from moot.settings import Home
from moot.wiring import storage_version, store_alone


def store_version() -> str:
    """What keeps the data, and which release of it."""
    return storage_version()


async def check(home: Home) -> Health:
    """Read the whole database and every audit chain; raises what opening it raises. It says nothing of moot.toml."""
    store = await store_alone(home)
    try:
        return await store.check()
    finally:
        await store.close()
