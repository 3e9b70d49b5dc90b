"""One agent's view for one turn: what is new to it, its window, and what stands for the rest.

Above: prompt.py makes prompts of it; host/agent_turn.py hands it to brains that are code. Below: the read ports.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from moot.context import window
from moot.context.live_views import LiveViews
from moot.context.window import Size
from moot.model.conversation import Conversation, ConversationKind, Member
from moot.model.ids import ConversationId
from moot.model.message import Message, Summary
from moot.model.participant import Kind, Participant
from moot.model.turn import Given, Turn
from moot.ports import ConversationReads, Page, Recall

LOOKS_FOR_TASK = 8
"""The task a conversation began with is the first thing a person said, among so many first messages."""


class TurnView(Struct, frozen=True):
    turn: Turn
    agent: Participant
    conversation: Conversation
    members: tuple[Member, ...]
    start: int
    """The window begins behind this seq."""
    messages: tuple[Message, ...]
    """The window: everything visible from `start` to the turn's `hi`."""
    new: tuple[Message, ...]
    """By others, since this agent's last turn here, each once over all its turns."""
    trigger: Message
    """The newest message that owed the turn."""
    summary: Summary | None = None
    pinned: Message | None = None


class ViewReads(ConversationReads, Recall, Protocol):
    """What a view is read from."""


class Views:
    """Builds views from the store, and from what is kept of it in memory."""

    def __init__(self, reads: ViewReads, live: LiveViews | None = None) -> None:
        self._reads = reads
        self._live = live

    async def of(
        self, turn: Turn, agent: Participant, size: Size, cost: Callable[[Message], int]
    ) -> TurnView:
        """What the agent is given for the turn, within its size."""
        conversation = await self._conversation(turn.conversation)
        last = await self._last(turn) if size.grows else None
        start = window.reach(size, turn.lo, turn.hi, last.start if last else None)
        if self._live is None:
            messages = await self._read(conversation.id, start, turn.hi)
        else:
            messages = await self._live.messages(conversation, start, turn.hi)
        start = window.begin(messages, size, turn.lo, turn.hi, cost)
        summary = await self._summary(conversation, start, last)
        return await self._view(turn, agent, conversation, messages, start=start, summary=summary)

    async def _last(self, turn: Turn) -> Given | None:
        """What the agent was given here the last time."""
        before = await self._reads.turns_before(turn, reading_to=1, limit=1)
        return before[0].given if before else None

    async def _read(self, where: ConversationId, start: int, hi: int) -> list[Message]:
        page = Page(after=start, before=hi + 1, limit=hi - start, newest=True)
        return await self._reads.messages(where, page)

    async def _summary(self, conversation: Conversation, start: int, last: Given | None) -> Summary | None:
        """What stands for the messages before the window; the same as last time while the window stands still."""
        if not conversation.summarised or not start:
            return None
        if last is not None and last.start == start and last.epoch:
            return await self._reads.summary_of(conversation.id, last.epoch)
        return await self._reads.summary(conversation.id, upto=start)

    async def again(self, turn: Turn, agent: Participant, given: Given) -> TurnView:
        """The view a turn had, from what was noted of it."""
        conversation = await self._conversation(turn.conversation)
        messages = await self._read(conversation.id, given.start, turn.hi)
        summary = await self._reads.summary_of(conversation.id, given.epoch) if given.epoch else None
        return await self._view(turn, agent, conversation, messages, start=given.start, summary=summary)

    async def _view(
        self,
        turn: Turn,
        agent: Participant,
        conversation: Conversation,
        messages: list[Message],
        *,
        start: int,
        summary: Summary | None,
    ) -> TurnView:
        shown = tuple(m for m in messages if m.seq > start and window.visible(m))
        new = tuple(
            m
            for m in messages
            if m.seq > turn.lo
            and m.author != agent.id
            and window.visible(m)
            and not window.own_result(m, agent.id)
        )
        return TurnView(
            turn=turn,
            agent=agent,
            conversation=conversation,
            members=tuple(await self._reads.members(conversation.id)),
            start=start,
            messages=shown,
            new=new,
            trigger=_trigger(turn, messages),
            summary=summary,
            pinned=await self._pinned(conversation, start) if start else None,
        )

    async def _conversation(self, where: ConversationId) -> Conversation:
        found = await self._reads.conversation(where)
        if found is None:
            raise LookupError(f"conversation {where} no longer exists")
        return found

    async def _pinned(self, conversation: Conversation, start: int) -> Message | None:
        """The task, once the window no longer shows it; the branch of a task begins with it, whoever gave it."""
        first = await self._reads.messages(conversation.id, Page(limit=LOOKS_FOR_TASK))
        delegated = conversation.kind is ConversationKind.TASK
        task = next((m for m in first if (delegated or m.kind is Kind.HUMAN) and window.visible(m)), None)
        return task if task is not None and task.seq <= start else None


def _trigger(turn: Turn, messages: list[Message]) -> Message:
    called = {call.seq for call in turn.calls if not call.asks_again}
    owed = [m for m in messages if m.seq in called] or [m for m in messages if m.seq == turn.cause]
    return owed[-1] if owed else messages[-1]
