"""A supervisor: an agent that is shown what is said around others, and never speaks.

It has no turns and is no member of conversations. One of the processes that run it (by a share) follows the log from
its last position, and calls its function with every message that is posted, edited or deleted in conversations of the
agents it watches. The position is stored each second and at the end: after a crash the last messages may be shown
again, and none is left out. Above: hub/runtime.py starts it; the host closes it like any brain. Below: the log, the
read ports and flow/move_watch.py.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from typing import Final, Protocol

import structlog
from msgspec import Struct

from moot import shapes
from moot.brain import Watch, WatchedMessage
from moot.errors import MootError
from moot.flow import move_watch
from moot.flow.hold_shares import SharedGroup
from moot.host.held_shares import HeldShares
from moot.host.hosted import Hosted
from moot.model.conversation import Conversation, Member
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import Participant
from moot.model.records.bookmark import WATCH_POSITIONS
from moot.model.records.share import supervision_of
from moot.ports import RESET, Clock, ConversationReads, Log, Records, Store
from moot.rules.access import watched_by

log = structlog.get_logger("moot.host")

NOTE_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 1.0
"""How often to check whether this process holds the share, and the store is back."""
ACTIONS: Final = {
    EventType.MESSAGE_POSTED: "posted",
    EventType.MESSAGE_EDITED: "edited",
    EventType.MESSAGE_DELETED: "deleted",
}


class SupervisedStore(Store, Records, ConversationReads, Protocol):
    """What supervision needs from the store."""


class SupervisedHub(Struct, frozen=True):
    """What a supervisor needs of the hub it runs in."""

    store: SupervisedStore
    log: Log
    clock: Clock
    shares: HeldShares
    people: Callable[[], Iterable[Participant]]
    name_of: Callable[[ParticipantId], str]
    shape_of: Callable[[Conversation, Sequence[Member]], shapes.Conversation]


class Supervision:
    """The brain of an agent that only watches."""

    name = ""

    def __init__(self, participant: Participant, watch: Watch, around: SupervisedHub) -> None:
        self._supervisor = participant
        self._watch = watch
        self._around = around
        self._group = supervision_of(participant.id)
        self._position = 0
        """Events up to this one were shown, or do not concern it."""
        self._stored_position = 0
        self._newest_at_start = 0
        """The last event when it began, which is where a new one begins."""
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Show it messages from now on, while this process holds its share."""
        self._newest_at_start = self._around.log.last
        self._around.shares.want([SharedGroup(self._group, 1)])
        await self._around.shares.renew()
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._run()), loop.create_task(self._store_regularly())]

    async def think(self, turn: object) -> str | None:
        raise AssertionError(f"{self._supervisor.name} only watches, and was given a turn")

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(MootError):  # then the last messages are shown again
            await self._store_position()

    async def _run(self) -> None:
        clock = self._around.clock
        while True:
            if self._around.shares.holds(self._group):
                try:
                    await self._follow()
                except MootError as trouble:
                    log.warning(
                        "cannot watch", action="watch_failed", agent=self._supervisor.id, error=str(trouble)
                    )
            await clock.sleep_until(clock.now() + RETRY_SECONDS)

    async def _follow(self) -> None:
        """Follow the log until another process has the share."""
        self._position = self._stored_position = await self._starting_position()
        follower = self._around.log.subscribe(after=self._position)
        async with aclosing(aiter(follower)) as events:
            async for event in events:
                if not self._around.shares.holds(self._group):
                    return
                await self._show(event)

    async def _starting_position(self) -> int:
        """Its stored position; for a new supervisor, the newest event when it began."""
        positions = await self._around.store.records(WATCH_POSITIONS.one(self._supervisor.id))
        if positions:
            return positions[0].event
        return await self._move(self._newest_at_start)

    async def _show(self, event: Event) -> None:
        if event.type is RESET:
            after = int((event.body or {}).get("after", 0))
            log.warning(
                "events are no longer kept", action="watch_reset", agent=self._supervisor.id, after=after
            )
            self._position = max(self._position, after)
        if not event.id:  # shown live, and not stored
            return
        action = ACTIONS.get(event.type)
        if action is not None and event.conversation is not None:
            await self._show_message(action, event.conversation, event.seq)
        self._position = event.id

    async def _show_message(self, action: str, where: ConversationId, seq: int) -> None:
        around = self._around
        members = await around.store.members(where)
        watched = watched_by(self._supervisor, around.people())
        if watched.isdisjoint(member.participant for member in members):
            return
        conversation, message = await around.store.conversation(where), await around.store.message(where, seq)
        if conversation is None or message is None:  # erased since
            return
        shown = WatchedMessage(
            agent=self._supervisor.name,
            action=action,
            conversation=around.shape_of(conversation, members),
            message=shapes.Message.of(message, around.name_of),
        )
        try:
            await self._watch(shown)
        except Exception as error:  # the border to foreign code: a function may fail in any way
            log.warning(
                "a supervisor failed",
                action="watch_failed",
                agent=self._supervisor.id,
                message=message.id,
                error=repr(error),
            )

    # --- its position ------------------------------------------------------------------------------------

    async def _store_regularly(self) -> None:
        while True:
            await asyncio.sleep(NOTE_SECONDS)
            with suppress(MootError):
                await self._store_position()

    async def _store_position(self) -> None:
        if self._position > self._stored_position:
            position = self._position
            await self._move(position)
            self._stored_position = position

    async def _move(self, event: int) -> int:
        moved = await self._around.store.transact(
            move_watch, move_watch.MoveWatch(self._supervisor.id, event)
        )
        return moved.event


async def begin_watching(agents: Iterable[Hosted]) -> None:
    """Begin watching with those that are supervisors."""
    for agent in agents:
        if isinstance(agent.brain, Supervision):
            await agent.brain.begin()
