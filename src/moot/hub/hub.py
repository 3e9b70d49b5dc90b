"""The hub as a program sees it. Every method speaks as one participant: the owner, or whom it acts as.

    async with Hub.open("~/.moot", agents=[analyst]) as hub:
        await hub.post("earnings", "@analyst AAPL?")

Above: programs, the command line, later the doors. Below: verbs over the store, the host that runs agents.
"""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from moot import shapes
from moot.brains.code import AgentSpec
from moot.context.view import TurnView
from moot.errors import NotPermitted
from moot.flow import arrange, edit_message, post, reset_pair
from moot.flow.steps.admission import Admission
from moot.host.agent_turn import Speaking
from moot.hub.agents import Agents
from moot.hub.audit import Audit
from moot.hub.commands.advice import advised
from moot.hub.commands.ask import answer_to, correlated
from moot.hub.commands.ask_person import decided_by, expected
from moot.hub.commands.broadcast import broadcast_id, to_each
from moot.hub.commands.delegate import WorkOrder, delegated
from moot.hub.commands.send import sent
from moot.hub.commands.spawn import SpawnOrder, shape_of, spawned
from moot.hub.commands.values import point
from moot.hub.conversations import Conversations
from moot.hub.core import Core
from moot.hub.decisions import Decisions
from moot.hub.deliveries import Deliveries
from moot.hub.external import open_turn
from moot.hub.external.bridges import Bridges
from moot.hub.inspector import Inspector
from moot.hub.links import Links
from moot.hub.mailbox import Mailbox
from moot.hub.notes import Notes
from moot.hub.operation.operator import HubOperator
from moot.hub.process.rpc import Calls
from moot.hub.queries import event_stream, inbox, limits, search, settled, topology, turns
from moot.hub.queries.addresses import located, message_at, replied
from moot.hub.queries.encoded import Encoded
from moot.hub.queries.history import History
from moot.hub.queries.why import explained, foreseen
from moot.hub.runtime import Runtime, speaking
from moot.hub.speaker import Speaker
from moot.hub.tasks import Tasks
from moot.model.answer import Preview, Receipt
from moot.model.entrance import DoorName, Entrance
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.participant import HUMAN
from moot.model.prompt import Offered
from moot.model.turn import Turn
from moot.ports import Clock, Page
from moot.rules import answer_shape
from moot.rules.org_place import OrgPlace
from moot.sdk.call import in_process
from moot.sdk.hub import HubCalls
from moot.settings import Home, Settings, find_home

if TYPE_CHECKING:
    from moot.client import RemoteHub


