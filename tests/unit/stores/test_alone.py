"""Who writes knows whether somebody else has written since; what is kept of hosts is kept only while none has."""

from pathlib import Path
from typing import Any

from moot.flow import attach, detach, enrol
from moot.model.event import Commit
from moot.model.ids import HostId
from moot.model.limits import Terms
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore

SOURCE = Source(lambda: 1_800_000_000.0, Terms(), ConversationIds())


async def opened(home: Path, commits: list[Commit]) -> SqliteStore:
    return await SqliteStore.open(home, SOURCE, commits.append)


async def joined(store: Any, name: str) -> None:
    await store.transact(enrol, enrol.Enrol((enrol.Newcomer(name),)))


async def test_hosts_may_differ_once_another_process_has_written_or_one_came_or_went(tmp_path: Path) -> None:
    commits: list[Commit] = []
    ours, theirs = await opened(tmp_path, commits), await opened(tmp_path, [])

    def may_differ() -> bool:
        return commits[-1].hosts_may_differ

    await joined(ours, "first")
    await joined(ours, "second")
    assert not may_differ(), "nobody else wrote in between"
    await joined(theirs, "third")
    await joined(ours, "fourth")
    assert may_differ(), "another process wrote, whatever it was"
    agent = await ours.participant("first")
    assert agent is not None
    await ours.transact(attach, attach.Attach(HostId("h1"), 1, (agent.id,)))
    assert may_differ(), "a host came"
    await joined(ours, "fifth")
    assert not may_differ()
    await ours.transact(detach, detach.Detach(HostId("h1")))
    assert may_differ(), "a host went"
    await ours.close()
    await theirs.close()
