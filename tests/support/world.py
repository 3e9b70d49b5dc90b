"""A world to play floor scenarios in: the verbs over pure rules, the memory store, SQLite, or PostgreSQL.

It knows how to let people post and agents claim, speak, pass and fail, and how to move time. It does not judge;
tests/scenarios/test_floor.py does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from msgspec import structs

from moot.flow import (  # fmt: skip
    archive,
    attach,
    call_tool,
    check,
    claim,
    configure,
    continue_,
    create,
    detach,
    edit_message,
    enrol,
    finish,
    interrupt,
    join,
    leave,
    pause,
    post,
    release,
    renew,
    sweep,
    tool_result,
)
from moot.flow.enrol import Newcomer
from moot.model.answer import Claimed
from moot.model.change import Change, JoinTurn, TalkIn
from moot.model.conversation import Conversation, ConversationKind, GroupOverrides, GroupSettings, Member
from moot.model.ids import ConversationId, HostId, ParticipantId, TurnId
from moot.model.limits import Limits, Terms
from moot.model.message import Message, Revision
from moot.model.participant import AgentConfig, Kind, Participant
from moot.model.records.record import Lookup, R
from moot.model.records.task import TASKS, UNFINISHED
from moot.model.records.wait import WAITS
from moot.model.round import Round, RoundState
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import Page, Scope
from moot.stores.desk import Desk, Dirty
from moot.stores.fold import fold
from moot.stores.memory import MemoryStore
from moot.stores.postgres.address import address_of
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from tests.support.postgres import empty_database

FOREVER = 1e9
START = 1_800_000_000.0


def changes_no_more_than_it_says(change: Change, desk: Desk) -> None:
    """Stores write only the named fields of what was talked in or joined."""
    now: Any
    before: Any
    match change:
        case TalkIn(conversation=now):
            before, names = desk.conversations[now.id], Conversation.TALK
        case JoinTurn(turn=now):
            before, names = desk.turns_by_id[now.id], Turn.CALLING
        case _:
            return
    assert structs.replace(now, **{name: getattr(before, name) for name in names}) == before


class RulesOnly:
    """No store at all: the verbs and the fold over one desk that never forgets."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.desk = Desk(1, 1)
        self._rounds: dict[tuple[str, int], Round] = {}
        self._revisions: list[Revision] = []

    async def transact(self, verb: Any, command: Any) -> Any:
        self._load(verb.scope(command))
        decision = verb.decide(command, self.desk, self._source.moment(self.desk))
        for change in decision.changes:
            changes_no_more_than_it_says(change, self.desk)
        dirty = Dirty()
        fold(self.desk, decision.changes, dirty)
        self._rounds.update({(str(k[0]), k[1]): v for k, v in dirty.rounds.items()})
        self._revisions += [revision for _, revision in dirty.revisions]
        self._forget_closed_rounds(dirty)
        return decision.answer

    def _load(self, scope: Scope) -> None:
        """What a desk that never forgets does not have in this form."""
        for where, below in scope.people_before:
            said = [m for (at, seq), m in self.desk.messages.items() if at == where and seq < below]
            self.desk.by_people[where] = {m.seq for m in said if m.kind is Kind.HUMAN and not m.is_deleted}

    def _forget_closed_rounds(self, dirty: Dirty) -> None:
        """As stores do: of the closed rounds only those with an open turn, or stalled, are seen again."""
        for where in {place for place, _ in dirty.rounds} | {
            turn.conversation for turn in dirty.turns.values()
        }:
            kept = {turn.round for turn in self.desk.turns(where).values()}
            kept.add(self.desk.conversations[where].stalled)
            rounds = sorted(self.desk.rounds(where).items())
            alive = {n: r for n, r in rounds if r.state is not RoundState.CLOSED or n in kept}
            self.desk.rounds_of[where] = alive

    async def preview(self, verb: Any, command: Any) -> Any:
        return verb.decide(command, self.desk, self._source.moment(self.desk)).answer

    async def turns(self, *, conversation: ConversationId | None = None, **_: Any) -> list[Turn]:
        return [
            t
            for t in self.desk.turns_by_id.values()
            if conversation is None or t.conversation == conversation
        ]

    async def round(self, conversation: ConversationId, opener: int) -> Round | None:
        return self._rounds.get((conversation, opener))

    async def messages(self, conversation: ConversationId, page: Page) -> list[Message]:
        found = sorted(self.desk.messages.items())
        return [m for (where, _), m in found if where == conversation]

    async def members(self, conversation: ConversationId) -> list[Member]:
        return sorted(self.desk.members(conversation).values(), key=lambda member: member.position)

    async def revisions(self, conversation: ConversationId) -> list[Revision]:
        return [revision for revision in self._revisions if revision.conversation == conversation]

    async def participants(self) -> list[Participant]:
        return self.desk.everyone()

    async def next_due(self) -> float | None:
        return min((due for _, due in self._dues()), default=None)

    async def due(self, now: float) -> list[ConversationId]:
        return sorted({where for where, due in self._dues() if due <= now})

    def _dues(self) -> Iterator[tuple[ConversationId, float]]:
        for turn in self.desk.turns_by_id.values():
            if turn.state in OPEN and turn.due:
                yield turn.conversation, turn.due
        for state in UNFINISHED:
            for task in self.desk.records(TASKS.where(state=state.value)):
                yield task.conversation, task.deadline
        for wait in self.desk.records(WAITS.all()):
            if wait.left_until:
                yield wait.conversation, wait.left_until

    async def records(self, lookup: Lookup[R]) -> list[R]:
        return self.desk.records(lookup)

    async def close(self) -> None: ...


