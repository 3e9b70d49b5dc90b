"""What the write workloads post: 512 bytes by a human with one mention, in groups of six agents that are away."""

import time
from pathlib import Path
from typing import Any

from moot.flow import create, enrol, post
from moot.flow.enrol import Newcomer
from moot.model.ids import ConversationId, ParticipantId
from moot.model.limits import Terms
from moot.model.participant import Kind
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore

TEXT = ("@b " + "a sentence of the usual kind, neither long nor short; " * 10)[:512]
USER = ParticipantId("user")


async def open_store(home: Path, groups: int) -> tuple[SqliteStore, list[ConversationId]]:
    """A store with everybody enrolled, and so many new groups."""
    store = await SqliteStore.open(home, Source(time.time, Terms(), ConversationIds()))
    people = (Newcomer("user", Kind.HUMAN), *(Newcomer(name) for name in "abcdef"))
    await store.transact(enrol, enrol.Enrol(people))
    made = [
        await store.transact(create, create.Create(USER, f"g{n}", tuple("abcdef"))) for n in range(groups)
    ]
    return store, [conversation.id for conversation in made]


def posting(where: ConversationId, key: str) -> tuple[Any, post.Post]:
    """The verb and its command."""
    return post, post.posting(USER, where, TEXT, key=key)
