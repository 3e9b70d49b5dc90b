"""What the write workloads post: 512 bytes by a human with one mention, in groups of six agents that are away."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from moot.flow import create, enrol, link, post, send
from moot.flow.enrol import Newcomer
from moot.model.ids import ConversationId, ParticipantId
from moot.model.limits import Limits, Terms
from moot.model.participant import Kind
from moot.model.records.link import Policy
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore

TEXT = ("@b " + "a sentence of the usual kind, neither long nor short; " * 10)[:512]
WORDS = TEXT[3:]
USER = ParticipantId("user")
NO_BRAKES = Limits(
    chain_turns=10**9,
    chain_depth=10**9,
    chain_messages=10**9,
    pair_backoff_seconds=0.0,
    pair_per_minute=10**9,
    agent_turns_per_hour=10**9,
    agent_roots_per_hour=10**9,
)


async def open_store(
    home: Path, groups: int, *, policy: Policy = Policy.AUTO, links: int = 0, limits: Limits | None = None
) -> tuple[SqliteStore, list[ConversationId]]:
    """A store with everybody enrolled, so many new groups, and so many links among others who are enrolled too."""
    terms = Terms(policy=policy, limits=limits or Limits())
    store = await SqliteStore.open(home, Source(time.time, terms, ConversationIds()))
    people = (Newcomer("user", Kind.HUMAN), *(Newcomer(name) for name in "abcdef"))
    others = tuple(Newcomer(f"agent-{number}") for number in range(links + 1 if links else 0))
    await store.transact(enrol, enrol.Enrol((*people, *others)))
    for one, other in pairwise(others):
        await store.transact(link, link.MakeLink(USER, one.name, other.name))
    made = [
        await store.transact(create, create.Create(USER, f"g{n}", tuple("abcdef"))) for n in range(groups)
    ]
    return store, [conversation.id for conversation in made]


def posting(where: ConversationId, key: str) -> tuple[Any, post.Post]:
    """The verb and its command."""
    return post, post.posting(USER, where, TEXT, key=key)


def sending(number: int, key: str) -> tuple[Any, send.Send]:
    """The same of what an agent writes to the next one, along their link."""
    target = ParticipantId(f"agent-{number + 1}")
    said = post.posting(ParticipantId(f"agent-{number}"), "", WORDS, key=key)
    return send, send.sending(target, target, said)
