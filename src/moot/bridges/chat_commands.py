"""Commands typed into a chat elsewhere, replies, edits and pressed buttons: who may, and what the chat is told.

A command is begun, carried out, and done together with its answer. One that was begun and never done is not repeated.
Above: intake.py. Below: hub/commands/slash.py, which carries the same commands out for every surface.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import sha256
from typing import TypeAlias

import structlog
from msgspec import structs

from moot import shapes
from moot.bridges import permissions, phrases
from moot.bridges.bridge import ChatSeen, Erased, Pressed, Rewrote, Wrote
from moot.bridges.guest_pace import MINUTE
from moot.bridges.unpaired import UnpairedChats
from moot.errors import Conflict, MootError, NotFound, NotPermitted, Trouble
from moot.failpoints import failpoint
from moot.flow.pair_chat import PairChat
from moot.flow.record_arrival import RecordArrival
from moot.hub import Hub
from moot.hub.commands.slash import At, carry_out
from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import (
    CONTINUE,
    ArrivalState,
    BridgeAccount,
    BridgeChat,
    BridgePost,
    ChatKind,
    Piece,
)
from moot.rules.words import slash

log = structlog.get_logger("moot.bridges")

OnChosen: TypeAlias = Callable[[BridgePost, str], Awaitable[None]]
"""Told which post was chosen under, and who chose what."""
PRESS_LOOKS = 10
PRESS_SECONDS = 0.2


class ChatCommands:
    def __init__(
        self, hub: Hub, door: DoorName, default_agent: str, on_chosen: OnChosen | None = None
    ) -> None:
        self._hub = hub
        self._records = hub.bridges.records
        self._door = door
        self._default_agent = default_agent
        self._on_chosen = on_chosen
        self._unpaired = UnpairedChats(hub, door, default_agent)

    async def carry_out(
        self, wrote: Wrote, chat: BridgeChat, account: BridgeAccount, command: slash.Command
    ) -> None:
        name = wrote.text.split()[0]
        if not permissions.may(account, command):
            text = phrases.NOT_FOR_GUESTS.format(command=name, bridge=self._door, account=account.account)
            await self._record(wrote, ArrivalState.REFUSED, text)
            return
        if not await self._begin(wrote, name):
            return
        failpoint("bridge.begun")
        try:
            lines = await self._done(wrote, chat, account, command)
        except MootError as error:
            if isinstance(error, Trouble):
                log.error("not carried out", action="command_failed", key=wrote.key, error=error.title)
            lines = phrases.refusal(error)
        failpoint("bridge.carried_out")
        await self._record(wrote, ArrivalState.DONE, lines)

    async def _begin(self, wrote: Wrote, name: str) -> bool:
        """Whether it is to be carried out now: not if it was begun before, by whoever stopped in the middle."""
        command = RecordArrival(
            self._door, wrote.key, wrote.chat.id, wrote.account.id, ArrivalState.BEGUN, wrote.text
        )
        begun = await self._records.record(command)
        if not begun.is_news and begun.arrival.state is ArrivalState.BEGUN:
            await self._record(wrote, ArrivalState.DONE, phrases.INTERRUPTED.format(command=name))
        return begun.is_news

    async def _done(
        self, wrote: Wrote, chat: BridgeChat, account: BridgeAccount, command: slash.Command
    ) -> str:
        if isinstance(command, slash.QuitCommand):
            return "There is nothing to leave here; remove the bot from the chat, or let the owner unpair it."
        if isinstance(command, slash.WhyCommand) and not command.number:
            seq, _ = await self.answered(wrote, chat)
            command = slash.WhyCommand(seq)
        where = await self._member_of(chat, account)
        voice = permissions.voice(self._hub, account, self._door, command, where.id)
        done = await carry_out(command, At(voice, where, (self._door, chat.chat)))
        if done.moved is not None and done.moved.id != chat.conversation:
            await self._bind(chat, account, done.moved)
        elif done.left:
            await self.standing_chat(chat, account)
        return "\n".join(done.lines) or "done"

    async def _member_of(self, chat: BridgeChat, account: BridgeAccount) -> shapes.Conversation:
        """The conversation, with whoever gives the command in it: having written in a paired chat is enough."""
        where = await self._hub.conversations.get(chat.conversation)
        name = self._records.name(account.participant)
        if where.kind == "group" and name not in {seat.name for seat in where.participants}:
            return await self._hub.conversations.join(where.id, name)
        return where

    async def _bind(self, chat: BridgeChat, account: BridgeAccount, to: shapes.Conversation) -> BridgeChat:
        return await self._records.pair(
            PairChat(account.participant, self._door, chat.chat, to.id, account=account.account)
        )

    async def standing_chat(self, chat: BridgeChat, account: BridgeAccount) -> BridgeChat:
        """The chat with a conversation that can be talked in: where its group was dissolved, it is with one agent
        again, the bot's or the default one. A chat of several people gets a conversation of its own for that:
        somebody's direct one would show the others what is said in it elsewhere."""
        if await self._records.bound([chat.conversation]) and await self._is_theirs(chat, account):
            return chat
        bound = await self._hub.conversations.list(channel_type=self._door, channel_group_id=chat.chat)
        own = chat.listener or next(iter(chat.agents), "") or await self._agent_of(chat)
        if bound:
            where = bound[0]
        elif chat.kind is ChatKind.PRIVATE:
            where = await self._unpaired.direct(own, account)
        else:
            where = await self._unpaired.alone(chat, self._default_agent or own, account)
        return await self._bind(chat, account, where)

    async def _agent_of(self, chat: BridgeChat) -> str:
        """Whom a chat was with, where no bot of its own says so."""
        try:
            where = await self._hub.conversations.get(chat.conversation)
        except NotFound:
            return ""
        return next((seat.name for seat in where.participants if seat.kind in ("agent", "external")), "")

    async def _is_theirs(self, chat: BridgeChat, account: BridgeAccount) -> bool:
        """Whether a private chat is still its person's: whose account it is may have been said since it was paired."""
        if chat.kind is not ChatKind.PRIVATE:
            return True
        where = await self._hub.conversations.get(chat.conversation)
        return self._records.name(account.participant) in {seat.name for seat in where.participants}

    async def answered(self, wrote: Wrote, chat: BridgeChat) -> tuple[int, str]:
        """Which message here a reply answers, and which agent said that; 0 and nobody where it answers nothing. Where
        ids differ per account, only what the listener's own bot said is known by the id that it heard."""
        by = wrote.replied_agent if chat.kind is ChatKind.GROUP else None
        is_known = chat.kind is not ChatKind.GROUP or wrote.replied_agent == wrote.agent
        post = await self._records.sent_as(self._door, chat.chat, wrote.reply_to, by=by) if is_known else None
        if post is not None and post.conversation == chat.conversation:
            return post.seq, post.speaker if post.seq else ""
        key = wrote.reply_key if not wrote.replied_agent else ""
        arrival = await self._records.arrival(self._door, key) if key else None
        if arrival is not None and arrival.conversation == chat.conversation:
            return arrival.seq, ""
        return 0, wrote.replied_agent

    async def edit(self, edited: Rewrote, account: BridgeAccount) -> None:
        """What somebody changed in the chat app is changed here too, by whoever wrote it. Each edit once: several bots
        hear it, and an older one that comes late must not undo a newer one."""
        arrival = await self._records.arrival(self._door, original(edited.key))
        if arrival is None or not arrival.seq or arrival.account != account.account:
            return
        voice = self._hub.voice_of(account.participant, self._door)
        message = await voice.message(f"{arrival.conversation}:{arrival.seq}")
        if message.text != edited.text and edited.text.strip():
            await voice.edit(message.id, edited.text, version=message.version)
        await self._records.record(
            RecordArrival(self._door, edited.key, edited.chat.id, account.account, ArrivalState.DONE)
        )

    async def erase(self, erased: Erased) -> None:
        """What was deleted in the chat app is deleted here too. Where that cannot be, it stays as it is."""
        arrival = await self._records.arrival(self._door, erased.key)
        account = await self._records.account(self._door, arrival.account) if arrival is not None else None
        if arrival is None or account is None or not arrival.seq:
            return
        voice = self._hub.voice_of(account.participant, self._door)
        with suppress(
            MootError
        ):  # deleted already, in an archived conversation, or by now somebody else's account
            message = await voice.message(f"{arrival.conversation}:{arrival.seq}")
            await voice.delete(message.id, version=message.version)

    async def press(self, pressed: Pressed, chat: BridgeChat, account: BridgeAccount) -> None:
        """A button answers a decision, if it is this person's to decide, or resumes what a brake stopped."""
        post = await self._pressed_post(pressed, chat)
        if post is None or not post.decision or not 0 <= pressed.choice < len(post.buttons):
            raise NotFound("this button belongs to nothing any more", what="decision")
        if post.decision == CONTINUE:
            await self._resume(pressed, chat, account, post)
            return
        voice = self._hub.voice_of(account.participant, self._door)
        try:
            await voice.decisions.answer(post.decision, post.buttons[pressed.choice])
        except NotFound:
            raise NotPermitted("this is not yours to decide") from None
        await self._record(pressed, ArrivalState.DONE, "")

    async def _resume(
        self, pressed: Pressed, chat: BridgeChat, account: BridgeAccount, post: BridgePost
    ) -> None:
        """Under what a brake said: whether its agents go on is chosen once, by somebody who may."""
        command = slash.ContinueCommand()
        if not permissions.may(account, command):
            raise NotPermitted("guests cannot resume what a brake stopped")
        where = await self._member_of(chat, account)
        voice = permissions.voice(self._hub, account, self._door, command, where.id)
        key = f"choice/{post.id}"
        choice = RecordArrival(self._door, key, chat.chat, account.account, ArrivalState.BEGUN)
        begun = await self._records.record(choice)
        if not begun.is_news:
            raise Conflict("this was chosen already")
        if pressed.choice == 0:
            await carry_out(command, At(voice, where, (self._door, chat.chat)))
        await self._records.record(structs.replace(choice, state=ArrivalState.DONE))
        await self._record(pressed, ArrivalState.DONE, "")
        if self._on_chosen is not None:
            name = self._records.name(account.participant)
            await self._on_chosen(post, f"{name}: {post.buttons[pressed.choice]}")

    async def _pressed_post(self, pressed: Pressed, chat: BridgeChat) -> BridgePost | None:
        """Somebody may press before it is written down that the post is there."""
        for _ in range(PRESS_LOOKS):
            by = pressed.agent if chat.kind is ChatKind.GROUP else None
            post = await self._records.sent_as(self._door, chat.chat, pressed.message, by=by)
            if post is not None:
                return post
            await asyncio.sleep(PRESS_SECONDS)
        return None

    async def agent_joined(self, chat: BridgeChat, agent: str) -> None:
        if chat.kind is not ChatKind.PRIVATE and await self._records.bound([chat.conversation]):
            where = await self._hub.conversations.get(chat.conversation)
            if where.kind == "group" and agent not in {seat.name for seat in where.participants}:
                await self._hub.conversations.join(where.id, agent)

    async def agent_left(self, chat: BridgeChat, agent: str) -> None:
        where = await self._hub.conversations.get(chat.conversation)
        if where.kind == "group" and agent in {seat.name for seat in where.participants}:
            await self._hub.conversations.leave(where.id, agent)

    async def give_notice(self, chat: BridgeChat, seen: ChatSeen) -> None:
        """What people in a chat have to know about a bot, once."""
        key = f"notice/{chat.chat}/{sha256(seen.notice.encode()).hexdigest()[:12]}"
        piece = Piece(seen.notice, speaker=seen.agent)
        command = RecordArrival(self._door, key, chat.chat, "", ArrivalState.DONE, answers=(piece,))
        await self._records.record(command)

    async def tell_refused(self, wrote: Wrote, chat: BridgeChat, reason: str) -> None:
        """To a guest who has used up what guests may, once in a minute; the message is not stored."""
        minute = int(self._records.clock.now() // MINUTE)
        key = f"refused/{chat.chat}/{wrote.account.id}/{minute}"
        piece = Piece(reason, speaker=wrote.agent, reply_to=wrote.message)
        command = RecordArrival(
            self._door, key, chat.chat, wrote.account.id, ArrivalState.DONE, answers=(piece,)
        )
        await self._records.record(command)

    async def _record(self, came: Wrote | Pressed, state: ArrivalState, answer: str) -> None:
        pieces = (Piece(answer, speaker=came.agent, reply_to=came.message),) if answer else ()
        text = came.text if isinstance(came, Wrote) else ""
        command = RecordArrival(
            self._door, came.key, came.chat.id, came.account.id, state, text, answers=pieces
        )
        await self._records.record(command)


def original(key: str) -> str:
    """Under which key something was heard before it was edited."""
    return key.partition("#")[0]
