"""Commands typed into a chat elsewhere, replies, edits and pressed buttons: who may, and what is answered.

A command is recorded as begun, carried out, and recorded as done with its answer. One interrupted in between
is not repeated.
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
from moot.bridges.bridge import BotPlaced, ButtonPress, ChatDeletion, ChatEdit, ChatMessage
from moot.bridges.unpaired import UnpairedChats
from moot.errors import Conflict, MootError, NotFound, NotPermitted, Trouble
from moot.failpoints import failpoint
from moot.flow import hear
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
"""Called with the post under which a button was pressed, and who chose what."""
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
        self, incoming: ChatMessage, chat: BridgeChat, account: BridgeAccount, command: slash.Command
    ) -> None:
        name = incoming.text.split()[0]
        if not permissions.may(account, command):
            text = phrases.NOT_FOR_GUESTS.format(command=name, bridge=self._door, account=account.account)
            await self._record(incoming, ArrivalState.REFUSED, text)
            return
        if not await self._begin(incoming, name):
            return
        failpoint("bridge.begun")
        try:
            lines = await self._execute(incoming, chat, account, command)
        except MootError as error:
            if isinstance(error, Trouble):
                log.error("not carried out", action="command_failed", key=incoming.key, error=error.title)
            lines = phrases.refusal(error)
        failpoint("bridge.carried_out")
        await self._record(incoming, ArrivalState.DONE, lines)

    async def _begin(self, incoming: ChatMessage, name: str) -> bool:
        """Record that the command begins; False if it was begun before, by a process that stopped in between."""
        command = RecordArrival(
            self._door, incoming.key, incoming.chat.id, incoming.account.id, ArrivalState.BEGUN, incoming.text
        )
        recorded = await self._records.record(command)
        if not recorded.is_news and recorded.arrival.state is ArrivalState.BEGUN:
            await self._record(incoming, ArrivalState.DONE, phrases.INTERRUPTED.format(command=name))
        return recorded.is_news

    async def _execute(
        self, incoming: ChatMessage, chat: BridgeChat, account: BridgeAccount, command: slash.Command
    ) -> str:
        if isinstance(command, slash.QuitCommand):
            return "There is nothing to leave here; remove the bot from the chat, or let the owner unpair it."
        if isinstance(command, slash.WhyCommand) and not command.number:
            seq, _ = await self.answered_message(incoming, chat)
            command = slash.WhyCommand(seq)
        where = await self._member_of(chat, account)
        voice = permissions.voice(self._hub, account, self._door, command, where.id)
        outcome = await carry_out(command, At(voice, where, (self._door, chat.chat)))
        if outcome.moved is not None and outcome.moved.id != chat.conversation:
            await self._bind(chat, account, outcome.moved)
        elif outcome.left:
            await self.standing_chat(chat, account)
        return "\n".join(outcome.lines) or "done"

    async def _member_of(self, chat: BridgeChat, account: BridgeAccount) -> shapes.Conversation:
        """The conversation, which the sender of the command joins: having written in a paired chat is enough."""
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
        """The chat with a conversation that still exists. If its group was dissolved, the chat is bound to a
        conversation with one agent, the bot's or the default one. A chat of several people gets a new conversation:
        a direct one would show the others what its person says elsewhere."""
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
        """The agent a chat was with, where no bot of its own tells."""
        try:
            where = await self._hub.conversations.get(chat.conversation)
        except NotFound:
            return ""
        return next((seat.name for seat in where.participants if seat.kind in ("agent", "external")), "")

    async def _is_theirs(self, chat: BridgeChat, account: BridgeAccount) -> bool:
        """Whether a private chat still belongs to its person: the account may have been linked since it was paired."""
        if chat.kind is not ChatKind.PRIVATE:
            return True
        where = await self._hub.conversations.get(chat.conversation)
        return self._records.name(account.participant) in {seat.name for seat in where.participants}

    async def answered_message(self, incoming: ChatMessage, chat: BridgeChat) -> tuple[int, str]:
        """The seq of the message that a reply answers, and the agent that wrote it; 0 and "" where it answers none.
        Where ids differ per account, the listener's bot knows only its own posts by id."""
        by = incoming.replied_agent if chat.kind is ChatKind.GROUP else None
        is_known = chat.kind is not ChatKind.GROUP or incoming.replied_agent == incoming.agent
        post = (
            await self._records.sent_as(self._door, chat.chat, incoming.reply_to, by=by) if is_known else None
        )
        if post is not None and post.conversation == chat.conversation:
            return post.seq, post.speaker if post.seq else ""
        key = incoming.reply_key if not incoming.replied_agent else ""
        arrival = await self._records.arrival(self._door, key) if key else None
        if arrival is not None and arrival.conversation == chat.conversation:
            return arrival.seq, ""
        return 0, incoming.replied_agent

    async def edit(self, edit: ChatEdit, account: BridgeAccount) -> None:
        """Apply an edit of the author in the chat app to the message. Each edit once: several bots receive it, and a
        late older edit must not undo a newer one."""
        arrival = await self._records.arrival(self._door, original(edit.key))
        if arrival is None or not arrival.seq or arrival.account != account.account:
            return
        voice = self._hub.voice_of(account.participant, self._door)
        message = await voice.message(f"{arrival.conversation}:{arrival.seq}")
        if message.text != edit.text and edit.text.strip():
            await voice.edit(message.id, edit.text, version=message.version)
        await self._records.record(
            RecordArrival(self._door, edit.key, edit.chat.id, account.account, ArrivalState.DONE)
        )

    async def delete(self, deletion: ChatDeletion) -> None:
        """Delete a message that was deleted in the chat app. Where that is refused, the message stays."""
        arrival = await self._records.arrival(self._door, deletion.key)
        account = await self._records.account(self._door, arrival.account) if arrival is not None else None
        if arrival is None or account is None or not arrival.seq:
            return
        voice = self._hub.voice_of(account.participant, self._door)
        with suppress(
            MootError
        ):  # deleted already, in an archived conversation, or by now somebody else's account
            message = await voice.message(f"{arrival.conversation}:{arrival.seq}")
            await voice.delete(message.id, version=message.version)

    async def press(self, press: ButtonPress, chat: BridgeChat, account: BridgeAccount) -> None:
        """A button answers a decision, if this person may decide it, or resumes what a brake stopped."""
        post = await self._pressed_post(press, chat)
        if post is None or not post.decision or not 0 <= press.choice < len(post.buttons):
            raise NotFound("this button belongs to nothing any more", what="decision")
        if post.decision == CONTINUE:
            await self._resume(press, chat, account, post)
            return
        voice = self._hub.voice_of(account.participant, self._door)
        try:
            await voice.decisions.answer(post.decision, post.buttons[press.choice])
        except NotFound:
            raise NotPermitted("this is not yours to decide") from None
        await self._record(press, ArrivalState.DONE, "")

    async def _resume(
        self, press: ButtonPress, chat: BridgeChat, account: BridgeAccount, post: BridgePost
    ) -> None:
        """The buttons under a brake's notice: whether the agents go on is chosen once, by somebody who may."""
        command = slash.ContinueCommand()
        if not permissions.may(account, command):
            raise NotPermitted("guests cannot resume what a brake stopped")
        where = await self._member_of(chat, account)
        voice = permissions.voice(self._hub, account, self._door, command, where.id)
        key = f"choice/{post.id}"
        choice = RecordArrival(self._door, key, chat.chat, account.account, ArrivalState.BEGUN)
        recorded = await self._records.record(choice)
        if not recorded.is_news:
            raise Conflict("this was chosen already")
        if press.choice == 0:
            await carry_out(command, At(voice, where, (self._door, chat.chat)))
        await self._records.record(structs.replace(choice, state=ArrivalState.DONE))
        await self._record(press, ArrivalState.DONE, "")
        if self._on_chosen is not None:
            name = self._records.name(account.participant)
            await self._on_chosen(post, f"{name}: {post.buttons[press.choice]}")

    async def _pressed_post(self, press: ButtonPress, chat: BridgeChat) -> BridgePost | None:
        """Waits a little: somebody may press before the post's result is stored."""
        for _ in range(PRESS_LOOKS):
            by = press.agent if chat.kind is ChatKind.GROUP else None
            post = await self._records.sent_as(self._door, chat.chat, press.message, by=by)
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

    async def give_notice(self, chat: BridgeChat, placed: BotPlaced) -> None:
        """Post what people in a chat have to know about a bot, once."""
        key = f"notice/{chat.chat}/{sha256(placed.notice.encode()).hexdigest()[:12]}"
        piece = Piece(placed.notice, speaker=placed.agent)
        command = RecordArrival(self._door, key, chat.chat, "", ArrivalState.DONE, answers=(piece,))
        await self._records.record(command)

    async def tell_refused(self, incoming: ChatMessage, chat: BridgeChat, reason: str) -> None:
        """Answer a guest whose allowance is used up, at most once a minute; the message is not stored."""
        minute = int(self._records.clock.now() // hear.MINUTE)
        key = f"refused/{chat.chat}/{incoming.account.id}/{minute}"
        piece = Piece(reason, speaker=incoming.agent, reply_to=incoming.message)
        command = RecordArrival(
            self._door, key, chat.chat, incoming.account.id, ArrivalState.DONE, answers=(piece,)
        )
        await self._records.record(command)

    async def _record(self, incoming: ChatMessage | ButtonPress, state: ArrivalState, answer: str) -> None:
        pieces = (Piece(answer, speaker=incoming.agent, reply_to=incoming.message),) if answer else ()
        text = incoming.text if isinstance(incoming, ChatMessage) else ""
        command = RecordArrival(
            self._door, incoming.key, incoming.chat.id, incoming.account.id, state, text, answers=pieces
        )
        await self._records.record(command)


def original(key: str) -> str:
    """The key of the message that an edit changes."""
    return key.partition("#")[0]
