"""Replay: an agent's views rebuilt from the first record of the log, and held against those from the store.

It calls no model and no tool. The log only says what happened where; the words come from the store. Equal means:
for every turn the agent took, what it was given comes out the same to the byte.
"""

from typing import Any

from moot.context.prompt import Context, flattened
from moot.context.replica import Materialised, Pull
from moot.context.templates import Templates
from moot.hub.core import Core
from moot.log_outside import from_the_first_record
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId
from moot.model.message import Message
from moot.model.participant import Participant
from moot.model.turn import Given, Turn
from moot.ports import Page, Reads
from moot.shapes import Replayed

POSTED = EventType.MESSAGE_POSTED


class FromLog:
    """The read ports, with the messages of the replayed log in place of the store's."""

    def __init__(self, reads: Reads, views: dict[ConversationId, Materialised]) -> None:
        self._reads = reads
        self._views = views

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reads, name)

    async def messages(self, conversation: ConversationId, page: Page) -> list[Message]:
        upto = self._views[conversation].head if page.before is None else page.before - 1
        messages = self._views[conversation].between(page.after, upto)
        return messages[-page.limit :] if page.newest else messages[: page.limit]


async def replay(core: Core, name: str) -> Replayed:
    agent = await core.directory.participant(name)
    store = core.parts.store
    turns = [turn for turn in await store.turns(agent=agent.id, limit=100_000) if turn.given is not None]
    views = await _from_the_start(core, agent, {turn.conversation for turn in turns})
    again = Context(
        FromLog(store, views),
        Templates(),
        workspaces=core.parts.home.path,
        by_id=core.directory.by_id,
        secret=await store.secret(),
    )
    differ = [
        turn.id
        for turn in turns
        if turn.given is not None and not await _is_same(core.context, again, turn, agent, turn.given)
    ]
    return Replayed(
        equal=not differ,
        turns=len(turns),
        conversations=len(views),
        gaps=sum(view.gaps for view in views.values()),
        repeats=sum(view.repeats for view in views.values()),
        differ=tuple(str(turn) for turn in differ),
    )


async def _from_the_start(
    core: Core, agent: Participant, conversations: set[ConversationId]
) -> dict[ConversationId, Materialised]:
    store = core.parts.store
    views = {where: Materialised(_pull(store, where)) for where in conversations}
    async for event in from_the_first_record(store, core.parts.settings, agent.id):
        await _apply(event, views)
    for where, view in views.items():  # what the log keeps no record of comes from the store
        conversation = await store.conversation(where)
        if conversation is not None and conversation.head > view.head:
            await view.posted(conversation.head)
    return views


async def _apply(event: Event, views: dict[ConversationId, Materialised]) -> None:
    view = views.get(event.conversation) if event.conversation is not None else None
    if view is not None:
        await (view.posted(event.seq) if event.type == POSTED else view.changed(event.seq))


def _pull(store: Reads, where: ConversationId) -> Pull:
    async def pull(after: int, upto: int) -> list[Message]:
        messages: list[Message] = await store.messages(
            where, Page(after=after, before=upto + 1, limit=upto - after)
        )
        return messages

    return pull


async def _is_same(now: Context, again: Context, turn: Turn, agent: Participant, given: Given) -> bool:
    from_store, _ = await now.shown_again(turn, agent, given)
    from_log, _ = await again.shown_again(turn, agent, given)
    return flattened(from_store) == flattened(from_log)
