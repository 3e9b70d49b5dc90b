"""The hub as a program sees it. Every method speaks as one participant: the owner, or whom it acts as.

    async with Hub.open("~/.moot", agents=[analyst]) as hub:
        await hub.post("earnings", "@analyst AAPL?")

Above: programs, the command line, later the doors. Below: verbs over the store, the host that runs agents.
"""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from moot import shapes
from moot.brains.code import AgentSpec
from moot.context.view import View
from moot.errors import BadValue, NotFound, NotPermitted, Stale
from moot.flow import post, revise
from moot.flow.post import Post
from moot.flow.steps.admission import Admission
from moot.flow.steps.posted import Posted
from moot.host.agent_turn import Speaking
from moot.hub.agents import Agents
from moot.hub.commands.advice import advised
from moot.hub.commands.ask import answer_to, correlated
from moot.hub.commands.broadcast import broadcast_id, to_each
from moot.hub.commands.send import sent
from moot.hub.commands.text import storable
from moot.hub.commands.tokens import acted
from moot.hub.conversations import Conversations
from moot.hub.core import Core
from moot.hub.external import mailbox, open_turn
from moot.hub.process.rpc import Calls
from moot.hub.queries import deliveries, event_stream, inbox, inspector, replay, search, settled, turns
from moot.hub.queries.addresses import located, replied
from moot.hub.queries.encoded import Encoded
from moot.hub.queries.event_stream import AUDITED, MOST, Past
from moot.hub.queries.why import explained, foreseen
from moot.hub.runtime import Runtime, speaking
from moot.model.answer import Preview, Receipt
from moot.model.ids import ParticipantId
from moot.model.message import Message
from moot.model.prompt import Offered
from moot.model.turn import Turn
from moot.ports import Clock, Page
from moot.rules.words.silence import is_silence
from moot.sdk.call import in_process
from moot.sdk.hub import HubCalls
from moot.settings import Home, Settings, find_home

if TYPE_CHECKING:
    from moot.client import RemoteHub


