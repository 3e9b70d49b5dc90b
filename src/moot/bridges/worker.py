"""A worker: one bridge at work in this hub, for as long as its lease holds; otherwise it waits for the lease.

Above: start.py runs one per bridge that is set up. Below: intake.py and dispatch.py, and the bridge itself.
"""

import asyncio
from contextlib import suppress

import structlog

from moot.bridges import lease
from moot.bridges.bridge import Bridge, Incoming, PairedChat
from moot.bridges.dispatch import Dispatch
from moot.bridges.intake import ChatIntake, Manners
from moot.bridges.lease import Lease
from moot.bridges.typing_signs import TypingSigns
from moot.bridges.wait_notices import WaitNotices
from moot.errors import MootError
from moot.flow.hear import CHAT
from moot.flow.record_arrival import RecordArrival
from moot.flow.revise_post import RevisePost
from moot.hub import Hub
from moot.model.event import EventType
from moot.model.records.chat_apps.bridge import (
    BRIDGE_POSTS,
    SETTLED,
    ArrivalState,
    BridgePost,
    PairingState,
)
from moot.shapes import Event

log = structlog.get_logger("moot.bridges")

FOLLOWED = (
    EventType.MESSAGE_POSTED,
    EventType.TURN_STARTED,
    EventType.TURN_DELTA,
    EventType.TURN_FINISHED,
    EventType.TURN_OWED,
    EventType.TURN_HELD,
    EventType.DECISION_CREATED,
    EventType.DECISION_ANSWERED,
    EventType.RESET,
)
SWEEP_SECONDS = 5.0
"""How often to look for what no hint reported: posts that a person sends again from another process."""
AGAIN_SECONDS = 2.0
MAX_COMPARED = 100
"""Messages of a conversation that are compared with what a chat app still has."""


class BridgeWorker:
    def __init__(self, hub: Hub, bridge: Bridge, manners: Manners, *, holder: str = "") -> None:
        self._hub = hub.through(bridge.name)
        self._records = self._hub.bridges.records
        self.bridge = bridge
        self.lease = Lease(self._hub, bridge.name, holder=holder)
        self.intake = ChatIntake(hub, bridge.name, manners, on_chosen=self._on_chosen)
        self.dispatch = Dispatch(self._hub, bridge, self.lease)
        self.is_running = asyncio.Event()
        """Set while the bridge is run here."""
        self.signs = TypingSigns(self._hub, bridge)
        self.notices = WaitNotices(self._hub, bridge, self.dispatch.wake)

    async def run(self) -> None:
        """Until cancelled: wait for the lease, work while it holds, and wait again."""
        try:
            while True:
                if await self._take_lease():
                    await self._work()
                await self._records.clock.sleep_until(self._records.clock.now() + lease.RENEW_SECONDS)
        finally:
            with suppress(MootError):
                await asyncio.shield(self.lease.give_back())

    async def _take_lease(self) -> bool:
        try:
            return await self.lease.take()
        except MootError as trouble:
            log.warning("no lease", action="lease_failed", bridge=self.bridge.name, error=trouble.title)
            return self.lease.holds()

    async def _work(self) -> None:
        log.info("running", action="bridge_running", bridge=self.bridge.name, holder=self.lease.holder)
        tasks = [
            asyncio.ensure_future(work)
            for work in (self._renew(), self._listen(), self._follow(), self._sweep())
        ]
        self.is_running.set()
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.is_running.clear()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self.signs.close()
            await self.dispatch.close()
        for task in tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                log.error("stopped", action="bridge_stopped", bridge=self.bridge.name, error=repr(error))

    async def _renew(self) -> None:
        while await self._take_lease():
            await self._records.clock.sleep_until(self._records.clock.now() + lease.RENEW_SECONDS)

    async def _listen(self) -> None:
        """Reconnect whenever the bridge fails; sending and sweeping go on meanwhile."""
        while True:
            try:
                await self.bridge.run(self)
            except MootError as trouble:
                log.error(
                    "not listening", action="listen_failed", bridge=self.bridge.name, error=trouble.title
                )
            except Exception as error:  # the border of the bridge: a library may raise anything
                log.error("not listening", action="listen_failed", bridge=self.bridge.name, error=repr(error))
            await asyncio.sleep(AGAIN_SECONDS)

    async def hear(self, incoming: Incoming) -> None:
        await self.intake.hear(incoming)
        self.dispatch.wake(incoming.chat.id)

    async def lay_aside(self, key: str, error: str) -> None:
        log.error("cannot be read", action="update_unreadable", key=key, error=error)
        command = RecordArrival(self.bridge.name, key, "", "", ArrivalState.DEAD, error=error)
        await self._records.record(command)

    async def knows(self, key: str) -> bool:
        arrival = await self._records.arrival(self.bridge.name, key)
        return arrival is not None and arrival.state in SETTLED

    async def chats(self) -> list[PairedChat]:
        chats = await self._records.chats(self.bridge.name)
        coded = await self._records.coded_at(self.bridge.name)
        return [
            PairedChat(chat.chat, coded.get(chat.chat, chat.created_at))
            for chat in chats
            if chat.state is PairingState.PAIRED
        ]

    async def heard_lately(self, chat: str) -> list[str]:
        paired = await self._records.chat(self.bridge.name, chat)
        messages = await self._records.newest(paired.conversation, MAX_COMPARED) if paired is not None else []
        here = [one for one in messages if one.metadata.get(CHAT) == f"{self.bridge.name}/{chat}"]
        standing = [one for one in reversed(here) if not one.metadata.get("deleted")]
        arrivals = [await self._records.became(message) for message in standing]
        return [arrival.key for arrival in arrivals if arrival is not None]

    async def _sweep(self) -> None:
        while True:
            with suppress(MootError):
                await self.dispatch.plan_all()
                await self.notices.look_everywhere()
            await self._records.clock.sleep_until(self._records.clock.now() + SWEEP_SECONDS)

    # --- events of the hub -----------------------------------------------------------------------------------

    async def _follow(self) -> None:
        async for event in self._hub.events(types=FOLLOWED):
            try:
                await self.on_event(event)
            except MootError as trouble:  # the sweep comes to it
                log.warning("not planned", action="plan_failed", error=trouble.title)

    async def on_event(self, event: Event) -> None:
        match event.type:
            case EventType.TURN_STARTED:
                await self.signs.begin(event)
                await self.notices.look_in(event.conversation)
            case EventType.TURN_DELTA:
                self.signs.append(event)
            case EventType.TURN_FINISHED | EventType.TURN_OWED | EventType.TURN_HELD:
                self.signs.end(str(event.body.get("id", "")))
                await self.notices.look_in(event.conversation)
            case EventType.DECISION_CREATED:
                await self.dispatch.ask_where_it_began(str(event.body.get("id", "")))
            case EventType.DECISION_ANSWERED:
                await self._on_decided(event)
            case EventType.MESSAGE_POSTED if event.conversation:
                await self.dispatch.plan(event.conversation)
            case _:
                await self.dispatch.plan_all()

    async def _on_decided(self, event: Event) -> None:
        for post in await self._records.posts(BRIDGE_POSTS.where(decision=str(event.body.get("id", "")))):
            if post.bridge == self.bridge.name:
                await self._on_chosen(post, f"{event.body.get('to')}: {event.body.get('answer')}")

    async def _on_chosen(self, post: BridgePost, choice: str) -> None:
        """Replace the buttons by who chose what."""
        if not post.text.endswith(choice):
            await self._records.revise(RevisePost(post.id, f"{post.text}\n\n{choice}"))
            self.dispatch.wake(post.chat)
