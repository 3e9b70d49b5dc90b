"""What can be said about a home without opening a hub on it: for `moot doctor`."""

from moot.ports import Health
from moot.settings import Home
from moot.wiring import store_alone


async def check(home: Home) -> Health:
    """Read the whole database and every audit chain; raises what opening it raises. It says nothing of moot.toml."""
    store = await store_alone(home)
    try:
        return await store.check()
    finally:
        await store.close()
