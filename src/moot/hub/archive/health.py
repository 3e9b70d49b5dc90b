"""What can be said about a home without opening a hub on it: for `moot doctor`."""

from typing import Any

import apsw

from moot.settings import Home
from moot.wiring import store_alone


def sqlite_version() -> str:
    return f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})"


async def check(home: Home) -> Any:
    """Read the whole database and every audit chain; raises what opening it raises. It says nothing of moot.toml."""
    store = await store_alone(home)
    try:
        return await store.check()
    finally:
        await store.close()
