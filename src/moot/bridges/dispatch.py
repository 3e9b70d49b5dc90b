"""Out: messages of a paired conversation are planned as posts, which are sent in order, independently for each chat.

Each post is stored as being sent, sent, and its result stored. A post without a result stays unconfirmed: it is shown,
never sent again by itself and never lost. Above: worker.py. Below: the hub's verbs, and a bridge that sends.
"""

import asyncio
from functools import partial
from typing import Final, TypedDict, Unpack

import structlog
from msgspec import structs

from moot.bridges.bridge import Bridge, ChatMoved, Flooded, NotReached, NotSent, SendTrouble, Unsure
from moot.bridges.flood import FloodGate
from moot.bridges.lease import Lease
from moot.bridges.pieces import shorten, split, without_speakers, without_unsafe_links
from moot.errors import Conflict, MootError, Trouble
from moot.failpoints import failpoint
from moot.flow.find_chat import FindChat
from moot.flow.hear import CHAT
from moot.flow.move_post import MovePost
from moot.flow.plan_posts import PlanPosts
from moot.flow.record_arrival import RecordArrival
from moot.hub import Hub
from moot.model.ids import ConversationId
from moot.model.message import Message
from moot.model.participant import TAKES_TURNS, Kind
from moot.model.records.chat_apps.bridge import (
    CONTINUE,
    ArrivalState,
    BridgeChat,
    BridgePost,
    BridgePostState,
    ChatKind,
    PairingState,
    Piece,
)

log = structlog.get_logger("moot.bridges")

PAGE: Final = 100
MAX_QUEUED: Final = 100
"""Posts that wait for one chat before no more messages are planned for it: they are stored anyway."""
QUIET_NOTICES: Final = frozenset({"joined", "left"})
"""Notices that a chat app shows by itself."""
BRAKE: Final = "brake"
GO_ON: Final = ("Continue once", "Stay off")
RETRY_SECONDS: Final = 2.0
MAX_WAIT_SECONDS: Final = 60.0
MAX_DOUBLINGS: Final = 10


class SendOutcome(TypedDict, total=False):
    """The result of trying to send a post."""

    external: str
    error: str
    due: float
    counts: bool


