"""A second process for tests: writes messages into a home or a database until it has written enough.

python -m tests.contract.store.writer PLACE NAME COUNT
"""

import asyncio
import sys
import time
from pathlib import Path

from moot.model.ids import ConversationId
from moot.model.limits import Terms
from moot.stores.ids import ConversationIds
from moot.stores.postgres.address import address_of, is_postgres
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from tests.contract.store.verbs import saying, together


async def main(place: str, name: str, count: int) -> None:
    source = Source(time.time, Terms(), ConversationIds())
    store: PostgresStore | SqliteStore
    if is_postgres(place):
        store = await PostgresStore.open(address_of(place), source)
    else:
        store = await SqliteStore.open(Path(place), source)
    where = ConversationId("c-room")
    for start in range(0, count, 10):
        results = await together(store, [saying(where, f"{name} {n}") for n in range(start, start + 10)])
        for result in results:
            if isinstance(result, BaseException):
                raise result
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