class Hub(HubCalls):
    def __init__(self, core: Core, me: ParticipantId, turn: Turn | None = None) -> None:
        self._core = core
        self._me = me
        self._speaker = Speaker(core, me, turn)
        self.openers = core.openers

    # --- subjects: made when they are first needed, since a door makes a hub for every call in another's name ---

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self._core, self._me)

    @cached_property
    def agents(self) -> Agents:
        return Agents(self._core, self._me)

    @cached_property
    def links(self) -> Links:
        return Links(self._core, self._me)

    @cached_property
    def bridges(self) -> Bridges:
        return Bridges(self._core, self._me)

    @cached_property
    def decisions(self) -> Decisions:
        return Decisions(self._speaker)

    @cached_property
    def tasks(self) -> Tasks:
        return Tasks(self._speaker)

    @cached_property
    def notes(self) -> Notes:
        return Notes(self._core, self._me)

    @cached_property
    def mailbox(self) -> Mailbox:
        return Mailbox(self._speaker)

    @cached_property
    def deliveries(self) -> Deliveries:
        return Deliveries(self._speaker)

    @cached_property
    def inspector(self) -> Inspector:
        return Inspector(self._core, self._me)

    @cached_property
    def operator(self) -> HubOperator:
        return HubOperator(self._core, self._me)

    @cached_property
    def history(self) -> History:
        return History(self._core)

    @cached_property
    def audit(self) -> Audit:
        return Audit(self._core, self._me)

    @cached_property
    def encoded(self) -> Encoded:
        return Encoded(self._core)

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

        async def handle(view: TurnView, offered: Offered, stream: Any) -> Speaking:
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

    @in_process("connects to a hub elsewhere")
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

    @in_process("runs an agent in this process")
    async def host(self, agents: Sequence[AgentSpec]) -> None:
        """Host more agents until the block is left."""
        await self._core.add_agents(agents)

    @in_process("about agents that run in this process")
    def hurry(self) -> None:
        """Leaving the block waits no longer for running turns: they are given back at once."""
        self._core.host.hurry()

    def acting_as(self, name: str) -> "Hub":
        if self._me != self._core.user:
            raise NotPermitted(f"{self.name} may only speak for itself")
        participant_id, entrance = self._core.directory.called(name).id, self._core.entrance
        if participant_id == self._me:
            return Hub(self._core, participant_id)
        return Hub(self._core.entered_by(structs.replace(entrance, owner=self._me)), participant_id)

    @in_process("how a door says which one it is")
    def through(self, door: DoorName) -> "Hub":
        """Speak as before, having come in by this door: messages and the audit keep it."""
        entrance = structs.replace(self._core.entrance, door=door)
        return Hub(self._core.entered_by(entrance), self._me, self._speaker.turn)

    @in_process("the voice of whoever came in by a door")
    def voice_of(self, name: str, door: DoorName) -> "Hub":
        """The voice of somebody who speaks for itself, as its credential says."""
        return Hub(self._core.entered_by(Entrance(door)), self._core.directory.called(name).id)

    @in_process("the hub as a caller at a door sees it")
    def admitted(self, admission: Admission, settled: Callable[[], None] = lambda: None) -> "Hub":
        """Act for a caller at a door, with its credential; `settled` is called when a decision has found it valid."""
        return Hub(self._core.admitting(admission, settled), admission.participant, self._speaker.turn)

    @in_process("doors list their tools by it")
    async def org_place(self) -> OrgPlace:
        """Its place in the organisation, by its links and tasks."""
        return await self._core.context.org_place(self._me)

    @in_process("a field of every call")
    async def within(self, turn_id: str) -> "Hub":
        """Speak as before, in a turn that one has open: what is posted belongs to it."""
        turn = await turns.by_number(self._core, turn_id)
        if turn.agent != self._me:  # whose it is, is nothing to the caller
            raise turns.unknown(turn_id)
        open_turn.its_own(self._core, self._me, turn)
        return Hub(self._core, self._me, turn)

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
        shape: JsonObject | None = None,
    ) -> Receipt:
        reply_in, answered = replied(reply_to)
        command = self._speaker.posting(
            conversation,
            text,
            reply_to=answered,
            reply_in=reply_in,
            force=force,
            intent=intent,
            interrupt=interrupt,
            key=idempotency_key or self._core.fresh_key(),
            max_turns=max_turns,
            metadata=correlated(correlation_id),
            shape=answer_shape.checked(shape) if shape is not None else "",
        )
        return await self._speaker.post(command, max_turns)

    async def preview(self, conversation: str, text: str, *, force: Sequence[str] = ()) -> Preview:
        command = self._speaker.posting(conversation, text, force=force)
        receipt = advised(self._core, await self._core.foresee(post, command))
        where = await self._core.directory.conversation(conversation)
        cap = where.settings.over(self._core.parts.settings.groups).max_agent_turns_per_message
        return foreseen(receipt, cap)

    async def send(
        self, target: str, text: str, *, intent: str | None = None, idempotency_key: str | None = None
    ) -> Receipt:
        message = self._speaker.posting(
            "", text, intent=intent, key=idempotency_key or self._core.fresh_key()
        )
        return advised(self._core, await sent(self._core, target, message))

    async def broadcast(self, text: str, *, idempotency_key: str | None = None) -> dict[str, Any]:
        shared = broadcast_id(idempotency_key)

        async def write(receiver: ParticipantId) -> None:
            key, metadata = f"{shared}:{receiver}", {"broadcast_id": shared}
            await sent(self._core, receiver, self._speaker.posting("", text, metadata=metadata, key=key))

        others = [each for each in self._core.directory.people() if each.id != self._me and each.listed]
        return await to_each(others, write, shared)

    async def delegate(
        self,
        target: str,
        task: str,
        *,
        deadline_seconds: float | None = None,
        conversation: str | None = None,
        shape: JsonObject | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Task:
        work = WorkOrder(
            target, task, deadline_seconds, conversation, shape, idempotency_key or self._core.fresh_key()
        )
        return shapes.Task.of(await delegated(self._speaker, work), self._core.directory.name)

    async def spawn(
        self,
        template: str,
        *,
        name: str = "",
        project: str = "",
        task: str = "",
        idempotency_key: str | None = None,
    ) -> shapes.Spawned:
        order = SpawnOrder(template, name, project, task, idempotency_key or "")
        return await shape_of(self._core, await spawned(self._speaker, order))

    async def ask(
        self,
        target: str,
        text: str,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109
        choices: Sequence[str] = (),
        shape: JsonObject | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        await self._core.watch()
        key, until = idempotency_key or self._core.fresh_key(), self._core.parts.clock.now() + timeout
        target = self._core.directory.meant_by(target)
        participant = await self._core.directory.participant(target)
        offered, form = expected(participant, choices, shape)
        question = self._speaker.posting(
            "", text, intent=post.ASK, awaited=until, metadata=correlated(f"q{key}"), key=key, shape=form
        )
        if participant.kind is HUMAN:
            return self._speaker.shape(await decided_by(self._core, question, participant, offered, timeout))
        return self._speaker.shape(await answer_to(self._core, question, target, timeout))

    async def edit(self, id: str, text: str, *, version: int) -> shapes.Message:
        return await self._edit_message(id, version, self._speaker.checked(text))

    async def delete(self, id: str, *, version: int) -> shapes.Message:
        return await self._edit_message(id, version, None)

    async def _edit_message(self, id: str, version: int, text: str | None) -> shapes.Message:
        conversation, seq = located(id)
        command = edit_message.EditMessage(self._me, conversation, seq, version, text)
        return self._speaker.shape(await self._core.do(edit_message, command))

    # --- reading ---------------------------------------------------------------------------------------

    async def messages(
        self, conversation: str, *, after: int = 0, before: int | None = None, limit: int = 100
    ) -> list[shapes.Message]:
        newest = before is not None and not after
        return await self._page(conversation, Page(after=after, before=before, limit=limit, newest=newest))

    async def message(self, id: str) -> shapes.Message:
        return self._speaker.shape(await message_at(self._core, id))

    async def newest(self, conversation: str, limit: int = 50) -> list[shapes.Message]:
        return await self._page(conversation, Page(limit=limit, newest=True))

    async def _page(self, conversation: str, page: Page) -> list[shapes.Message]:
        where = await self._core.directory.conversation(conversation)
        return [self._speaker.shape(m) for m in await self._core.parts.store.messages(where.id, page)]

    async def turns(
        self, *, conversation: str | None = None, agent: str | None = None, state: str | None = None
    ) -> list[shapes.Turn]:
        return await turns.turns(self._core, self._me, conversation, agent, state)

    async def turn(self, id: str, *, given: bool = True) -> shapes.Turn:
        stored = await turns.by_number(self._core, id)
        return await turns.turn(self._core, self._me, stored, given=given)

    async def why(self, message_id: str) -> shapes.Why:
        return await explained(self._core, *located(message_id))

    async def search(self, query: str, *, limit: int = 20) -> list[shapes.Hit]:
        return await search.hits(self._core, self._me, query, limit)

    async def inbox(
        self, *, agent: str | None = None, unread: bool = False, limit: int = 20
    ) -> list[shapes.Received]:
        participant_id = (await self._core.directory.participant(agent)).id if agent else self._me
        return await inbox.inbox(self._core, participant_id, unread=unread, limit=limit)

    async def topology(self) -> shapes.Topology:
        return await topology.topology(self._core, self._me)

    async def arrange(self, positions: Mapping[str, Mapping[str, float]]) -> shapes.Positions:
        places = tuple((name, *point(name, place)) for name, place in positions.items())
        return topology.positions(await self._core.do(arrange, arrange.Arrange(self._me, places)))

    async def limits(self, *, conversation: str | None = None) -> shapes.BrakeReport:
        return await limits.report(self._core, self._me, conversation)

    async def reset_limit(self, sender: str, to: str) -> shapes.PairLimit:
        pair = await self._core.do(reset_pair, reset_pair.ResetPair(self._me, sender, to))
        return limits.of_pair(self._core, pair)

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
        start = None if after is None else int(after)
        async for event in event_stream.follow(
            self._core, conversation=conversation, agent=agent, types=types, after=start
        ):
            yield event

    async def reload(self) -> shapes.Reloaded:
        if self._me != self._core.user:
            raise NotPermitted("only the owner may reload moot.toml")
        return await self._core.reload()
