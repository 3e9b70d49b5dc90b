"""What can be said about a home without opening a hub on it: for `moot doctor`."""

from typing import Any

import apsw

from moot.settings import Home
from moot.wiring import assemble


def sqlite_version() -> str:
    return f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})"


async def check(home: Home) -> Any:
    """Read the whole database and every audit chain; raises what opening it raises."""
    parts = await assemble(home, None, lambda events: None)
    try:
        return await parts.store.check()
    finally:
        await parts.store.close()
