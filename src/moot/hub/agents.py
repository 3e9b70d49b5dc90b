"""`hub.agents`: the registry."""

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from msgspec import structs

from moot import shapes
from moot.errors import Conflict, MootError, NotFound, NotPermitted
from moot.flow import edit_participant, enrol, interrupt, pause, remove, rename
from moot.flow.enrol import Newcomer
from moot.flow.heartbeat import Sign
from moot.flow.steps.find import gone
from moot.hub.commands.spawn import allowed
from moot.hub.commands.tokens import USUAL, Bearers, issue, list_tokens, revoke, sign_in_code, signed_in
from moot.hub.commands.values import check_described, check_project
from moot.hub.core import Core
from moot.hub.external.delivered import handovers_of
from moot.hub.external.hooks import moment, note_spoken
from moot.hub.external.sessions import arrival, reach_of
from moot.hub.process.spawned_agents import retired
from moot.hub.queries.unheard_reports import unheard_reports
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import Kind, Participant, Reach
from moot.model.records.link import LINKS
from moot.model.records.spawned import SPAWNED
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import EVERY_TURN, Page
from moot.rules.activity import Activity, activity
from moot.sdk.agents import AgentCalls, Arrivals, Names, Started, Tokens
from moot.sdk.call import in_process
from moot.settings.toml.agents import rename_agent

Messages: TypeAlias = list[shapes.Message]
Models: TypeAlias = list[Message]
Shapes: TypeAlias = list[shapes.Agent]
Places: TypeAlias = tuple[ConversationId, ...]
OVER = frozenset(TurnState) - OPEN
RECENT_TURNS = 500


