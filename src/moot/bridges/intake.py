"""In: what somebody writes in a chat becomes a message, a command or a refusal, once.

Above: worker.py passes on what a bridge receives. Below: the hub's verbs; slash.py reads commands, the same everywhere.
Chats are independent of each other; within a chat, arrivals are handled one after the other.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from msgspec import Struct, structs

from moot.bridges import phrases
from moot.bridges.bridge import BotPlaced, ButtonPress, ChatDeletion, ChatEdit, ChatMessage, Incoming
from moot.bridges.chat_commands import ChatCommands, OnChosen
from moot.bridges.unpaired import UnpairedChats, code_in
from moot.errors import BadValue, MootError, Trouble
from moot.failpoints import failpoint
from moot.flow.find_chat import FindChat
from moot.flow.hear import GuestAllowance, Hear
from moot.flow.meet_account import MeetAccount
from moot.flow.pace_guest import PaceGuest
from moot.flow.post import Post
from moot.flow.record_arrival import RecordArrival
from moot.hub import Hub
from moot.hub.commands.slash import newest_of_a_person
from moot.hub.external.bridges import digest_of
from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import (
    MAX_TRIES,
    SETTLED,
    ArrivalState,
    BridgeAccount,
    BridgeChat,
    ChatKind,
    PairingState,
    Piece,
)
from moot.rules.words import slash

log = structlog.get_logger("moot.bridges")

RETRY_SECONDS = 0.2
MAX_UNPAIRED = 1_000
"""Unpaired chats that are stored at most: anybody can write to a bot, or add it to a group."""


class Manners(Struct, frozen=True):
    """The settings of a bridge that concern what comes in."""

    default_agent: str = ""
    allowance: GuestAllowance = GuestAllowance(6, 100)


class ChatTurns:
    """One arrival of a chat at a time. What nobody waits for is forgotten: chats are without number."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._locks)

    @asynccontextmanager
    async def of(self, chat: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(chat, asyncio.Lock())
        self._users[chat] += 1
        try:
            async with lock:
                yield
        finally:
            self._users[chat] -= 1
            if not self._users[chat]:
                del self._locks[chat], self._users[chat]


class ChatIntake:
    def __init__(
        self, hub: Hub, door: DoorName, manners: Manners, *, on_chosen: OnChosen | None = None
    ) -> None:
        self._hub = hub.through(door)
        self._records = self._hub.bridges.records
        self._door = door
        self._manners = manners
        self._turns = ChatTurns()
        self._unpaired = UnpairedChats(self._hub, door, manners.default_agent)
        self._commands = ChatCommands(self._hub, door, manners.default_agent, on_chosen)

    async def hear(self, incoming: Incoming) -> None:
        """Returns when it is stored or need not be. Raises if the store cannot be written."""
        if await self._is_one_too_many(incoming):
            return
        async with self._turns.of(incoming.chat.id):
            if isinstance(incoming, BotPlaced):
                await self._take_placement(incoming)
            elif isinstance(incoming, ChatDeletion):
                await self._commands.delete(incoming)
            elif not incoming.account.is_bot:
                await self._take_with_retries(incoming)

    async def _is_one_too_many(self, incoming: Incoming) -> bool:
        """Whether it would be one unpaired chat too many; a valid code lets it in."""
        if await self._records.chat(self._door, incoming.chat.id) is not None:
            return False
        chats = await self._records.chats(self._door)
        if sum(chat.state is PairingState.FOUND for chat in chats) < MAX_UNPAIRED:
            return False
        if isinstance(incoming, BotPlaced) and incoming.moved_from:
            return False
        code = code_in(incoming.text) if isinstance(incoming, ChatMessage) else ""
        return not code or not await self._records.is_usable(self._door, digest_of(code))

    async def _take_with_retries(self, incoming: ChatMessage | ChatEdit | ButtonPress) -> None:
        """Retry what fails for an unknown reason, and lay it aside after five tries: the chat must go on."""
        for _ in range(MAX_TRIES):
            try:
                await self._take(incoming)
                return
            except Trouble:  # the hub's fault, not the message's: the chat app delivers it again
                raise
            except MootError as error:
                answer = phrases.refusal(error) if await self._may_answer(incoming) else ""
                await self._settle(incoming, ArrivalState.REFUSED, answer, error.title)
                return
            except Exception as error:  # the border of the bridge: one message must not stop all that follow
                log.error(
                    "could not be taken in", action="arrival_failed", key=incoming.key, error=repr(error)
                )
                state = await self._settle(incoming, ArrivalState.TROUBLED, "", repr(error))
                if state in SETTLED:
                    return
                await asyncio.sleep(RETRY_SECONDS)

    async def _may_answer(self, incoming: ChatMessage | ChatEdit | ButtonPress) -> bool:
        account = await self._records.account(self._door, incoming.account.id)
        return account is not None and await self._passes(account)

    async def _passes(self, account: BridgeAccount) -> bool:
        """Whether it is answered: guests so often in a minute, others always."""
        pace = PaceGuest(self._door, account.account, self._manners.allowance.per_minute)
        return account.linked or await self._records.pace(pace)

    async def _settle(
        self, incoming: ChatMessage | ChatEdit | ButtonPress, state: ArrivalState, answer: str, error: str
    ) -> ArrivalState:
        chat = await self._records.chat(self._door, incoming.chat.id)
        is_paired = chat is not None and chat.state is PairingState.PAIRED
        pieces = (Piece(answer, reply_to=_message(incoming)),) if answer and is_paired else ()
        text = incoming.text if isinstance(incoming, ChatMessage | ChatEdit) else ""
        cut_short = phrases.INTERRUPTED.format(command=text.split()[0]) if text.split() and is_paired else ""
        command = RecordArrival(
            self._door, incoming.key, incoming.chat.id, incoming.account.id, state, text, error, pieces
        )
        if cut_short:
            notice = Piece(cut_short, speaker=incoming.agent, reply_to=_message(incoming))
            command = structs.replace(command, if_begun=(notice,))
        recorded = await self._records.record(command)
        return recorded.arrival.state

    async def _take(self, incoming: ChatMessage | ChatEdit | ButtonPress) -> None:
        failpoint("bridge.heard")
        chat = await self._chat(BotPlaced(incoming.chat, incoming.agent))
        if chat.kind is ChatKind.GROUP and incoming.agent not in ("", chat.listener):
            return  # ids differ per account there: the listener brings it
        before = await self._records.arrival(self._door, incoming.key)
        if before is not None and before.state in SETTLED:
            return
        if isinstance(incoming, ChatMessage) and (code := code_in(incoming.text)):
            if chat.state is not PairingState.PAIRED or await self._passes(await self._meet(incoming)):
                await self._unpaired.pair(incoming, chat, code)
            return
        if chat.state is not PairingState.PAIRED:
            if isinstance(incoming, ChatMessage):
                await self._unpaired.explain(incoming, chat)
            return
        await self._take_from(incoming, chat, await self._meet(incoming))
        failpoint("bridge.taken")

    async def _take_from(
        self, incoming: ChatMessage | ChatEdit | ButtonPress, chat: BridgeChat, account: BridgeAccount
    ) -> None:
        match incoming:
            case ChatMessage():
                await self._take_message(incoming, chat, account)
            case _ if not await self._passes(account):
                log.info("too much in a minute", action="guest_slowed", key=incoming.key)
            case ChatEdit():
                await self._commands.edit(incoming, account)
            case ButtonPress():
                await self._commands.press(incoming, chat, account)

    async def _take_message(self, incoming: ChatMessage, chat: BridgeChat, account: BridgeAccount) -> None:
        command = slash.parse(incoming.text)
        chat = await self._commands.standing_chat(chat, account)
        if isinstance(command, slash.Say):
            await self._post(incoming, chat, account, command.text)
        elif isinstance(command, slash.AskCommand | slash.AllCommand):
            await self._ask(incoming, chat, account, command)
        elif await self._passes(account):
            await self._commands.carry_out(incoming, chat, account, command)
        else:
            await self._settle(
                incoming, ArrivalState.REFUSED, "", "more commands in a minute than guests may give"
            )

    async def _ask(
        self,
        incoming: ChatMessage,
        chat: BridgeChat,
        account: BridgeAccount,
        command: slash.AskCommand | slash.AllCommand,
    ) -> None:
        """Questions are messages, also those about an earlier message: stored once, within a guest's allowance."""
        if isinstance(command, slash.AllCommand):
            where = await self._hub.conversations.get(chat.conversation)
            agents = tuple(seat.name for seat in where.participants if seat.kind in ("agent", "external"))
            await self._post(incoming, chat, account, command.text, agents)
            return
        names = {name for agent in await self._hub.agents.list() for name in (agent.name, *agent.aliases)}
        question = slash.with_names_found(command, names.__contains__)
        if question.text:
            await self._post(incoming, chat, account, question.text, question.names, capped=True)
            return
        last = await newest_of_a_person(self._hub, chat.conversation)
        if last is None:
            raise BadValue("there is no message here to ask about", fix=("/ask NAME... TEXT",))
        again = self._records.posting_again(account.participant, last, question.names)
        await self._hear(incoming, chat, account, again)

    async def _post(
        self,
        incoming: ChatMessage,
        chat: BridgeChat,
        account: BridgeAccount,
        text: str,
        force: tuple[str, ...] = (),
        *,
        capped: bool = False,
    ) -> None:
        if not text.strip():
            raise BadValue("there is nothing in this message that agents could read")
        seq, speaker = await self._commands.answered_message(incoming, chat)
        is_group = chat.kind is not ChatKind.PRIVATE
        if speaker and is_group and not force:
            force = (speaker,)
        cap = len(set(force)) if capped and is_group and force else None
        message = self._records.posting(
            account.participant, chat.conversation, text, force=force, reply_to=seq, max_turns=cap
        )
        await self._hear(incoming, chat, account, message)

    async def _hear(
        self, incoming: ChatMessage, chat: BridgeChat, account: BridgeAccount, message: Post
    ) -> None:
        result = await self._records.hear(
            Hear(self._door, incoming.key, chat.chat, account.account, message, self._manners.allowance)
        )
        failpoint("bridge.posted")
        if result.posted is None and result.arrival.state is ArrivalState.REFUSED:
            await self._commands.tell_refused(incoming, chat, result.arrival.error)

    async def _meet(self, incoming: ChatMessage | ChatEdit | ButtonPress) -> BridgeAccount:
        account = await self._records.account(self._door, incoming.account.id)
        if account is not None:
            return account
        return await self._records.meet(MeetAccount(self._door, incoming.account.id, incoming.account.shown))

    # --- chats ----------------------------------------------------------------------------------------------

    async def _take_placement(self, placed: BotPlaced) -> None:
        before = await self._records.chat(self._door, placed.moved_from or placed.chat.id)
        chat = await self._chat(placed)
        if placed.notice:
            await self._commands.give_notice(chat, placed)
        if chat.state is not PairingState.PAIRED or chat.kind is ChatKind.PRIVATE:
            return
        if placed.left and before is not None and placed.agent in before.agents:
            await self._commands.agent_left(chat, placed.agent)

    async def _chat(self, placed: BotPlaced) -> BridgeChat:
        """The chat's current record; an agent whose bot was added to a paired group joins its conversation."""
        before = await self._records.chat(self._door, placed.chat.id)
        ref = placed.chat
        is_known = before is not None and placed.agent in ("", *before.agents) and not placed.left
        is_heard = not placed.readers or (before is not None and before.listener in placed.readers)
        if before is not None and is_known and is_heard and not placed.moved_from and before.kind is ref.kind:
            return before
        chat = await self._records.find(
            FindChat(
                self._door,
                ref.id,
                ref.kind,
                ref.title,
                placed.agent,
                left=placed.left,
                moved_from=placed.moved_from,
                readers=placed.readers,
            )
        )
        is_group = chat.state is PairingState.PAIRED and chat.kind is not ChatKind.PRIVATE
        if is_group and not placed.left and (before is None or placed.agent not in before.agents):
            await self._commands.agent_joined(chat, placed.agent)
        return chat


def _message(incoming: ChatMessage | ChatEdit | ButtonPress) -> str:
    return incoming.message if isinstance(incoming, ChatMessage | ButtonPress) else ""
