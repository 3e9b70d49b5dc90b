"""The guard of the write workloads: after `kill -9` every acknowledged message is there, in order, once.

`python -m bench.guard HOME` is the child that writes and says on its standard output what was acknowledged; `killed`
starts it, kills it in the middle, and holds what it said against what the store has.
"""

import asyncio
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.posts import open_store, posting
from moot.flow.steps.posted import Posted
from moot.model.ids import ConversationId
from moot.model.message import Message
from moot.ports import Page
from moot.stores.sqlite.store import SqliteStore

ROOMS = 10
SECONDS = 1.0
"""How long the child writes before it is killed."""


async def write(home: Path, producers: int) -> None:
    """Post for ever, and tell of each message once it is acknowledged."""
    store, rooms = await open_store(home, ROOMS)

    async def producer(number: int) -> None:
        for n in range(10**9):
            key = f"{number}-{n}"
            posted: Posted = await store.transact(*posting(rooms[(number + n) % ROOMS], key))
            os.write(1, f"{posted.message.conversation} {posted.message.seq} {key}\n".encode())

    await asyncio.gather(*(producer(number) for number in range(producers)))


async def killed(producers: int = 32) -> str:
    """What became of a run that was killed, in one line."""
    with TemporaryDirectory() as folder:
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bench.guard", folder, str(producers), stdout=asyncio.subprocess.PIPE
        )
        assert child.stdout is not None
        said = [await child.stdout.readline()]
        began = time.monotonic()
        while time.monotonic() - began < SECONDS:
            said.append(await child.stdout.readline())
        child.kill()
        said += (await child.stdout.read()).splitlines(keepends=True)
        await child.wait()
        acked = [line.decode().split() for line in said if line.endswith(b"\n")]
        store, _ = await open_store(Path(folder), 0)
        wrong = await found_wrong(store, acked)
        await store.close()
    verdict = "; ".join(wrong[:3]) or "every one there, in order, once"
    return f"{len(acked):,} messages acknowledged by {producers} producers: {verdict}"


async def found_wrong(
    store: SqliteStore, acked: list[list[str]], mark: Callable[[Message], str] = lambda message: message.key
) -> list[str]:
    """How the store differs from what was acknowledged, and where its own order has a gap. `mark` is what tells a
    message from all others; one without it was not written by the run."""
    wrong = list((await store.check()).problems)
    expected: dict[ConversationId, dict[int, str]] = defaultdict(dict)
    for where, seq, key in acked:
        expected[ConversationId(where)][int(seq)] = key
    for where, keys in expected.items():
        found = await store.messages(where, Page(limit=10**9))
        if [message.seq for message in found] != list(range(1, len(found) + 1)):
            wrong.append(f"{where} has a gap or a double")
        stored = [mark(message) for message in found if mark(message)]
        if len(stored) != len(set(stored)):
            wrong.append(f"{where} holds a message twice")
        at = {message.seq: mark(message) for message in found}
        lost = [seq for seq, key in keys.items() if at.get(seq) != key]
        wrong += [f"{where} lost {len(lost)} acknowledged messages, first {lost[0]}"] if lost else []
    if sum(map(len, expected.values())) != len(acked):
        wrong.append("an address was acknowledged twice")
    return wrong


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), int(sys.argv[2])))
