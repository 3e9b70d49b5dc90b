"""A second process for tests: writes messages into a home until it has written enough.

python -m tests.contract.store.writer HOME NAME COUNT
"""

import asyncio
import sys
import time
from pathlib import Path

from moot.model.ids import ConversationId
from moot.model.limits import Terms
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from tests.contract.store.verbs import saying, together


async def main(home: Path, name: str, count: int) -> None:
    store = await SqliteStore.open(home, Source(time.time, Terms(), ConversationIds()))
    where = ConversationId("c-room")
    for start in range(0, count, 10):
        results = await together(store, [saying(where, f"{name} {n}") for n in range(start, start + 10)])
        for result in results:
            if isinstance(result, BaseException):
                raise result
    await store.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