class Hub(HubCalls):
    conversations: Conversations
    agents: Agents

    def __init__(self, core: Core, me: ParticipantId, turn: Turn | None = None) -> None:
        self._core = core
        self._me = me
        self._turn = turn
        self.conversations = Conversations(core, me)
        self.agents = Agents(core, me)
        self.openers = core.openers
        self.encoded = Encoded(core)

    @in_process("opens a home in this process")
    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        home: str | Path | None = None,
        *,
        agents: Sequence[AgentSpec] = (),
        clock: Clock | None = None,
        socket: Path | None = None,
        drain: float = 0.0,
    ) -> AsyncIterator["Hub"]:
        """Open a home in this process and host the given agents until the block is left."""
        option = None if home is None else str(home)
        runtime = Runtime(Home(find_home(option, os.environ)), clock, socket=socket)

        async def handle(view: View, offered: Offered, stream: Any) -> Speaking:
            core = runtime.core
            return speaking(core, view, offered, stream, Hub(core, view.agent.id, view.turn))

        core = await runtime.open(agents, handle)
        try:
            hub = cls(core, core.user)
            runtime.peers.answer_with(Calls(hub))
            yield hub
        finally:
            await runtime.close(drain)

    @in_process("opens a home in this process")
    @classmethod
    @asynccontextmanager
    async def reading(cls, home: str | Path | None = None) -> AsyncIterator["Hub"]:
        """Open a home for looking only: the reading methods, no host, and no home made where there is none."""
        runtime = Runtime(Home(find_home(None if home is None else str(home), os.environ)), None)
        core = await runtime.open_to_read()
        if core is None:
            async with cls.open(home) as hub:  # an older database is brought up to date first
                yield hub
            return
        try:
            yield cls(core, core.user)
        finally:
            await runtime.close_reading()

    @in_process("leads to a hub elsewhere, and is not asked of one")
    @classmethod
    def connect(
        cls,
        url: str,
        *,
        token: str | None = None,
        agents: Sequence[AgentSpec] = (),
        without_tls: bool = False,
    ) -> AbstractAsyncContextManager["RemoteHub"]:
        """A hub that runs elsewhere, with the same methods; the given agents are served from here (see `client`)."""
        from moot.client.connect import connect  # noqa: PLC0415  brings a web library with it

        return connect(url, token=token, agents=agents, without_tls=without_tls)

    @property
    def name(self) -> str:
        return self._core.directory.name(self._me)

    @property
    def position(self) -> int:
        """The newest event known here: `events(after=position)` misses nothing that follows."""
        return self._core.parts.log.last

    @property
    def settings(self) -> Settings:
        """moot.toml and the environment, as they were read when the home was opened."""
        return self._core.parts.settings

    @in_process("an agent runs in a process of its own")
    async def host(self, agents: Sequence[AgentSpec]) -> None:
        """Host more agents until the block is left."""
        await self._core.add_agents(agents)

    @in_process("about agents that run in this process")
    def hurry(self) -> None:
        """Leaving the block waits no longer for running turns: they are given back at once."""
        self._core.host.hurry()

    def acting_as(self, name: str) -> "Hub":
        if self._me != self._core.user:
            raise NotPermitted(f"{self.name} may speak only for itself")
        return Hub(self._core, self._core.directory.called(name).id)

    @in_process("the voice of whoever came in by a door")
    def admitted(self, admission: Admission) -> "Hub":
        """Speak for whoever came in by a door, on its credential."""
        return Hub(self._core.admitting(admission), admission.participant, self._turn)

    # --- speaking --------------------------------------------------------------------------------------

    async def post(  # noqa: PLR0913  the options of a message
        self,
        conversation: str,
        text: str,
        *,
        reply_to: str | None = None,
        force: Sequence[str] = (),
        intent: str | None = None,
        interrupt: bool = False,
        idempotency_key: str | None = None,
        max_turns: int | None = None,
        correlation_id: str | None = None,
    ) -> Receipt:
        command = self._posting(
            conversation,
            text,
            reply_to=await replied(self._core, conversation, reply_to),
            force=force,
            intent=intent,
            interrupt=interrupt,
            partials=self._core.partials() if interrupt else {},
            key=idempotency_key or uuid4().hex,
            max_turns=max_turns,
            metadata=correlated(correlation_id),
        )
        posted: Posted = await self._core.do(post, command)
        return advised(self._core, posted, max_turns)

    def _posting(self, conversation: str, text: str, **fields: Any) -> Post:
        text = self._checked(text)
        fields["intent"] = fields.pop("intent", None) or ""
        fields["force"] = tuple(fields.pop("force", ()))
        if self._turn is not None:
            fields |= {"turn": self._turn.id, "fence": self._turn.fence}
        try:
            return msgspec.convert(
                msgspec.structs.asdict(post.posting(self._me, conversation, text, **fields)), Post
            )
        except msgspec.ValidationError as problem:
            raise BadValue(f"this cannot be posted: {problem}") from problem

    def _checked(self, text: str) -> str:
        return storable(text, self.settings.limits.message_bytes)

    async def preview(self, conversation: str, text: str, *, force: Sequence[str] = ()) -> Preview:
        command = self._posting(conversation, text, force=force)
        posted: Posted = await self._core.foresee(post, command)
        receipt = advised(self._core, posted)
        found = await self._core.directory.conversation(conversation)
        cap = found.settings.over(self._core.parts.settings.groups).max_agent_turns_per_message
        return foreseen(receipt, cap)

    async def send(
        self, target: str, text: str, *, intent: str | None = None, idempotency_key: str | None = None
    ) -> Receipt:
        message = self._posting("", text, intent=intent, key=idempotency_key or uuid4().hex)
        return advised(self._core, await sent(self._core, target, message))

    async def broadcast(self, text: str, *, idempotency_key: str | None = None) -> dict[str, Any]:
        shared = broadcast_id(idempotency_key)

        async def write(who: ParticipantId) -> None:
            key, metadata = f"{shared}:{who}", {"broadcast_id": shared}
            await sent(self._core, who, self._posting("", text, metadata=metadata, key=key))

        others = [who for who in self._core.directory.people() if who.id != self._me and who.listed]
        return await to_each(others, write, shared)

    async def ask(
        self,
        target: str,
        text: str,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        await self._core.watch()
        key, until = idempotency_key or uuid4().hex, self._core.parts.clock.now() + timeout
        question = self._posting(
            "", text, intent=post.ASK, awaited=until, metadata=correlated(f"q{key}"), key=key
        )
        return self._shape(await answer_to(self._core, question, target, timeout))

    async def ask_again(
        self, message_id: str, agents: Sequence[str], *, idempotency_key: str | None = None
    ) -> Receipt:
        conversation, seq = located(message_id)
        command = self._posting(
            conversation,
            deliveries.again_of(await self.message(message_id)),
            reply_to=seq,
            force=agents,
            key=idempotency_key or uuid4().hex,
            max_turns=len(agents),
            metadata={"again": message_id},
        )
        posted: Posted = await self._core.do(post, msgspec.structs.replace(command, mentions=()))
        return posted.receipt()

    async def edit(self, id: str, text: str, *, version: int) -> shapes.Message:
        return await self._revise(id, version, self._checked(text))

    async def delete(self, id: str, *, version: int) -> shapes.Message:
        return await self._revise(id, version, None)

    async def _revise(self, id: str, version: int, text: str | None) -> shapes.Message:
        conversation, seq = located(id)
        command = revise.Revise(self._me, conversation, seq, version, text)
        return self._shape(await self._core.do(revise, command))

    # --- reading ---------------------------------------------------------------------------------------

    def _shape(self, message: Message) -> shapes.Message:
        return shapes.Message.of(message, self._core.directory.name)

    async def messages(
        self, conversation: str, *, after: int = 0, before: int | None = None, limit: int = 100
    ) -> list[shapes.Message]:
        newest = before is not None and not after
        return await self._page(conversation, Page(after=after, before=before, limit=limit, newest=newest))

    async def message(self, id: str) -> shapes.Message:
        found = await self._core.parts.store.message(*located(id))
        if found is None:
            raise NotFound(f"there is no message {id}", what="message", ref=id)
        return self._shape(found)

    async def newest(self, conversation: str, limit: int = 50) -> list[shapes.Message]:
        return await self._page(conversation, Page(limit=limit, newest=True))

    async def _page(self, conversation: str, page: Page) -> list[shapes.Message]:
        found = await self._core.directory.conversation(conversation)
        return [self._shape(m) for m in await self._core.parts.store.messages(found.id, page)]

    async def turns(
        self, *, conversation: str | None = None, agent: str | None = None, state: str | None = None
    ) -> list[shapes.Turn]:
        return await turns.turns(self._core, self._me, conversation, agent, state)

    async def turn(self, id: str, *, given: bool = True) -> shapes.Turn:
        found = await self._found(id)
        return await turns.turn(self._core, self._me, found, given=given)

    async def _found(self, id: str) -> Turn:
        return await turns.found(self._core, id)

    async def context(self, agent: str, conversation: str) -> dict[str, Any]:
        return await inspector.now(self._core, agent, conversation)

    async def replay(self, agent: str) -> shapes.Replayed:
        return await replay.replay(self._core, agent)

    async def usage(self, *, agent: str | None = None, conversation: str | None = None) -> dict[str, Any]:
        return await turns.usage(self._core, agent, conversation)

    async def why(self, message_id: str) -> shapes.Why:
        return await explained(self._core, *located(message_id))

    async def deliveries(self, message_id: str) -> list[shapes.Delivered]:
        return await deliveries.of_message(self._core, *located(message_id))

    async def dead_letters(self, *, agent: str | None = None) -> list[shapes.Turn]:
        return await turns.dead_letters(self._core, self._me, agent)

    async def redeliver(self, turn_id: str, *, idempotency_key: str | None = None) -> Receipt:
        turn = await self._found(turn_id)
        again = deliveries.again(turn, self._core.directory.name(turn.agent))
        return await self.post(**again, idempotency_key=idempotency_key)

    async def search(self, query: str, *, limit: int = 20) -> list[shapes.Hit]:
        return await search.hits(self._core, self._me, query, limit)

    async def narrowest(self, query: str) -> shapes.Removed | None:
        return await search.narrowest(self._core, self._me, query)

    async def inbox(
        self, *, agent: str | None = None, unread: bool = False, limit: int = 20
    ) -> list[shapes.Received]:
        who = (await self._core.directory.participant(agent)).id if agent else self._me
        return await inbox.inbox(self._core, who, unread=unread, limit=limit)

    # --- being handed messages: outside agents, who have no host here --------------------------------------

    async def check(
        self, *, limit: int = 50, handed: Sequence[str] | None = None, held: Sequence[str] = ()
    ) -> shapes.Handed:
        return await mailbox.check(self._core, mailbox.asking(self._me, limit, handed, held))

    async def wait(
        self,
        *,
        timeout: float = 30.0,  # noqa: ASYNC109
        limit: int = 50,
        handed: Sequence[str] | None = None,
        held: Sequence[str] = (),
    ) -> shapes.Handed:
        return await mailbox.wait(self._core, mailbox.asking(self._me, limit, handed, held), timeout)

    async def reply(
        self, message_id: str, text: str, *, idempotency_key: str | None = None
    ) -> Receipt | None:
        to, key = located(message_id), idempotency_key or uuid4().hex
        if is_silence(text):
            await mailbox.pass_over(self._core, self._me, to)
            return None
        try:
            return await mailbox.reply(self._core, self._me, to, self._checked(text), key)
        except Stale:  # it was answered before, or its time is over: this is one more message
            return await self.post(to[0], text, reply_to=message_id, idempotency_key=key)

    async def view(self, turn_id: str, *, messages: int = 20, tokens: int = 8000) -> shapes.View:
        return await open_turn.view(self._core, self._me, await self._found(turn_id), messages, tokens)

    async def end(self, turn_id: str, *, text: str | None = None, error: str | None = None) -> shapes.Turn:
        return await open_turn.end(self._core, self._me, await self._found(turn_id), text=text, error=error)

    async def give_back(self, turn_id: str) -> None:
        await open_turn.give_back(self._core, self._me, await self._found(turn_id))

    @in_process("a field of every call")
    async def within(self, turn_id: str) -> "Hub":
        """Speak as before, in a turn that one has open: what is posted belongs to it."""
        turn = await self._found(turn_id)
        if turn.agent != self._me:  # whose it is, is nothing to the caller
            raise NotFound(f"there is no turn {turn_id}", what="turn", ref=str(turn_id))
        open_turn.its_own(self._core, self._me, turn)
        return Hub(self._core, self._me, turn)

    # --- waiting ---------------------------------------------------------------------------------------

    async def unsettled(self, conversation: str | None = None) -> list[shapes.Turn]:
        return await settled.unsettled(self._core, conversation)

    async def settled(self, conversation: str | None = None, *, timeout: float = 30.0) -> None:  # noqa: ASYNC109
        await settled.settled(self._core, conversation, timeout)

    async def events(
        self,
        *,
        conversation: str | None = None,
        agent: str | None = None,
        types: Sequence[str] = (),
        after: str | int | None = None,
    ) -> AsyncIterator[shapes.Event]:
        filters = {"conversation": conversation, "agent": agent, "types": types}
        async for event in event_stream.follow(
            self._core, **filters, after=None if after is None else int(after)
        ):
            yield event

    @in_process("what a door's stream begins with; `events(after=…)` is for callers")
    async def past(self, after: int, *, types: Sequence[str] = (), limit: int = MOST) -> Past:
        """What has happened after an event, a page of it."""
        return await event_stream.past(self._core, after, types, limit)

    @in_process("what a door's stream begins with")
    async def horizon(self) -> int:
        """Whoever stood before this event cannot go on without a gap."""
        return await self._core.parts.store.horizon()

    async def audit(self, *, after: int = 0, limit: int = 100) -> list[shapes.Event]:
        return (await event_stream.past(self._core, after, AUDITED, limit)).events

    @in_process("what a door keeps for the audit")
    async def acted_as(self, name: str, what: str) -> None:
        """Keep in the audit that the owner did this in another's name."""
        await acted(self._core, (await self._core.directory.participant(name)).id, what)
