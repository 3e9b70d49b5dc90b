"""Housekeeping: what a hub does for its home now and then, as far as `[housekeeping]` asks for it.

Quiet conversations are archived, ephemeral ones soon after they have settled; old events are forgotten; backups are
made and the oldest removed. Once at start, then every hour; a new ephemeral conversation plans its own end.
Above: core.py, in the process that is the hub, so that it is done once. Below: verbs, and the store's retention.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from moot.errors import MootError
from moot.flow import archive
from moot.hub.archive import backups
from moot.model.conversation import Conversation, ConversationKind
from moot.model.event import Event, EventType
from moot.model.ids import SYSTEM
from moot.ports import Retention
from moot.wiring import Parts

log = structlog.get_logger("moot.housekeeping")

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
ARCHIVED_WHEN_IDLE = frozenset({ConversationKind.DIRECT, ConversationKind.GROUP, ConversationKind.EPHEMERAL})
"""A link's channel and a task's conversation end with their link or task."""
AUTO = "auto"


async def keep(parts: Parts) -> None:
    """For as long as the hub lives."""
    keeper = Housekeeper(parts)
    clock = parts.clock
    parts.log.watch(keeper.on_events)
    if hasattr(clock, "watch"):
        clock.watch(keeper)
    try:
        await keeper.run()
    finally:
        if hasattr(clock, "unwatch"):
            clock.unwatch(keeper)


class Housekeeper:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._wishes = parts.settings.housekeeping
        self._next = 0.0
        self._working = asyncio.Lock()
        self._sooner = asyncio.Event()

    async def run(self) -> None:
        while True:
            await self.run_due()
            await self._wait()

    async def _wait(self) -> None:
        self._sooner.clear()
        sleep = asyncio.ensure_future(self._parts.clock.sleep_until(self._next))
        poke = asyncio.ensure_future(self._sooner.wait())
        try:
            await asyncio.wait((sleep, poke), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in (sleep, poke):
                waiter.cancel()

    def on_events(self, events: list[Event]) -> None:
        """A new conversation may be an ephemeral one, and is looked at when it could have ended."""
        minutes = self._wishes.ephemeral_archive_minutes
        if minutes and any(event.type == EventType.CONVERSATION_CREATED for event in events):
            due = self._parts.clock.now() + minutes * MINUTE
            if due < self._next:
                self._next = due
                self._sooner.set()

    async def keep_up(self) -> None:
        """Housekeeping has no heartbeat."""

    async def next_due(self) -> float | None:
        """None: time need not stop for it on its way."""
        return None

    async def run_due(self) -> None:
        """All chores, if it is time; each on its own, so that one that fails does not keep the others."""
        async with self._working:
            now = self._parts.clock.now()
            if now < self._next:
                return
            self._next = now + HOUR
            chores: tuple[Callable[[float], Awaitable[None]], ...] = (
                self._archive,
                self._forget,
                self._back_up,
            )
            for chore in chores:
                try:
                    await chore(now)
                except (MootError, OSError) as trouble:
                    log.warning("housekeeping failed", action="housekeeping_failed", error=str(trouble))

    # --- the chores ----------------------------------------------------------------------------------------

    async def _archive(self, now: float) -> None:
        wishes = self._wishes
        if not wishes.archive_after_days and not wishes.ephemeral_archive_minutes:
            return
        for conversation in await self._parts.store.conversations(archived=False, kind=None):
            patience = self._patience(conversation)
            if patience is None:
                continue
            if conversation.updated_at + patience > now:
                if patience < HOUR:
                    self._next = min(self._next, conversation.updated_at + patience)
                continue
            command = archive.Archive(SYSTEM, conversation.id, quiet_since=now - patience)
            after: Conversation = await self._parts.store.transact(archive, command)
            if after.archived:
                log.info("archived", action="housekeeping_archived", conversation=conversation.id)

    def _patience(self, conversation: Conversation) -> float | None:
        """How long it may lie still; None: for ever."""
        if conversation.kind not in ARCHIVED_WHEN_IDLE:
            return None
        patience = [self._wishes.archive_after_days * DAY]
        if conversation.kind is ConversationKind.EPHEMERAL:
            patience.append(self._wishes.ephemeral_archive_minutes * MINUTE)
        return min([seconds for seconds in patience if seconds], default=None)

    async def _forget(self, now: float) -> None:
        days = self._wishes.events_keep_days
        store: Retention = self._parts.store
        if days and (forgotten := await store.forget_events(before=now - days * DAY)):
            log.info("events forgotten", action="housekeeping_forgot", events=forgotten)

    async def _back_up(self, now: float) -> None:
        hours = self._wishes.backup_every_hours
        if not hours:
            return
        home = self._parts.home
        kind = backups.KINDS[AUTO]
        newest = next((backup.at for backup in backups.list_backups(home) if backup.kind == kind), 0.0)
        if newest + hours * HOUR > now:
            return
        new_backup = await asyncio.to_thread(backups.create, home, kind=AUTO, at=now)
        removed: list[Path] = backups.prune(home, self._wishes.backups_keep)
        log.info(
            "backed up", action="housekeeping_backed_up", path=new_backup.path.name, removed=len(removed)
        )