class Dispatch:
    def __init__(self, hub: Hub, bridge: Bridge, lease: Lease) -> None:
        self._hub = hub
        self._records = hub.bridges.records
        self._bridge = bridge
        self._lease = lease
        self._gates: dict[str, FloodGate] = {}
        self._senders: dict[str, asyncio.Task[None]] = {}
        self._pending: dict[str, bool] = {}
        self._unreached: dict[str, int] = {}
        """Chat → how often in a row it could not be reached."""
        self._results: dict[str, tuple[str, MovePost]] = {}
        """Results of posts that are not stored yet, with their chats."""

    # --- planning -------------------------------------------------------------------------------------------

    async def plan_all(self) -> None:
        """Plan every message since the last planning; this makes up for lost hints."""
        for chat in await self._records.chats(self._bridge.name):
            if chat.state is PairingState.PAIRED:
                await self._plan(chat)
        for name in await self._records.queued_chats(self._bridge.name):
            self.wake(name)
        for where, _ in list(self._results.values()):
            self.wake(where)
        self._gates = {name: gate for name, gate in self._gates.items() if not gate.is_idle}

    async def plan(self, conversation: str) -> None:
        """Plan the messages of one conversation."""
        for chat in await self._records.chats_of(self._bridge.name, ConversationId(conversation)):
            if chat.state is PairingState.PAIRED:
                await self._plan(chat)

    async def _plan(self, chat: BridgeChat) -> None:
        """Plan as much as may wait in the queue; the rest is planned when that is sent."""
        while len(await self._records.queue(chat.bridge, chat.chat)) < MAX_QUEUED:
            messages = await self._records.said_after(chat.conversation, chat.cursor, PAGE)
            if not messages:
                return
            pieces = [piece for message in messages for piece in await self._pieces(message, chat)]
            after = await self._records.plan(
                PlanPosts(
                    chat.bridge, chat.chat, chat.conversation, chat.cursor, messages[-1].seq, tuple(pieces)
                )
            )
            failpoint("bridge.planned")
            self.wake(chat.chat)
            if after is None or after.cursor <= chat.cursor or after.conversation != chat.conversation:
                return
            chat = after

    async def _pieces(self, message: Message, chat: BridgeChat) -> list[Piece]:
        if message.metadata.get(CHAT) == f"{chat.bridge}/{chat.chat}" or message.metadata.get("deleted"):
            return []
        if message.kind is Kind.TOOL or message.metadata.get("notice") in QUIET_NOTICES:
            return []
        name = self._records.name(message.author)
        speaks = message.kind in TAKES_TURNS and self._bridge.can_speak_as(name)
        text = without_speakers(without_unsafe_links(message.text))
        if message.metadata.get("partial"):
            text = f"{text} … (interrupted)"
        if not speaks and message.kind is not Kind.SYSTEM:
            text = f"● {name}: {text}"
        rest = f"… It goes on, too long for a chat: all of it is message {message.id} of the hub."
        texts = shorten(split(text, self._bridge.max_size, self._bridge.size), rest)
        pieces = [Piece(each, speaker=name if speaks else "", seq=message.seq) for each in texts]
        buttons, decision = await self._buttons(message)
        if buttons and pieces:
            pieces[-1] = structs.replace(pieces[-1], buttons=buttons, decision=decision)
        return pieces

    async def _buttons(self, message: Message) -> tuple[tuple[str, ...], str]:
        """The buttons under a message, and the decision they answer."""
        if message.metadata.get("notice") == BRAKE and message.metadata.get("root"):
            return GO_ON, CONTINUE
        decision = await self._records.asking(message) if message.kind in TAKES_TURNS else None
        return (decision.choices, decision.id) if decision is not None else ((), "")

    async def ask_where_it_began(self, id: str) -> None:
        """Agents ask people in private. A person whose message in a chat led to the question is asked there too, once;
        others are asked in private only."""
        decision = await self._records.decision(id)
        root = await self._records.began_with(decision) if decision is not None else None
        if decision is None or root is None or root.author != decision.to:
            return
        bridge, _, chat_id = str(root.metadata.get(CHAT, "")).partition("/")
        chat = await self._records.chat(bridge, chat_id) if bridge == self._bridge.name else None
        if chat is None or chat.conversation in ("", decision.conversation):
            return  # another chat app's, or the question is shown there anyway
        pieces = self._texts(decision.question, self._records.name(decision.by))
        pieces[-1] = structs.replace(pieces[-1], buttons=decision.choices, decision=decision.id)
        key = f"decision/{decision.id}"
        await self._records.record(
            RecordArrival(chat.bridge, key, chat.chat, "", ArrivalState.DONE, answers=tuple(pieces))
        )
        self.wake(chat.chat)

    def _texts(self, text: str, speaker: str) -> list[Piece]:
        """An agent's text in pieces that the chat app accepts."""
        is_own = self._bridge.can_speak_as(speaker)
        safe = without_speakers(without_unsafe_links(text))
        parts = split(safe if is_own else f"● {speaker}: {safe}", self._bridge.max_size, self._bridge.size)
        return [Piece(part, speaker=speaker if is_own else "") for part in parts]

    # --- sending --------------------------------------------------------------------------------------------

    def wake(self, chat: str) -> None:
        """Send what is queued for a chat; one sender per chat keeps the order."""
        self._pending[chat] = True
        running = self._senders.get(chat)
        if running is None or running.done():
            sender = self._senders[chat] = asyncio.get_running_loop().create_task(self._send_all(chat))
            sender.add_done_callback(partial(self._sender_ended, chat))

    def _sender_ended(self, chat: str, sender: asyncio.Task[None]) -> None:
        """The next plan starts a new sender; a failure must be visible."""
        if self._senders.get(chat) is sender:
            del self._senders[chat]
        if not sender.cancelled() and (error := sender.exception()) is not None:
            log.error("a sender died", action="sender_died", chat=chat, error=repr(error))

    async def close(self) -> None:
        tasks = list(self._senders.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._senders.clear()

    async def settled(self) -> None:
        """Wait until this process sends nothing."""
        while tasks := [task for task in self._senders.values() if not task.done()]:
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send_all(self, chat: str) -> None:
        while self._pending.pop(chat, False):
            try:
                await self._store_results(chat)
                await self._send_queued(chat)
            except MootError as trouble:
                log.error("could not be sent", action="send_failed", chat=chat, error=trouble.title)
                if isinstance(trouble, Conflict) and not self._lease.holds():
                    return
                await self._records.clock.sleep_until(self._records.clock.now() + RETRY_SECONDS)
                self._pending[chat] = True

    async def _send_queued(self, chat: str) -> None:
        """Until nothing is queued. The queue is read again where it may have changed: somebody woke this chat, or a
        post stayed in it."""
        clock = self._records.clock
        while posts := await self._queue(chat):
            for post in posts:
                if post.due > clock.now():
                    await clock.sleep_until(post.due)
                    break
                await (await self._gate(post)).wait_for_turn()
                if not self._lease.holds():
                    return
                if not await self._send(post) or self._pending.pop(chat, False):
                    break

    async def _queue(self, chat: str) -> list[BridgePost]:
        """What is queued for a chat; once that is sent, the next of what was said."""
        posts = await self._records.queue(self._bridge.name, chat)
        known = await self._records.chat(self._bridge.name, chat) if not posts else None
        if known is None or known.state is not PairingState.PAIRED:
            return posts
        await self._plan(known)
        return await self._records.queue(self._bridge.name, chat)

    async def _gate(self, post: BridgePost) -> FloodGate:
        gate = self._gates.get(post.chat)
        if gate is None:
            chat = await self._records.chat(post.bridge, post.chat)
            kind = (
                chat.kind if chat is not None else ChatKind.SUPERGROUP
            )  # it has moved; the send will tell where
            rule = self._bridge.flood_rule(kind)
            gate = self._gates[post.chat] = FloodGate(self._records.clock, rule)
        return gate

    async def _send(self, post: BridgePost) -> bool:
        """Whether it is in the chat now."""
        self._lease.sending.add(post.id)
        is_there, intended = False, await self._store_intent(post)
        if intended is not None and intended.chat == post.chat:
            is_there = await self._post(intended)
        elif intended is not None:  # the chat has got another id since the queue was read
            self._note_result(post, BridgePostState.QUEUED, counts=False)
            self.wake(intended.chat)
        await self._store_results(post.chat)
        failpoint("bridge.resulted")
        return is_there

    async def _store_intent(self, post: BridgePost) -> BridgePost | None:
        """Store that the post is being sent: the post as it is now, which may have got another text meanwhile. None if
        that cannot be stored: then it must not be sent."""
        try:
            intended = await self._records.move(self._move(post, BridgePostState.SENDING))
        except Conflict:
            self._lease.sending.discard(post.id)
            raise
        except Trouble as trouble:
            self._note_result(post, BridgePostState.QUEUED, error=trouble.title, counts=False)
            return None
        except asyncio.CancelledError:
            self._note_result(post, BridgePostState.QUEUED, counts=False)
            raise
        failpoint("bridge.intended")
        return intended

    async def _post(self, post: BridgePost) -> bool:
        external = ""
        try:
            if post.is_there:
                await self._bridge.edit(post)
            else:
                external = await self._bridge.send(post)
        except SendTrouble as trouble:
            await self._note_failure(post, trouble)
            return False
        except asyncio.CancelledError:
            self._note_result(post, BridgePostState.UNCONFIRMED, error="stopped while sending")
            await asyncio.shield(self._store_result(post.id))
            raise
        except Exception as error:  # the border of the bridge: a library may raise anything
            await self._note_failure(post, Unsure(repr(error)))
            return False
        failpoint("bridge.sent")
        self._unreached.pop(post.chat, None)
        self._note_result(post, BridgePostState.SENT, external=external)
        return True

    async def _note_failure(self, post: BridgePost, trouble: SendTrouble) -> None:
        now = self._records.clock.now()
        match trouble:
            case Flooded(seconds=seconds):
                self._note_result(
                    post, BridgePostState.QUEUED, error=str(trouble), due=now + seconds, counts=False
                )
                (await self._gate(post)).close_for(seconds)
            case ChatMoved(chat=chat):
                self._note_result(post, BridgePostState.QUEUED, error=str(trouble), counts=False)
                await self._store_results(post.chat)
                await self._records.find(
                    FindChat(post.bridge, chat.id, chat.kind, chat.title, moved_from=post.chat)
                )
                self.wake(chat.id)
            case NotReached():
                failures = self._unreached[post.chat] = self._unreached.get(post.chat, 0) + 1
                due = now + min(MAX_WAIT_SECONDS, RETRY_SECONDS * 2 ** min(failures, MAX_DOUBLINGS))
                self._note_result(post, BridgePostState.QUEUED, error=str(trouble), due=due, counts=False)
            case NotSent(is_final=True):
                self._note_result(post, BridgePostState.DEAD, error=str(trouble))
            case _ if isinstance(trouble, NotSent) or post.is_there:
                due = now + RETRY_SECONDS * 2**post.tries
                self._note_result(post, BridgePostState.QUEUED, error=str(trouble), due=due)
            case _:
                log.warning("unconfirmed", action="post_unconfirmed", post=post.id, error=str(trouble))
                self._note_result(post, BridgePostState.UNCONFIRMED, error=str(trouble))

    # --- results --------------------------------------------------------------------------------------------

    def _note_result(self, post: BridgePost, to: BridgePostState, **more: Unpack[SendOutcome]) -> None:
        """Keep a result in memory until it is stored; the chat's next post waits for that."""
        self._results[post.id] = (post.chat, self._move(post, to, **more))

    async def _store_results(self, chat: str) -> None:
        """Store the results of a chat's posts, however long the store is away."""
        for id in [id for id, (where, _) in self._results.items() if where == chat]:
            while not await self._store_result(id):
                clock = self._records.clock
                await clock.sleep_until(clock.now() + RETRY_SECONDS)

    async def _store_result(self, id: str) -> bool:
        if id not in self._results:
            return True
        try:
            await self._records.move(self._results[id][1])
        except Trouble as trouble:
            log.error("its result is not stored yet", action="result_kept", post=id, error=trouble.title)
            return False
        except MootError as settled:  # it is stored already, another hub has settled it, or it is erased
            log.info("settled already", action="result_settled", post=id, reason=settled.title)
        self._results.pop(id, None)
        self._lease.sending.discard(id)
        return True

    def _move(self, post: BridgePost, to: BridgePostState, **more: Unpack[SendOutcome]) -> MovePost:
        return MovePost(post.id, post.bridge, to, self._lease.holder, **more)
