"""One person in one conversation: posts, shows what follows, and knows when it is over.

Above: send, chat and demo. Below: the hub's events; a view (terminal/views.py) draws them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from moot import shapes
from moot.cli.frame.hints import command
from moot.cli.talk.absence import to_bring_back
from moot.cli.talk.unanswered import BROKEN, Cause, causes, nobody_will, was_expected
from moot.cli.terminal.phrases import address, is_agent, reason_of
from moot.errors import HubAbsent
from moot.model.answer import Receipt, in_words
from moot.model.event import EventType
from moot.model.json import JsonObject

if TYPE_CHECKING:
    from moot.hub import Hub

LOOK_AGAIN = 1.0
"""Seconds after which the store is read again, even without an event."""
LOOKS = 50
MAX_WAITING = 1000
TICK = 0.2
"""Seconds between two updates of who is still waited for."""
ENDINGS = frozenset({EventType.TURN_FINISHED, EventType.TURN_OWED, EventType.TURN_HELD})


class TalkView(Protocol):
    """Draws events in their order."""

    def started(self, agent: str, reason: str) -> None: ...
    def delta(self, agent: str, text: str) -> None: ...
    async def show_message(self, message: shapes.Message) -> None: ...
    def ended(self, agent: str, state: str) -> None: ...
    def over(self) -> None: ...
    def hush(self) -> None: ...
    def tick(self) -> None: ...
    def moved(self, conversation: shapes.Conversation) -> None: ...


class Away(Struct, frozen=True):
    agent: shapes.Agent
    waiting: int
    """Messages that wait for it, in all its conversations."""
    fix: str = ""
    """The command that brings it back, if there is one."""


class Outcome(Struct, frozen=True):
    receipt: Receipt
    replies: tuple[shapes.Message, ...]
    outcome: str
    why: shapes.Why
    last: shapes.Why
    """The parts in the newest reply: what stopped the round, if anything did."""
    where: shapes.Conversation
    brake: shapes.Message | None = None
    """The notice that the chain was stopped, if it was."""
    away: tuple[Away, ...] = ()
    """Absent agents that owe an answer."""
    causes: tuple[Cause, ...] = ()
    """If it failed: what kept each agent from answering."""

    def to_dict(self) -> JsonObject:
        result = {
            "receipt": in_words(self.receipt, command).to_dict(),
            "replies": [reply.to_dict() for reply in self.replies],
            "outcome": self.outcome,
        }
        if self.outcome == "failed":
            result["causes"] = [cause.to_dict() for cause in self.causes]
        return result


class FollowedConversation:
    def __init__(self, hub: Hub, conversation: shapes.Conversation, view: TalkView) -> None:
        self.hub = hub
        self.conversation = conversation
        self.last = 0
        """seq of the newest message shown."""
        self._view = view
        self._moved = asyncio.Event()
        self._showing = asyncio.Lock()
        self._mine: set[str] = set()
        self._at_work: set[str] = set()
        """Agents that were seen to begin a turn and not yet to end it."""
        self._following: asyncio.Task[None] | None = None
        self.when_cut: Callable[[], None] = lambda: None
        """Called once the hub has gone and nothing is heard any more."""
        self.shows_own = True
        """Whether one's own words are shown, where they were not typed here."""

    @asynccontextmanager
    async def following(self) -> AsyncIterator[FollowedConversation]:
        """Show everything that happens in the conversation until the block is left."""
        await self._begin()
        ticking = asyncio.create_task(self._tick())
        try:
            yield self
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)
            await self._end()
            self._view.over()

    async def move(self, conversation: shapes.Conversation) -> None:
        """Continue in another conversation, or in the same one with its changes."""
        self._view.moved(conversation)
        is_other = conversation.id != self.conversation.id
        self.conversation = conversation
        if is_other:
            await self._end()
            await self._begin()

    @property
    def is_cut(self) -> bool:
        """Whether the hub went away, so that no events come."""
        following = self._following
        if following is None or not following.done() or following.cancelled():
            return False
        return isinstance(following.exception(), HubAbsent)

    async def rejoin(self, hub: Hub, view: TalkView) -> None:
        """Continue through another hub on the same home, and show what was missed."""
        self._view.over()
        self.hub, self._view = hub, view
        await self._end()
        await self._begin(self.last)
        await self.catch_up()

    async def _begin(self, last: int | None = None) -> None:
        if last is None:
            newest = await self.hub.newest(self.conversation.id, 1)
            last = newest[-1].seq if newest else 0
        self.last = last
        self._at_work.clear()
        self._following = asyncio.create_task(self._follow(self.hub.position))
        for turn in await self.hub.turns(conversation=self.conversation.id, state="running"):
            self._view.started(turn.agent, await reason_of(self.hub, turn.reason, turn.cause))

    async def _end(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self._view.tick()

    async def _follow(self, after: int) -> None:
        try:
            await self._show_events(after)
        except HubAbsent:
            self._view.over()
            self.when_cut()
            raise

    async def _show_events(self, after: int) -> None:
        async for event in self.hub.events(conversation=self.conversation.id, after=after):
            if event.type == EventType.MESSAGE_POSTED:
                await self.catch_up(int(event.body["seq"]))
            elif event.type == EventType.TURN_DELTA:
                self._view.delta(str(event.body["agent"]), str(event.body["text"]))
            elif event.type == EventType.TURN_STARTED:
                self._at_work.add(str(event.body["agent"]))
                reason = await reason_of(self.hub, event.body["reason"], event.body["cause"])
                self._view.started(str(event.body["agent"]), reason)
            elif event.type == EventType.CONVERSATION_JOINED:
                self.conversation = await self.hub.conversations.get(self.conversation.id)
                self._view.moved(self.conversation)
            elif event.type in ENDINGS:
                await self.catch_up(_seq(event.body["message"]))
                self._view.ended(str(event.body["agent"]), str(event.body["state"]))
                self._at_work.discard(str(event.body["agent"]))
                self._moved.set()

    async def post(self, text: str, *, ref: str = "", **options: Any) -> Receipt:
        """Post a message here. What the person has just typed is not shown again."""
        async with self._showing:
            receipt = await self.hub.post(ref or self.conversation.id, text, **options)
            self._mine.add(receipt.id)
        return receipt

    @asynccontextmanager
    async def by_other_means(self) -> AsyncIterator[set[str]]:
        """For a block that may post in the person's name: an id put into the set is not shown again."""
        async with self._showing:
            yield self._mine

    def hush(self) -> None:
        """The person does something else: a running reply is shown once it is complete."""
        self._view.hush()

    async def read(self) -> None:
        """Mark what was shown as read."""
        if self.last:
            await self.hub.conversations.read(self.conversation.id, self.last)

    async def catch_up(self, upto: int | None = None) -> None:
        """Show each message once, in order, up to the newest event seen (`upto`): pieces of later messages are still to
        come, and would be shown twice."""
        before = None if upto is None else upto + 1
        async with self._showing:
            for message in await self.hub.messages(self.conversation.id, after=self.last, before=before):
                self.last = message.seq
                is_own = message.sender == self.hub.name and not self.shows_own
                if message.id not in self._mine and not is_own:
                    await self._view.show_message(message)

    async def wait(self, seconds: float) -> bool:
        """Wait until nobody has anything left to do here; False after a timeout."""
        try:
            async with asyncio.timeout(seconds):
                while await self.hub.inspector.unsettled(self.conversation.id):
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LOOK_AGAIN):
                            await self._moved.wait()
                    self._moved.clear()
        except TimeoutError:
            return False
        await self._wait_shown()
        return True

    async def _wait_shown(self) -> None:
        """Wait until everything is shown completely, so that nothing appears twice or in part."""
        newest = await self.hub.newest(self.conversation.id, 1)
        for _ in range(LOOKS):
            if not self._at_work and (not newest or self.last >= newest[-1].seq):
                return
            await asyncio.sleep(LOOK_AGAIN / LOOKS)
        await self.catch_up()

    async def outcome(self, receipt: Receipt, settled: bool) -> Outcome:
        later = await self.hub.messages(self.conversation.id, after=receipt.seq, limit=500)
        replies = tuple(m for m in later if m.root == receipt.root and is_agent(m))
        why = await self.hub.why(receipt.id)
        word = _word(replies, why.agents, settled)
        last = await self.hub.why(replies[-1].id) if replies else why
        brake = next((m for m in later if _stops(m, receipt.root)), None)
        away = tuple([await self._away(row.agent) for row in why.agents if row.state == "owed"])
        wrong = (
            await causes(self.hub, why, address(self.conversation, receipt.seq)) if word == "failed" else ()
        )
        return Outcome(receipt, replies, word, why, last, self.conversation, brake, away, wrong)

    async def at_once(self, receipt: Receipt) -> Outcome:
        """The outcome without waiting: queued, unless nobody can ever answer."""
        why = await self.hub.why(receipt.id)
        wrong = (
            await causes(self.hub, why, address(self.conversation, receipt.seq))
            if nobody_will(why.agents)
            else ()
        )
        word = "failed" if wrong else "queued"
        return Outcome(receipt, (), word, why, why, self.conversation, causes=wrong)

    async def _away(self, name: str) -> Away:
        waiting = await self.hub.inbox(agent=name, unread=True, limit=MAX_WAITING)
        agent = await self.hub.agents.get(name)
        return Away(agent, len(waiting), await to_bring_back(self.hub, [agent]))


def _seq(message: str | None) -> int:
    return int(message.rpartition(":")[2]) if message else 0


def _stops(message: shapes.Message, root: str) -> bool:
    return message.metadata.get("notice") == "brake" and message.metadata.get("root") == root


def _word(replies: Sequence[shapes.Message], rows: Sequence[shapes.Because], settled: bool) -> str:
    """The outcome in one word. A reply counts more than others' silence; a partial reply counts less than a failure."""
    if not settled:
        return "timed_out"
    states = {row.state for row in rows if was_expected(row)}
    whole = [reply for reply in replies if not reply.metadata.get("partial")]
    if whole or (replies and not states & set(BROKEN)):
        return "replied"
    if states & set(BROKEN):
        return "failed"
    for state in ("owed", "passed"):
        if state in states:
            return state
    return "failed" if nobody_will(rows) else "queued"
