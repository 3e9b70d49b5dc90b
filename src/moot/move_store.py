"""Moving a home's store: which engine is read, which is filled. Beside wiring.py, which is about running on one.

Above: the command that moves. Below: stores/transfer.py and the holdings of both engines.
"""

from collections.abc import Callable
from typing import Any

from moot.errors import BadValue
from moot.settings import Home, load
from moot.storage import Transferred
from moot.stores.postgres.address import Address, address_of, is_postgres
from moot.stores.sqlite.file.holdings import NewSqliteHoldings, SqliteHoldings
from moot.stores.transfer import EmptyHoldings, Holdings, transfer
from moot.wiring import SQLITE_URL, check_places, from_postgres, postgres_of


async def transfer_store(
    home: Home, url: str, progress: Callable[[str, int, int], None], *, unsafe: bool = False
) -> Transferred:
    """Copy everything that a home holds into the store at another address, which is empty."""
    settings = load(home)
    check_places(settings, home)
    origin_address = postgres_of(settings)
    address = address_of(url, unsafe=unsafe) if is_postgres(url) else None
    if address is None and url != SQLITE_URL:
        raise BadValue(
            "this is not an address of a store",
            detail=f"expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or {SQLITE_URL} for a file in the home",
        )
    if origin_address == address or (origin_address and address and origin_address.shown == address.shown):
        raise BadValue("this home keeps its conversations there already", detail="nothing was changed")
    origin: Holdings = await _holdings(home, origin_address)
    try:
        target: EmptyHoldings = (
            await NewSqliteHoldings.open(home.path) if address is None else await _holdings(home, address)
        )
        try:
            return await transfer(origin, target, progress)
        finally:
            await target.close()
    finally:
        await origin.close()


async def _holdings(home: Home, address: Address | None) -> Any:
    """Those of the file, or of the server; which is known when it is imported."""
    if address is None:
        return await SqliteHoldings.open(home.path)
    return await from_postgres("holdings").PostgresHoldings.open(address)