class Agents(AgentCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def list(self) -> list[shapes.Agent]:
        people = await self._core.parts.store.participants()
        return await self._shapes([participant for participant in people if participant.listed])

    async def get(self, name: str) -> shapes.Agent:
        return await self._shape(await self._core.directory.participant(name))

    async def where(self, name: str) -> JsonObject:
        participant = await self._core.directory.participant(name)
        now = self._core.parts.clock.now()
        for host in await self._core.parts.store.hosts():
            if host.id == participant.host and host.lease_until > now:
                return {"host": host.id, "pid": host.pid, "socket": host.socket}
        return {}

    async def create(
        self, name: str, *, role: str = "", display: str = "", external: bool = False, human: bool = False
    ) -> shapes.Agent:
        check_described(role=role, display=display)
        kind = Kind.HUMAN if human else Kind.EXTERNAL if external else Kind.AGENT
        brain = {Kind.HUMAN: "", Kind.EXTERNAL: "external"}.get(kind, "code")
        new = Newcomer(name=name, kind=kind, role=role, display=display, brain=brain)
        await self._core.do(enrol, enrol.Enrol(newcomers=(new,), fresh=True, author=self._me))
        await self._core.directory.refresh()
        return await self.get(name)

    async def tree(self) -> Started:
        store, names = self._core.parts.store, self._core.directory.name
        graph = await store.graph()
        records = await store.records(SPAWNED.all())
        links = {record.agent: graph.between(record.by, record.agent) for record in records if record.lives}
        return [
            shapes.Spawned.of(
                record, names, link=link.id if (link := links.get(record.agent)) is not None else None
            )
            for record in records
        ]

    async def templates(self) -> Names:
        me = await self._core.directory.participant(self._me)
        records = await self._core.parts.store.records(SPAWNED.all())
        return [*allowed(self._core, me, records)]

    async def rename(self, name: str, new_name: str) -> shapes.Agent:
        renamed = await self._core.do(rename, rename.Rename(agent=name, name=new_name, author=self._me))
        await self._core.directory.refresh()
        if self._me == self._core.user:
            await self._rename_in_file(renamed)
        return await self.get(new_name)

    async def _rename_in_file(self, participant: Participant) -> None:
        """Rename it in moot.toml too, for the owner only. If the file cannot be changed, the old name stays there,
        which still works."""
        with suppress(MootError):
            if rename_agent(self._core.parts.home, os.environ, names_of(participant), participant.name):
                await self._core.reload()

    async def change(
        self, name: str, *, role: str | None = None, display: str | None = None, project: str | None = None
    ) -> shapes.Agent:
        check_described(role=role, display=display, project=project)
        check_project(self._core.parts.home, project)
        participant = await self._core.directory.participant(name)
        if project not in (None, participant.project) and self._me != self._core.user:
            raise NotPermitted(
                f"only the owner says in which folder {participant.name} works",
                detail="leave project out, or have the owner change it",
            )
        await self._core.do(
            edit_participant,
            edit_participant.EditParticipant(
                participant.id, role=role, display=display, project=project, author=self._me
            ),
        )
        await self._core.directory.refresh()
        return await self.get(participant.id)

    async def interrupt(self, name: str) -> None:
        participant = await self._core.directory.participant(name)
        running = await self._core.parts.store.turns(agent=participant.id, states=(TurnState.RUNNING,))
        partials = self._core.partials()
        for turn in running:
            command = interrupt.Interrupt(self._me, turn.conversation, participant.id, partials)
            await self._core.do(interrupt, command)

    async def pause(self, name: str) -> shapes.Agent:
        return await self._pause(name, paused=True)

    async def resume(self, name: str) -> shapes.Agent:
        return await self._pause(name, paused=False)

    async def remove(self, name: str) -> shapes.Agent:
        participant = await self._core.directory.participant(name)
        if row := next(
            (row.name for row in self._core.parts.settings.agents if row.name in names_of(participant)), ""
        ):
            raise Conflict(
                f"{participant.name} is in moot.toml, and would be back at the next start",
                fix=(Hint(Act.REMOVE_AGENT, agent=row),),
                agent=participant.name,
            )
        await self._refuse_linked(participant)
        for record in await self._core.parts.store.records(SPAWNED.one(participant.id)):
            if record.lives:
                await self._end_tokens(participant)
                await retired(self._core, record, self._me, "it was removed")
                return await self.get(participant.id)
        await self._end_tokens(participant)
        places = await self._open_places(participant)
        await self._core.do(
            remove, remove.Remove(agent=participant.id, conversations=places, author=self._me)
        )
        await self._core.directory.refresh()
        return await self.get(participant.id)

    async def _end_tokens(self, participant: Participant) -> None:
        for token in await list_tokens(self._core, participant.id):
            if token.revoked_at is None:
                await revoke(self._core, self._me, participant.id, token.id)

    async def _refuse_linked(self, participant: Participant) -> None:
        """Refuse to remove an agent that moot.toml links: the file would name nobody."""
        places = [
            link.place
            for link in await self._core.parts.store.records(LINKS.all())
            if participant.id in link.ends
        ]
        if named := [place for place in places if place]:
            raise Conflict(
                f"{participant.name} is linked in {', '.join(named)}",
                detail="a link needs somebody at both ends; take the link out first",
                fix=(Hint(Act.EDIT_SETTINGS),),
                agent=participant.name,
            )

    @in_process("doors show open turns with it; callers use `hub.inbox` and `hub.mailbox.check`")
    async def inbox(self, name: str, *, limit: int = 100) -> Messages:
        """Messages of others that an agent's open turns are to read, oldest first."""
        participant = await self._core.directory.participant(name)
        store = self._core.parts.store
        messages: Models = []
        for turn in await store.turns(agent=participant.id, states=tuple(OPEN)):
            [cursor] = [
                m.cursor for m in await store.members(turn.conversation) if m.participant == participant.id
            ]
            is_running = turn.state is TurnState.RUNNING
            page = Page(turn.lo if is_running else cursor, turn.hi + 1 if is_running else None, limit)
            messages += [
                m for m in await store.messages(turn.conversation, page) if m.author != participant.id
            ]
        oldest_first = sorted(messages, key=lambda message: message.at)[:limit]
        return [shapes.Message.of(message, self._core.directory.name) for message in oldest_first]

    # --- outside agents: somebody else's processes -------------------------------------------------------

    async def arrive(self, door: str, **whence: object) -> shapes.Agent:
        participant = await self._core.sessions.arrive(arrival(door, whence))
        await self._core.directory.refresh()
        return await self._shape(participant)

    @in_process("a door's own connection to an outside agent")
    @asynccontextmanager
    async def session(self, name: str, *, reach: str = "on-demand", pid: int = 0) -> AsyncIterator[None]:
        """An outside agent is present while the block lasts."""
        participant = await self._core.directory.participant(name)
        handovers_of(self._core.parts.home, participant).note_asked(
            ()
        )  # an answer over an earlier line may have been lost
        async with self._core.sessions.session(participant, Sign(participant.id, reach_of(reach)), pid):
            yield

    async def arrivals(self, client: str | None = None, folder: str | None = None) -> Arrivals:
        people = await self._core.parts.store.participants()
        arrived = [
            participant
            for participant in sorted(
                people, key=lambda participant: (participant.created_at, participant.id)
            )
            if participant.kind is Kind.EXTERNAL
            and participant.config.client is not None
            and client in (None, participant.config.client)
            and folder in (None, participant.config.folder)
        ]
        return [
            shapes.Arrival(
                participant.name,
                participant.config.client or "",
                participant.config.folder or "",
                participant.config.pid,
            )
            for participant in arrived
        ]

    async def seen(self, name: str, *, door: str, reach: str = "on-demand") -> None:
        participant = await self._core.directory.participant(name)
        await self._core.sessions.sign(Sign(participant.id, reach_of(reach), door=door))

    @in_process("doors call it when they close")
    def dismiss(self) -> None:
        """Called before the doors close: pending waits for messages return now."""
        self._core.sessions.dismiss()

    @in_process("doors record their callers with it")
    def noticed(self, id: str, door: str) -> None:
        """As `seen`, for callers of a door of this process: returns at once, and is stored only now and then."""
        self._core.sessions.seen(ParticipantId(id), door)

    async def hooked(self, name: str, event: str, *, again: bool = False, limit: int = 20) -> shapes.Hooked:
        participant = await self._core.directory.participant(name)
        if participant.kind is not Kind.EXTERNAL:
            raise NotFound(f"{name} is run by this hub and needs no hook", ref=name)
        await self.seen(name, door="mcp", reach=Reach.NEXT_TURN)
        return await moment(self._core, participant, event, again=again, limit=limit)

    async def hook_said(self, name: str, *, handed: Sequence[str] = ()) -> None:
        note_spoken(self._core, await self._core.directory.participant(name), handed)

    # --- tokens ------------------------------------------------------------------------------------------

    async def tokens(self, name: str) -> Tokens:
        return await list_tokens(self._core, name)

    async def issue_token(self, name: str, *, scopes: Sequence[str] = USUAL) -> shapes.IssuedToken:
        return await issue(self._core, self._me, name, scopes)

    @in_process("doors issue tokens with it")
    async def mint_token(self, name: str, *, scopes: Sequence[str], shown: str) -> shapes.IssuedToken:
        """As `issue_token`, for a caller with a token of its own (`shown`, its id): both end together."""
        return await issue(self._core, self._me, name, scopes, shown)

    async def revoke_token(self, name: str, id: str) -> shapes.Token:
        return await revoke(self._core, self._me, name, id)

    async def sign_in_code(self, name: str, *, seconds: float = 60.0) -> shapes.SignInCode:
        return await sign_in_code(self._core, self._me, name, seconds)

    @in_process("the door exchanges a code with it, before anybody is known")
    async def sign_in(self, code: str) -> shapes.SignedIn:
        """Use a code up for the token of one browser."""
        return await signed_in(self._core, code)

    @in_process("doors record their callers with it")
    def id_of(self, name: str) -> ParticipantId:
        """The id of a known participant."""
        return self._core.directory.called(name).id

    @in_process("doors look up tokens with it")
    def bearers(self) -> Bearers:
        """For doors: the owner of each token."""
        return Bearers(self._core)

    async def _pause(self, name: str, *, paused: bool) -> shapes.Agent:
        participant = await self._core.directory.participant(name)
        if participant.removed and not paused:
            raise gone(participant)
        places = await self._open_places(participant)
        reports = (
            () if paused or not participant.paused else await unheard_reports(self._core, participant.id)
        )
        command = pause.Pause(participant.id, paused, places, author=self._me, unheard=reports)
        await self._core.do(pause, command)
        return await self.get(name)

    async def _open_places(self, participant: Participant) -> Places:
        open_turns = await self._core.parts.store.turns(
            agent=participant.id, states=tuple(OPEN), limit=EVERY_TURN
        )
        return tuple(sorted({turn.conversation for turn in open_turns}))

    async def _shape(self, participant: Participant) -> shapes.Agent:
        [agent] = await self._shapes([participant])
        return agent

    async def _shapes(self, people: Iterable[Participant]) -> Shapes:
        """Brains are shown to the owner only."""
        agents = await all_shaped(self._core, people)
        return (
            agents if self._me == self._core.user else [structs.replace(agent, brain="") for agent in agents]
        )


def names_of(participant: Participant) -> tuple[str, ...]:
    return participant.id, participant.name, *participant.aliases


async def shaped(core: Core, participant: Participant) -> shapes.Agent:
    """Its current state; the outcome of its last turn is included only on request."""
    open_turns = await core.parts.store.turns(agent=participant.id, states=tuple(OPEN))
    return _agent_shape(core, participant, open_turns, None)


async def at_work(core: Core, participant: Participant, doing: Activity | None) -> shapes.Agent:
    """Its current state, with the activity that its host reported; without one, the outcome of its last turn."""
    store = core.parts.store
    open_turns = await store.turns(agent=participant.id, states=tuple(OPEN))
    last = (
        None
        if doing
        else next(iter(await store.turns(agent=participant.id, states=tuple(OVER), limit=1)), None)
    )
    return _agent_shape(core, participant, open_turns, last, doing)


async def all_shaped(core: Core, people: Iterable[Participant]) -> list[shapes.Agent]:
    """All of them with two reads, however many there are. Outcomes of old turns are left out."""
    store = core.parts.store
    open_turns: dict[ParticipantId, list[Turn]] = {}
    for turn in await store.turns(states=tuple(OPEN)):
        open_turns.setdefault(turn.agent, []).append(turn)
    ended = await store.turns(states=tuple(OVER), limit=RECENT_TURNS)
    last = {turn.agent: turn for turn in sorted(ended, key=lambda turn: turn.ended_at)}
    return [
        _agent_shape(core, participant, open_turns.get(participant.id, []), last.get(participant.id))
        for participant in people
    ]


def _agent_shape(
    core: Core,
    participant: Participant,
    open_turns: Sequence[Turn],
    last: Turn | None,
    doing: Activity | None = None,
) -> shapes.Agent:
    now = core.parts.clock.now()
    if doing is None:
        streaming = core.live_turns.streaming(participant.id)
        speaking = any(str(turn.id) == streaming for turn in open_turns)
        doing = activity(participant, open_turns, last, now=now, speaking=speaking)
        running = {str(turn.id) for turn in open_turns if turn.state is TurnState.RUNNING}
        waits = core.live_turns.waiting(participant.id)
        if waits is not None and waits[0] in running:
            doing = waits[1]
    queue = sum(turn.state is not TurnState.RUNNING for turn in open_turns)
    return shapes.Agent.of(
        participant, doing, now, queue=queue, last=last.ended_at if last is not None else 0.0
    )
