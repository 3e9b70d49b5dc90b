"""The smallest verbs there can be: a test says what they see and what they change. No flow, no rules."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct, structs

from moot.model.change import AppendMessage, Change, Decision, Emit, PutConversation
from moot.model.conversation import Conversation, ConversationKind
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, ParticipantId, RootId, address
from moot.model.message import Message, Permit
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.ports import Scope, Store
from moot.rules import audit
from moot.rules.draft import Seen
from moot.stores.async_runner import AsyncRunner

Decider = Callable[[Seen, Moment], Decision[Any]]
PERMIT = Permit(author=ParticipantId("user"), by="human")
USER = ParticipantId("user")


class Act(Struct, frozen=True):
    scope: Scope
    decide: Decider


class Acting:
    def scope(self, command: Act) -> Scope:
        return command.scope

    def decide(self, command: Act, seen: Seen, at: Moment) -> Decision[Any]:
        return command.decide(seen, at)


acting = Acting()


def act(decide: Decider, **scope: Any) -> Act:
    return Act(Scope(**scope), decide)


async def do(store: Store, decide: Decider, **scope: Any) -> Any:
    return await store.transact(acting, act(decide, **scope))


async def put(store: Store, *changes: Change) -> None:
    await do(store, lambda seen, at: Decision(list(changes), None))


async def look(store: Store, ask: Callable[[Seen], Any], **scope: Any) -> Any:
    """What a verb with this scope sees."""
    return await do(store, lambda seen, at: Decision([], ask(seen)), **scope)


async def together(store: Store, acts: Iterable[Act]) -> list[Any]:
    """All of them at once: a store that can will take them in one transaction. Errors come back as values."""
    waiting = [store.transact(acting, one) for one in acts]
    return await asyncio.gather(*waiting, return_exceptions=True)


async def in_one_batch(store: Store, acts: Iterable[Act]) -> list[Any]:
    """As `together`, and surely one transaction: the writer is held until all of them wait. One that is a task of this
    loop comes to them only when all do."""
    if isinstance(getattr(store, "_runner", None), AsyncRunner):
        return await together(store, acts)
    begun, go = threading.Event(), threading.Event()

    def hold(seen: Seen, at: Moment) -> Decision[None]:
        begun.set()
        assert go.wait(10)
        return Decision([], None)

    held = asyncio.create_task(do(store, hold))
    assert await asyncio.to_thread(begun.wait, 10)
    waiting = [asyncio.create_task(store.transact(acting, one)) for one in acts]
    await asyncio.sleep(0)
    go.set()
    await held
    return await asyncio.gather(*waiting, return_exceptions=True)


def conversation(name: str, **fields: Any) -> Conversation:
    return Conversation(
        **{
            "id": ConversationId(f"c-{name}"),
            "name": name,
            "kind": ConversationKind.GROUP,
            "created_at": 1_800_000_000.0,
            "updated_at": 1_800_000_000.0,
            **fields,
        }
    )


def said(where: Conversation, text: str, at: float = 1_800_000_000.0, **fields: Any) -> list[Change]:
    """The changes that append a message, with its link in the audit chain, and tell of it."""
    message = Message(
        **{
            "conversation": where.id,
            "seq": where.next_seq,
            "author": USER,
            "kind": Kind.HUMAN,
            "text": text,
            "root": RootId(address(where.id, where.next_seq)),
            "hop": 0,
            "at": at,
            "chain_place": where.chain_length + 1,
            **fields,
        }
    )
    linked = audit.message_hash(where.chain, message.chain_place, message, audit.text_hash(text))
    return [
        AppendMessage(structs.replace(message, hash=linked), PERMIT),
        PutConversation(
            structs.replace(
                where, next_seq=message.seq + 1, chain=linked, chain_length=message.chain_place, updated_at=at
            )
        ),
        Emit(Event(type=EventType.MESSAGE_POSTED, at=at, conversation=where.id, by=USER, seq=message.seq)),
    ]


def saying(where: ConversationId, text: str, **fields: Any) -> Act:
    """Append a message to a conversation as it is by then; answers with its seq."""

    def decide(seen: Seen, at: Moment) -> Decision[int]:
        found = seen.conversation(where)
        assert found is not None
        return Decision(said(found, text, **{"at": at.now, **fields}), found.next_seq)

    return Act(Scope(conversations=(where,)), decide)


async def say(store: Store, where: ConversationId, text: str, **fields: Any) -> int:
    seq: int = await store.transact(acting, saying(where, text, **fields))
    return seq