class World:
    """One hub's worth of state, driven by hand."""

    def __init__(self, backend: str, folder: Path, groups: GroupSettings, limits: Limits) -> None:
        self.backend = backend
        self.folder = folder
        self.now = START
        self.terms = Terms(groups=groups, limits=limits, lease_seconds=FOREVER)
        numbers = count(1)
        self.source = Source(lambda: self.now, self.terms, lambda: ConversationId(f"c{next(numbers)}"))
        self.store: Any = None
        self._url = ""
        self.shelf: Any = None
        self.where: dict[str, ConversationId] = {}
        self.agents: list[str] = []
        self.hosts: dict[str, HostId] = {}

    async def open(self) -> None:
        if self.backend == "rules":
            self.store = self.store or RulesOnly(self.source)
        elif self.backend == "memory":
            self.store = MemoryStore(self.source, shelf=self.shelf)
            self.shelf = self.store.shelf
        elif self.backend == "postgresql":
            self._url = self._url or await empty_database()
            self.store = await PostgresStore.open(address_of(self._url), self.source)
        else:
            self.store = await SqliteStore.open(self.folder, self.source, lambda events: None)

    async def restart(self) -> None:
        await self.store.close()
        await self.open()

    async def close(self) -> None:
        await self.store.close()

    async def do(self, verb: Any, command: Any) -> Any:
        try:
            return await self.store.transact(verb, command)
        except finish.ReplyRefused as refused:  # as host/turn_end.py does
            return await self.store.transact(verb, structs.replace(command, refused_to=refused.agent))

    # --- people ----------------------------------------------------------------------------------------

    async def enrol(self, agents: list[str], external: list[str], away: list[str]) -> None:
        self.agents = agents
        people = [Newcomer(name="user", kind=Kind.HUMAN)]
        people += [Newcomer(name=a, kind=Kind.EXTERNAL if a in external else Kind.AGENT) for a in agents]
        await self.do(enrol, enrol.Enrol(newcomers=tuple(people)))
        for agent in agents:
            if agent not in away and agent not in external:
                await self.up(agent)

    async def be_interrupted(self, policies: dict[str, str]) -> None:
        """What agents do while they are busy, by their `on_busy`."""
        people = [
            Newcomer(name=name, config=AgentConfig(on_busy=policy)) for name, policy in policies.items()
        ]
        await self.do(enrol, enrol.Enrol(newcomers=tuple(people)))

    async def up(self, agent: str) -> None:
        host = attach.Attach(host=self.host_of(agent), pid=1, agents=(ParticipantId(agent),))
        await self.do(attach, host)

    async def down(self, agent: str) -> None:
        await self.do(detach, detach.Detach(host=self.host_of(agent)))
        for conversation in self.where.values():
            await self.do(sweep, sweep.Sweep(conversation=conversation))

    async def crash(self, agent: str) -> None:
        """Its host dies, and another runs the agent before anybody has looked."""
        await self.do(detach, detach.Detach(host=self.host_of(agent)))
        self.hosts[agent] = HostId(f"{self.host_of(agent)}-again")
        await self.up(agent)
        for conversation in self.where.values():
            await self.do(sweep, sweep.Sweep(conversation=conversation))

    def host_of(self, agent: str) -> HostId:
        return self.hosts.get(agent, HostId(f"host-{agent}"))

    async def make(self, name: str, members: list[str], kind: str, settings: dict[str, Any]) -> None:
        made = await self.do(
            create,
            create.Create(
                author=ParticipantId("user"),
                name=name,
                participants=tuple(members),
                kind=ConversationKind(kind),
                settings=GroupOverrides(**settings),
                joins=kind != "direct" or len(members) < 2,
            ),
        )
        self.where[name] = made.id

    # --- acts ------------------------------------------------------------------------------------------

    async def post(self, where: str, author: str, text: str, **fields: Any) -> Any:
        command = post.posting(ParticipantId(author), self.where[where], text, **fields)
        return (await self.do(post, command)).receipt()

    async def claim(self, where: str, agent: str) -> Turn | None:
        for turn in await self.open_turns(where):
            if turn.agent == agent and turn.state in claim.CLAIMABLE:
                answer = await self.do(claim, claim.Claim(turn=turn.id, host=self.host_of(agent)))
                return answer.turn  # type: ignore[no-any-return]
        return None

    async def claim_as(self, turn: Turn, host: HostId) -> Claimed:
        answer: Claimed = await self.do(claim, claim.Claim(turn=turn.id, host=host))
        return answer

    async def running(self, where: str, agent: str) -> Turn:
        for turn in await self.open_turns(where):
            if turn.agent == agent and turn.state is TurnState.RUNNING:
                return turn
        taken = await self.claim(where, agent)
        assert taken is not None, f"{agent} has no turn to take in {where}: {await self.show(where)}"
        return taken

    async def finish(self, where: str, agent: str, outcome: Any) -> Any:
        turn = await self.running(where, agent)
        return await self.do(finish, finish.Finish(turn=turn.id, fence=turn.fence, outcome=outcome))

    async def say(self, where: str, agent: str, text: str) -> Any:
        return await self.finish(where, agent, finish.Said(text=text))

    async def tool(self, where: str, agent: str, text: str, into: str) -> Any:
        turn = await self.running(where, agent)
        return await self.post(into, agent, text, turn=turn.id, fence=turn.fence)

    async def check(self, agent: str) -> tuple[Turn, ...]:
        mine = [t for t in await self.store.turns() if t.agent == agent and t.state in claim.CLAIMABLE]
        command = check.Check(agent=ParticipantId(agent), turns=tuple(t.id for t in mine))
        return await self.do(check, command)  # type: ignore[no-any-return]

    async def delete(self, where: str, seq: int) -> None:
        await self.do(
            edit_message, edit_message.EditMessage(ParticipantId("user"), self.where[where], seq, 1, None)
        )

    async def edit(self, where: str, seq: int, text: str) -> None:
        await self.do(
            edit_message, edit_message.EditMessage(ParticipantId("user"), self.where[where], seq, 1, text)
        )

    async def leave(self, where: str, agent: str) -> None:
        await self.do(leave, leave.Leave(ParticipantId("user"), self.where[where], agent))

    async def join(self, where: str, agent: str) -> None:
        await self.do(join, join.Join(ParticipantId("user"), self.where[where], agent))

    async def go_on(self, where: str) -> bool:
        command = continue_.GoOn(ParticipantId("user"), self.where[where])
        return await self.do(continue_, command)  # type: ignore[no-any-return]

    async def interrupt(self, where: str, partials: dict[TurnId, str]) -> tuple[TurnId, ...]:
        command = interrupt.Interrupt(ParticipantId("user"), self.where[where], partials=partials)
        return await self.do(interrupt, command)  # type: ignore[no-any-return]

    async def pause(self, agent: str, paused: bool) -> None:
        places = tuple(self.where.values())
        await self.do(pause, pause.Pause(agent=agent, paused=paused, conversations=places))

    async def archive(self, where: str) -> None:
        await self.do(archive, archive.Archive(ParticipantId("user"), self.where[where]))

    async def configure(self, where: str, settings: dict[str, Any]) -> None:
        overrides = GroupOverrides(**settings)
        command = configure.Configure(ParticipantId("user"), self.where[where], settings=overrides)
        await self.do(configure, command)

    async def renew(self, where: str, agent: str) -> None:
        turn = await self.running(where, agent)
        alive = renew.Alive(turn=turn.id, fence=turn.fence, sign_of_life=turn.started_at)
        await self.do(renew, renew.Renew(turns=(alive,)))

    async def step(self, where: str, agent: str) -> None:
        """The agent calls a tool in its turn, or the tool it has called answers."""
        turn = await self.running(where, agent)
        step = turn.open_step
        if step is None:
            call = call_tool.CallTool(turn.id, turn.fence, f"c{len(turn.steps)}", "shell", "{}")
            await self.do(call_tool, call)
        else:
            await self.do(tool_result, tool_result.ToolAnswered(turn.id, turn.fence, step.call, "done"))

    async def release(self, where: str, agent: str) -> None:
        turn = await self.running(where, agent)
        await self.do(release, release.Release(turn=turn.id, fence=turn.fence))

    async def wait(self, seconds: float) -> None:
        """Let time pass, stopping wherever something becomes due."""
        until = self.now + seconds
        for _ in range(1000):
            due = await self.store.next_due()
            if due is None or due > until:
                break
            self.now = max(self.now, due)
            for conversation in await self.store.due(self.now):
                await self.do(sweep, sweep.Sweep(conversation=conversation))
        else:
            raise AssertionError("the sweep never comes to rest")
        self.now = until

    # --- looking ---------------------------------------------------------------------------------------

    async def open_turns(self, where: str) -> list[Turn]:
        """In the order in which they will speak."""
        turns = [t for t in await self.store.turns(conversation=self.where[where]) if t.state in OPEN]
        rank = {TurnState.RUNNING: 0, TurnState.READY: 1, TurnState.HELD: 2, TurnState.WAITING: 3}
        return sorted(turns, key=lambda t: (rank.get(t.state, 9), t.place, t.id))

    async def conversation_now(self, where: str) -> Conversation:
        if self.backend == "rules":
            found: Conversation | None = self.store.desk.conversation(self.where[where])
        else:
            found = await self.store.conversation(self.where[where])
        assert found is not None
        return found

    async def show(self, where: str) -> list[str]:
        return [f"{t.agent} {t.duty} {t.state}" for t in await self.open_turns(where)]

    async def ended(self, where: str) -> list[str]:
        turns = await self.store.turns(conversation=self.where[where])
        done = [t for t in turns if t.state not in OPEN and t.ended_at]
        return [f"{t.agent} {t.state}" for t in sorted(done, key=lambda t: (t.ended_at, t.id))]

    async def messages(self, where: str) -> list[Message]:
        found = await self.store.messages(self.where[where], Page(limit=10_000))
        return list(found)
