"""Unpaired chats: a chat with a bot wakes nobody until somebody writes a code from the owner there.

Above: intake.py. A private chat becomes the conversation of its person and the bot's agent; a group a conversation of
the agents whose bots are in it.
"""

import re
from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from moot.bridges import phrases
from moot.bridges.bridge import ChatMessage
from moot.errors import BadValue
from moot.flow.find_chat import FindChat
from moot.flow.meet_account import MeetAccount
from moot.flow.pair_chat import PairChat
from moot.flow.record_arrival import RecordArrival
from moot.hub import Hub
from moot.hub.external.bridges import digest_of
from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import (
    ArrivalState,
    BridgeAccount,
    BridgeChat,
    ChatKind,
    PairingState,
    Piece,
)
from moot.rules.words.names import slug
from moot.shapes import Conversation

_code = re.compile(r"\s*/(?:pair|start)(?:@\w+)?\s+([A-Za-z0-9-]{6,40})((?:\s+@?[\w.-]+)*)\s*$").match
_addressed = re.compile(r"\s*/[A-Za-z]").match
TRY_SECONDS: Final = 3.0
"""Between a wrong code and the next in the same chat."""


def code_in(text: str) -> str:
    """The code of a `/pair CODE [AGENT...]`, or of the link that opens a private chat with one."""
    match = _code(text)
    return match[1] if match is not None else ""


def agents_in(text: str) -> list[str]:
    """The agents named after a code: needed where bots do not stand for agents."""
    match = _code(text)
    return [word.lstrip("@") for word in match[2].split()] if match is not None else []


class UnpairedChats:
    def __init__(self, hub: Hub, door: DoorName, default_agent: str) -> None:
        self._hub = hub
        self._records = hub.bridges.records
        self._door = door
        self._default_agent = default_agent
        self._tried: dict[str, float] = {}
        """Chat → when a wrong code was last tried in it."""
        self._slowed: set[str] = set()
        """Chats that were asked to wait since."""

    async def pair(self, incoming: ChatMessage, chat: BridgeChat, code: str) -> None:
        if chat.state is PairingState.PAIRED:
            await self._answer(incoming, "This chat is paired already.")
            return
        now = self._records.clock.now()
        if now - self._tried.get(chat.chat, 0.0) < TRY_SECONDS:
            if chat.chat not in self._slowed:
                self._slowed.add(chat.chat)
                await self._answer(incoming, "Too many codes in a row; try again in a moment.")
            return
        self._slowed.discard(chat.chat)
        digest = digest_of(code)
        if not await self._records.is_usable(self._door, digest):
            self._tried = {one: at for one, at in self._tried.items() if now - at < TRY_SECONDS}
            self._slowed &= self._tried.keys()
            self._tried[chat.chat] = now
            await self._answer(
                incoming, "This code does not pair a chat: it is wrong, was used, or has run out."
            )
            return
        account = await self._records.meet(
            MeetAccount(self._door, incoming.account.id, incoming.account.shown)
        )
        where = await self.conversation(incoming, chat, account)
        command = PairChat(account.participant, self._door, chat.chat, where.id, digest, account.account)
        await self._records.pair(command)
        agents = ", ".join(seat.name for seat in where.participants if seat.kind in ("agent", "external"))
        await self._answer(incoming, phrases.PAIRED.format(name=where.name, agents=agents or "nobody"))

    async def conversation(
        self, incoming: ChatMessage, chat: BridgeChat, account: BridgeAccount
    ) -> Conversation:
        named = agents_in(incoming.text)
        if chat.kind is ChatKind.PRIVATE:
            return await self.direct(named[0] if named else incoming.agent, account)
        bound = await self._hub.conversations.list(channel_type=self._door, channel_group_id=chat.chat)
        if bound:
            return bound[0]
        agents = named or [name for name in chat.agents if await self._is_agent(name)]
        agents = agents or ([self._default_agent] if self._default_agent else [])
        return await self._create(chat, agents, account)

    async def _create(
        self, chat: BridgeChat, agents: Sequence[str], account: BridgeAccount, **settings: Any
    ) -> Conversation:
        used_names = {
            conversation.name
            for ended in (False, True)
            for conversation in await self._hub.conversations.list(archived=ended)
        }
        base = slug(chat.title or f"{self._door.value} chat")[:60]
        numbered = (f"{base}-{n}" if n > 1 else base for n in count(1))
        name = next(candidate for candidate in numbered if candidate not in used_names)
        return await self._hub.conversations.create(
            name,
            participants=[*agents, self._records.name(account.participant)],
            settings=settings or None,
            channel=(self._door, chat.chat),
        )

    async def alone(self, chat: BridgeChat, agent: str, account: BridgeAccount) -> Conversation:
        """Everybody in a chat with one agent, which answers each line."""
        if not await self._is_agent(agent):
            raise BadValue("no agent answers here", detail="there is no default_agent")
        return await self._create(chat, [agent], account, reply_strategy="round_robin")

    async def direct(self, agent: str, account: BridgeAccount) -> Conversation:
        """The person alone with the bot's agent, or with the default agent."""
        name = agent if await self._is_agent(agent) else self._default_agent
        if not name:
            raise BadValue(
                "no agent answers here", detail="this bot belongs to no agent, and there is no default_agent"
            )
        voice = self._hub.voice_of(account.participant, self._door)
        return await voice.conversations.implicit([name])

    async def _is_agent(self, name: str) -> bool:
        return any(name in (agent.name, *agent.aliases) for agent in await self._hub.agents.list())

    async def explain(self, incoming: ChatMessage, chat: BridgeChat) -> None:
        """Say how to pair the chat: once, and only to somebody who addresses a bot."""
        wants = (
            chat.kind is ChatKind.PRIVATE or incoming.is_addressed or _addressed(incoming.text) is not None
        )
        if chat.explained or not wants:
            return
        ref = incoming.chat
        await self._records.find(
            FindChat(self._door, ref.id, ref.kind, ref.title, incoming.agent, explained=True)
        )
        await self._answer(incoming, phrases.UNPAIRED, ArrivalState.REFUSED)

    async def _answer(
        self, incoming: ChatMessage, text: str, state: ArrivalState = ArrivalState.DONE
    ) -> None:
        piece = Piece(text, speaker=incoming.agent, reply_to=incoming.message)
        command = RecordArrival(
            self._door, incoming.key, incoming.chat.id, incoming.account.id, state, error="", answers=(piece,)
        )
        await self._records.record(command)
