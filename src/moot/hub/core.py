"""What all callers of one open hub share, and how their writes get into the store.

Above: Hub, its conversations, agents, commands and queries. Below: runtime.py puts it together and keeps it alive.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from copy import copy
from itertools import count
from typing import Protocol, TypeVar
from uuid import uuid4

import structlog

from moot.brains.code import AgentSpec
from moot.context.prompt import Context
from moot.errors import MootError, NotFound, NotPermitted
from moot.flow import record_refusal
from moot.flow.steps.admission import Admission, Admitted, Entered
from moot.host.host import AgentHost
from moot.hub.commands.questions import Questions
from moot.hub.directory import Directory
from moot.hub.external.sessions import Attendance
from moot.hub.live_turns import LiveTurns
from moot.hub.tails import Tails
from moot.hub.telemetry.vitals import Vitals
from moot.model.entrance import PROGRAM, Entrance
from moot.model.ids import ParticipantId, RootId, TurnId
from moot.model.json import JsonObject
from moot.model.participant import Participant
from moot.model.records.chat_apps.bridge import BridgePost
from moot.ports import Verb
from moot.settings import AgentSettings
from moot.shapes import Reloaded
from moot.wiring import Parts

log = structlog.get_logger("moot.audit")

C = TypeVar("C")
A = TypeVar("A")
T = TypeVar("T")
Spawn = Callable[[Coroutine[object, object, object]], None]


async def no_agents(agents: Sequence[AgentSpec]) -> None:
    raise reading_only()


async def no_reload() -> Reloaded:
    raise reading_only()


async def nothing_to_watch() -> None:
    """For a home opened to read: there is nothing to watch."""


class HostedAgents(Protocol):
    """process/hosted_rows.py, which knows the core."""

    async def stop(self, id: ParticipantId) -> bool: ...
    async def resume(self, row: AgentSettings, participant: Participant) -> bool: ...


class Core:
    def __init__(self, parts: Parts, directory: Directory, *, spawn: Spawn) -> None:
        self.parts = parts
        self.directory = directory
        self.spawn = spawn
        """Runs something in the background until the hub closes."""
        self._opening = uuid4().hex
        self._keys = count(1)
        self.questions = Questions()
        self.tails = Tails(parts.store, directory.name)
        directory.on_rename = self.tails.forget
        self.live_turns = LiveTurns()
        self.vitals = Vitals()
        self.trace_post: Callable[[BridgePost, RootId], None] | None = None
        """Reports what became of a post to a chat app, where a collector is set."""
        self.openers: JsonObject = {}
        """Doors that peers may open over the hub's socket; see process/rpc.py."""
        self.watch: Callable[[], Awaitable[None]] = nothing_to_watch
        """Asks other processes to send their events from now on."""
        self.expect: Callable[[float], None] = lambda due: None
        """Called with a moment at which something is due that no event reports."""
        self.add_agents: Callable[[Sequence[AgentSpec]], Awaitable[None]] = no_agents
        """Hosts more agents until the hub closes."""
        self.run_spawned: Callable[[], Awaitable[None]] = nothing_to_watch
        """Runs agents that were started from templates, where that is for this process to do."""
        self.reload: Callable[[], Awaitable[Reloaded]] = no_reload
        """Takes in moot.toml as it is now."""
        self.hosted_rows: HostedAgents | None = None
        """Which agents of moot.toml the hub runs, where this is one."""
        self.context: Context
        self.user: ParticipantId
        """The owner."""
        self._host: AgentHost | None = None
        self._admission: Admission | None = None
        self._entrance = PROGRAM
        self._settled: Callable[[], None] = lambda: None
        self._sessions: Attendance | None = None

    def serve(self, host: AgentHost, sessions: Attendance) -> None:
        """From now on agents are hosted and outside agents are received here."""
        self._host, self._sessions = host, sessions

    @property
    def host(self) -> AgentHost:
        if self._host is None:
            raise reading_only()
        return self._host

    @property
    def sessions(self) -> Attendance:
        if self._sessions is None:
            raise reading_only()
        return self._sessions

    def partials(self) -> dict[TurnId, str]:
        """What turns that run here have said so far."""
        return self._host.partials() if self._host is not None else {}

    def admitting(self, admission: Admission, settled: Callable[[], None]) -> "Core":
        """This core for a caller of a door: every decision it asks for also checks that it may."""
        voice = copy(self)
        voice._admission, voice._settled = admission, settled
        return voice

    def fresh_key(self) -> str:
        """A unique idempotency key: which opening of the hub, and a number. A random one would take a system call."""
        return f"{self._opening}{next(self._keys):x}"

    def entered_by(self, entrance: Entrance) -> "Core":
        """This core for a caller that came in this way."""
        voice = copy(self)
        voice._entrance = entrance
        return voice

    @property
    def entrance(self) -> Entrance:
        return self._entrance

    async def do(self, verb: Verb[C, A], command: C) -> A:
        """Carry out a verb; the refusal of an unknown name suggests similar ones."""
        if (full := self.parts.log.refusal) is not None:
            raise full
        try:
            answer = await self._with_suggestions(self.parts.store.transact(self._admitted(verb), command))
        except record_refusal.ENTERED as refusal:
            await self._record(verb, command, refusal)
            raise
        self._settled()
        return answer

    async def _record(self, verb: Verb[C, A], command: C, error: MootError) -> None:
        """Put the refusal on record before the agent gets it."""
        order = refusal_record(verb, command, error)
        if order is None or order.agent == self.user:
            return
        try:
            await self.parts.store.transact(Entered(record_refusal, self._entrance), order)
        except MootError as trouble:
            log.warning("a refusal was not recorded", action="refusal_not_recorded", error=str(trouble))

    def _admitted(self, verb: Verb[C, A]) -> Verb[C, A]:
        if self._admission is None:
            return Entered(verb, self._entrance)
        return Admitted(verb, self._admission, self._entrance)

    async def foresee(self, verb: Verb[C, A], command: C, *, is_attempt: bool = False) -> A:
        """The answer or refusal that a verb would give; nothing is stored. `is_attempt`: the caller is about to do it,
        so that a refusal is recorded."""
        try:
            return await self._with_suggestions(self.parts.store.preview(self._admitted(verb), command))
        except record_refusal.ENTERED as refusal:
            if is_attempt:
                await self._record(verb, command, refusal)
            raise

    async def _with_suggestions(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except NotFound as refusal:
            if self._admission is not None and refusal.what != "agent":
                raise  # a similar name may be one that the caller may not know
            raise await self.directory.with_suggestions(refusal) from None


def refusal_record(verb: object, command: object, error: MootError) -> record_refusal.RecordRefusal | None:
    """The record of a refusal; None if the command has no author."""
    message = getattr(command, "message", command)
    author = getattr(message, "author", None)
    if not author:
        return None
    to = (
        getattr(command, "target", "") or getattr(message, "conversation", "") or getattr(command, "name", "")
    )
    what = str(getattr(verb, "__name__", "")).rpartition(".")[2]
    return record_refusal.RecordRefusal(author, record_refusal.of(error, str(to), what))


def reading_only() -> NotPermitted:
    return NotPermitted("this home was opened for reading only")
