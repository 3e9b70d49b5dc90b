"""In: what somebody wrote in a chat becomes a message, a command or a refusal, once.

Above: worker.py hands it what a bridge hears. Below: the hub's verbs; slash.py reads commands, the same everywhere.
Chats are independent of each other; in one chat, one thing is taken in after the other.
"""

import asyncio
from collections import defaultdict

import structlog
from msgspec import Struct, structs

from moot.bridges import phrases
from moot.bridges.bridge import ChatSeen, Erased, Incoming, Pressed, Rewrote, Wrote
from moot.bridges.chat_commands import ChatCommands, OnChosen
from moot.bridges.guest_pace import GuestPace
from moot.bridges.unpaired import UnpairedChats, code_in
from moot.errors import BadValue, MootError, Trouble
from moot.failpoints import failpoint
from moot.flow.find_chat import FindChat
from moot.flow.hear import GuestAllowance, Hear
from moot.flow.meet_account import MeetAccount
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
"""Chats that are remembered although nobody has paired them: anybody can write to a bot, or add it to a group."""


class Manners(Struct, frozen=True):
    """How a bridge is set up, as far as what comes in is concerned."""

    default_agent: str = ""
    allowance: GuestAllowance = GuestAllowance(6, 100)


class ChatIntake:
    def __init__(
        self, hub: Hub, door: DoorName, manners: Manners, *, on_chosen: OnChosen | None = None
    ) -> None:
        self._hub = hub.through(door)
        self._records = self._hub.bridges.records
        self._door = door
        self._manners = manners
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unpaired = UnpairedChats(self._hub, door, manners.default_agent)
        self._commands = ChatCommands(self._hub, door, manners.default_agent, on_chosen)
        self._pace = GuestPace(self._records.clock, manners.allowance.per_minute)

    async def hear(self, incoming: Incoming) -> None:
        """Return when it is stored, or needs not to be. Raises where the store cannot be written."""
        if await self._is_one_too_many(incoming):
            return
        async with self._locks[incoming.chat.id]:
            if isinstance(incoming, ChatSeen):
                await self._seen(incoming)
            elif isinstance(incoming, Erased):
                await self._commands.erase(incoming)
            elif not incoming.account.is_bot:
                await self._tried(incoming)

    async def _is_one_too_many(self, incoming: Incoming) -> bool:
        """Whether it comes from one more chat than strangers may leave behind; a code that is good lets it in."""
        if await self._records.chat(self._door, incoming.chat.id) is not None:
            return False
        found = await self._records.chats(self._door)
        if sum(chat.state is PairingState.FOUND for chat in found) < MAX_UNPAIRED:
            return False
        if isinstance(incoming, ChatSeen) and incoming.moved_from:
            return False
        code = code_in(incoming.text) if isinstance(incoming, Wrote) else ""
        return not code or not await self._records.is_usable(self._door, digest_of(code))

    async def _tried(self, incoming: Wrote | Rewrote | Pressed) -> None:
        """What fails for no known reason is tried again, and laid aside after five times: the chat must go on."""
        for _ in range(MAX_TRIES):
            try:
                await self._take(incoming)
                return
            except (
                Trouble
            ):  # the hub's, not the message's: it was not taken, and the chat app brings it again
                raise
            except MootError as error:
                answer = phrases.refusal(error) if await self._is_answered(incoming) else ""
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

    async def _is_answered(self, incoming: Wrote | Rewrote | Pressed) -> bool:
        account = await self._records.account(self._door, incoming.account.id)
        is_guest = account is None or not account.linked
        return not is_guest or self._pace.passes(incoming.account.id)

    async def _settle(
        self, incoming: Wrote | Rewrote | Pressed, state: ArrivalState, answer: str, error: str
    ) -> ArrivalState:
        chat = await self._records.chat(self._door, incoming.chat.id)
        is_paired = chat is not None and chat.state is PairingState.PAIRED
        pieces = (Piece(answer, reply_to=_message(incoming)),) if answer and is_paired else ()
        text = incoming.text if isinstance(incoming, Wrote | Rewrote) else ""
        cut_short = phrases.INTERRUPTED.format(command=text.split()[0]) if text.split() and is_paired else ""
        command = RecordArrival(
            self._door, incoming.key, incoming.chat.id, incoming.account.id, state, text, error, pieces
        )
        if cut_short:
            notice = Piece(cut_short, speaker=incoming.agent, reply_to=_message(incoming))
            command = structs.replace(command, if_begun=(notice,))
        recorded = await self._records.record(command)
        return recorded.arrival.state

    async def _take(self, incoming: Wrote | Rewrote | Pressed) -> None:
        failpoint("bridge.heard")
        chat = await self._chat(ChatSeen(incoming.chat, incoming.agent))
        if chat.kind is ChatKind.GROUP and incoming.agent not in ("", chat.listener):
            return  # ids differ per account there: the listener brings it
        before = await self._records.arrival(self._door, incoming.key)
        if before is not None and before.state in SETTLED:
            return
        if isinstance(incoming, Wrote) and (code := code_in(incoming.text)):
            if chat.state is not PairingState.PAIRED or await self._is_answered(incoming):
                await self._unpaired.pair(incoming, chat, code)
            return
        if chat.state is not PairingState.PAIRED:
            if isinstance(incoming, Wrote):
                await self._unpaired.tell(incoming, chat)
            return
        await self._take_from(incoming, chat, await self._met(incoming))
        failpoint("bridge.taken")

    async def _take_from(
        self, incoming: Wrote | Rewrote | Pressed, chat: BridgeChat, account: BridgeAccount
    ) -> None:
        match incoming:
            case Wrote():
                await self._wrote(incoming, chat, account)
            case _ if not account.linked and not self._pace.passes(account.account):
                log.info("too much in a minute", action="guest_slowed", key=incoming.key)
            case Rewrote():
                await self._commands.edit(incoming, account)
            case Pressed():
                await self._commands.press(incoming, chat, account)

    async def _wrote(self, wrote: Wrote, chat: BridgeChat, account: BridgeAccount) -> None:
        command = slash.parse(wrote.text)
        chat = await self._commands.standing_chat(chat, account)
        if isinstance(command, slash.Say):
            await self._post(wrote, chat, account, command.text)
        elif isinstance(command, slash.AskCommand | slash.AllCommand):
            await self._ask(wrote, chat, account, command)
        elif account.linked or self._pace.passes(account.account):
            await self._commands.carry_out(wrote, chat, account, command)
        else:
            await self._settle(
                wrote, ArrivalState.REFUSED, "", "more commands in a minute than guests may give"
            )

    async def _ask(
        self,
        wrote: Wrote,
        chat: BridgeChat,
        account: BridgeAccount,
        command: slash.AskCommand | slash.AllCommand,
    ) -> None:
        """Questions are messages, also about what somebody else said: taken in once, within a guest's allowance."""
        if isinstance(command, slash.AllCommand):
            where = await self._hub.conversations.get(chat.conversation)
            agents = tuple(seat.name for seat in where.participants if seat.kind in ("agent", "external"))
            await self._post(wrote, chat, account, command.text, agents)
            return
        known = {name for agent in await self._hub.agents.list() for name in (agent.name, *agent.aliases)}
        question = slash.with_names_found(command, known.__contains__)
        if question.text:
            await self._post(wrote, chat, account, question.text, question.names, capped=True)
            return
        last = await newest_of_a_person(self._hub, chat.conversation)
        if last is None:
            raise BadValue("there is no message here to ask about", fix=("/ask NAME... TEXT",))
        again = self._records.posting_again(account.participant, last, question.names)
        await self._hear(wrote, chat, account, again)

    async def _post(
        self,
        wrote: Wrote,
        chat: BridgeChat,
        account: BridgeAccount,
        text: str,
        force: tuple[str, ...] = (),
        *,
        capped: bool = False,
    ) -> None:
        if not text.strip():
            raise BadValue("there is nothing in this message that agents could read")
        seq, speaker = await self._commands.answered(wrote, chat)
        is_group = chat.kind is not ChatKind.PRIVATE
        if speaker and is_group and not force:
            force = (speaker,)
        cap = len(set(force)) if capped and is_group and force else None
        message = self._records.posting(
            account.participant, chat.conversation, text, force=force, reply_to=seq, max_turns=cap
        )
        await self._hear(wrote, chat, account, message)

    async def _hear(self, wrote: Wrote, chat: BridgeChat, account: BridgeAccount, message: Post) -> None:
        heard = await self._records.hear(
            Hear(self._door, wrote.key, chat.chat, account.account, message, self._manners.allowance)
        )
        failpoint("bridge.posted")
        if heard.posted is None and heard.arrival.state is ArrivalState.REFUSED:
            await self._commands.tell_refused(wrote, chat, heard.arrival.error)

    async def _met(self, incoming: Wrote | Rewrote | Pressed) -> BridgeAccount:
        known = await self._records.account(self._door, incoming.account.id)
        if known is not None:
            return known
        return await self._records.meet(MeetAccount(self._door, incoming.account.id, incoming.account.shown))

    # --- chats ----------------------------------------------------------------------------------------------

    async def _seen(self, seen: ChatSeen) -> None:
        before = await self._records.chat(self._door, seen.moved_from or seen.chat.id)
        chat = await self._chat(seen)
        if seen.notice:
            await self._commands.give_notice(chat, seen)
        if chat.state is not PairingState.PAIRED or chat.kind is ChatKind.PRIVATE:
            return
        if seen.left and before is not None and seen.agent in before.agents:
            await self._commands.agent_left(chat, seen.agent)

    async def _chat(self, seen: ChatSeen) -> BridgeChat:
        """The chat as it is now; an agent whose bot was added to a paired group joins its conversation."""
        known = await self._records.chat(self._door, seen.chat.id)
        ref = seen.chat
        is_known = known is not None and seen.agent in ("", *known.agents) and not seen.left
        if known is not None and is_known and not seen.moved_from and known.kind is ref.kind:
            return known
        chat = await self._records.find(
            FindChat(
                self._door,
                ref.id,
                ref.kind,
                ref.title,
                seen.agent,
                left=seen.left,
                moved_from=seen.moved_from,
            )
        )
        is_group = chat.state is PairingState.PAIRED and chat.kind is not ChatKind.PRIVATE
        if is_group and not seen.left and (known is None or seen.agent not in known.agents):
            await self._commands.agent_joined(chat, seen.agent)
        return chat


def _message(incoming: Wrote | Rewrote | Pressed) -> str:
    return incoming.message if isinstance(incoming, Wrote | Pressed) else ""
