"""A brain that is a coding CLI: one process and session for each conversation of its agent.

Above: wiring makes it, the host runs it. Below: cli_turn.py runs one turn, the drivers speak to programs.
Processes start with the first turn that needs one and end when they were idle for a while. A session is resumed after
a restart; if the CLI has lost it, a new one gets the whole context.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, cast
from weakref import WeakValueDictionary

from msgspec import Struct, structs

from moot.brain import CliHostedTurn, HostedTurn, Tool
from moot.brains.command import prompt_text
from moot.brains.command.cli_sandbox import SandboxWrap, no_sandbox
from moot.brains.command.cli_turn import CliTurn
from moot.brains.command.driver import (
    CliDied,
    CliError,
    CliSetup,
    Driver,
    OpenedSession,
    PermissionAnswer,
    PermissionRequest,
    Permissions,
    SessionLost,
)
from moot.brains.command.process_pool import ProcessPool, ProcessSeat
from moot.brains.command.program import cli_process
from moot.brains.command.project_locks import ProjectLocks
from moot.brains.command.repository.git_guard import GitGuard
from moot.brains.command.worktree_git import GitFailed, LinkedWorktree
from moot.brains.llm.keys import HIDDEN, Secret
from moot.model.prompt import ToolCall, ToolResult, ToolSpec
from moot.model.records.cli_session import CliSession

ATTEMPTS: Final = 2
"""A CLI that dies is resumed once."""


class CliPlan(Struct, frozen=True):
    """How an agent's CLI is run."""

    agent: str
    project: Path
    make: Callable[[], Driver]
    environ: Mapping[str, str]
    run_folder: Path
    permissions: Permissions = Permissions.EDIT
    wrap: SandboxWrap = no_sandbox
    worktree: LinkedWorktree | None = None
    """For an agent in a sandbox: its commits are copied to the repository after each turn."""
    guard: GitGuard | None = None
    """Undoes what would make a person's git run a program of the agent's."""
    key: Secret | None = None
    key_file: Path | None = None
    secrets: tuple[Secret, ...] = ()
    """Keys and variables that the CLI was given: what it complains about may quote them."""
    runs_once: bool = False
    """One process per turn, without a session."""


KEY_LIKE: Final = re.compile(r"(?i)(\bbearer\s+|\b(?:sk|pk|key)-)[\w.~+/=-]{6,}")
"""Also of a login that Moot does not know: providers repeat the key that they refuse."""


def hide_keys(text: str, secrets: Sequence[Secret] = ()) -> str:
    for secret in secrets:
        text = secret.hide_in(text)
    return KEY_LIKE.sub(rf"\1{HIDDEN}", text)


class LiveSession:
    """A running CLI, in one conversation."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.opened = OpenedSession("")
        self.seat: ProcessSeat | None = None
        self.turn: CliTurn | None = None
        self.specs: tuple[ToolSpec, ...] = ()
        self.guarded = False

    async def call(self, call: ToolCall) -> ToolResult:
        return (
            await self.turn.call(call)
            if self.turn is not None
            else ToolResult("no turn is open", failed=True)
        )

    async def allow(self, request: PermissionRequest) -> PermissionAnswer:
        return (
            await self.turn.allow(request)
            if self.turn is not None
            else PermissionAnswer(False, "no turn is open")
        )


class CommandBrain:
    name = ""

    def __init__(
        self, plan: CliPlan, pool: ProcessPool, projects: ProjectLocks, tools: Mapping[str, Tool]
    ) -> None:
        self._plan = plan
        self._pool = pool
        self._projects = projects
        self._tools = tools
        self._live: dict[str, LiveSession] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By conversation, while it has a turn."""
        self._swept = False

    async def think(self, turn: HostedTurn) -> str | None:
        conversation_id = turn.conversation.id
        lock = self._locks.setdefault(
            conversation_id, asyncio.Lock()
        )  # gone when no turn holds it or waits for it
        async with lock:  # the turn before this one may still be ending
            try:
                return await self._answer_alone(cast(CliHostedTurn, turn), conversation_id)
            except CliError as error:  # everybody in the conversation reads the notice
                raise CliError(hide_keys(error.notice, self._plan.secrets)) from None

    async def close(self) -> None:
        for live in list(self._live.values()):
            await self._leave(live)

    # --- a turn --------------------------------------------------------------------------------------------------

    async def _answer_alone(self, turn: CliHostedTurn, conversation_id: str) -> str | None:
        """An agent that may change files works alone in its folder. If another agent is waiting for its answer it does
        not wait for the folder: the one who waits may be working there."""
        is_awaited = turn.reason == "ask" and turn.trigger.kind == "agent"
        if self._plan.permissions is Permissions.READ or is_awaited:
            return await self._answer(turn, conversation_id)
        async with self._projects.alone_in(self._plan.project, lambda reason: _show_waiting(turn, reason)):
            turn.wait_for("")
            return await self._answer(turn, conversation_id)

    async def _answer(self, turn: CliHostedTurn, conversation_id: str) -> str | None:
        self._sweep()
        await _end_cut_off_steps(turn)
        trouble: CliError | None = None
        for _ in range(ATTEMPTS):
            run = CliTurn(turn, self._tools, self._plan.permissions, self._plan.project)
            try:
                await self._prompt(turn, conversation_id, run)
                return run.answer
            except CliDied as died:
                trouble = died
        raise CliError(f"could not answer: {trouble.notice if trouble is not None else 'its program ended'}")

    async def _prompt(self, turn: CliHostedTurn, conversation_id: str, run: CliTurn) -> None:
        live, session = await self._open(turn, conversation_id, await self._stored_session(turn))
        try:  # from here on its seat is given back, whatever happens
            text, session = await self._next_prompt(turn, live, session)
            await turn.keep_session(session)
            live.turn = run
            await run.run(live.driver, text, session)
        finally:
            live.turn = None
            await self._rest(live, quiet=run.is_quiet)
            if self._plan.worktree is not None:
                with suppress(GitFailed):  # it is logged, and tried again
                    await asyncio.to_thread(self._plan.worktree.take_over)
            if self._plan.guard is not None:
                await asyncio.to_thread(self._plan.guard.check)

    async def _next_prompt(
        self, turn: CliHostedTurn, live: LiveSession, session: CliSession | None
    ) -> tuple[str, CliSession]:
        """The next prompt, and the session's row as it is after that prompt."""
        goes_on = session is not None and session.session == live.opened.session and bool(session.turn)
        system = (await turn.prompt()).system
        if session is None or not goes_on:
            text = await prompt_text.first_text(turn)
            session = turn.new_session(
                live.driver.name, live.opened.session, str(self._plan.project), live.opened.version
            )
        else:
            text = await prompt_text.next_text(turn, session, keeps_partial=live.driver.keeps_partial)
        return text, structs.replace(
            session,
            brief=prompt_text.fingerprint(system),
            reached=turn.reads_to,
            open=True,
            version=live.opened.version,
        )

    async def _stored_session(self, turn: CliHostedTurn) -> CliSession | None:
        """The session to resume; one of another folder is not resumed."""
        session = await turn.session()
        if session is None or session.project != str(self._plan.project):
            return None
        return session

    # --- its process ---------------------------------------------------------------------------------------------

    async def _open(
        self, turn: CliHostedTurn, conversation_id: str, session: CliSession | None
    ) -> tuple[LiveSession, CliSession | None]:
        live = self._live.get(conversation_id)
        if live is not None and live.seat is not None and live.driver.alive and self._pool.wake(live.seat):
            return live, session
        live = LiveSession(self._plan.make())
        live.specs = (await turn.prompt()).tools
        if session is not None and (session.driver != live.driver.name or self._plan.runs_once):
            session = None
        live.seat = await self._pool.take(
            lambda: self._close(live, conversation_id), lambda what: _show_waiting(turn, what)
        )
        try:
            self._live[conversation_id] = live
            turn.wait_for("")
            await turn.say("")
            if self._plan.guard is not None:
                live.guarded = True
                await asyncio.to_thread(self._plan.guard.begin)
            try:
                live.opened = await live.driver.open(self._setup(live), session.session if session else None)
            except SessionLost:
                await turn.keep_session(None)
                session = None
                live.driver = self._plan.make()
                live.opened = await live.driver.open(self._setup(live), None)
        except BaseException:  # whatever went wrong, cancelled or not: its seat is free again
            await self._leave(live)
            raise
        return live, session

    def _setup(self, live: LiveSession) -> CliSetup:
        plan = self._plan
        return CliSetup(
            agent=plan.agent,
            project=plan.project,
            environ=plan.environ,
            brief=prompt_text.BRIEF,
            permissions=plan.permissions,
            tools=lambda: live.specs,
            call=live.call,
            allow=live.allow,
            run_folder=plan.run_folder,
            wrap=plan.wrap,
            writable=plan.worktree.written if plan.worktree is not None else (),
            key=plan.key,
            key_file=plan.key_file,
        )

    async def _rest(self, live: LiveSession, *, quiet: bool) -> None:
        """A process that may still be at work is ended: its late words would be taken for the next answer."""
        if live.seat is None:
            return
        if self._plan.runs_once or not quiet or not live.driver.alive:
            await self._leave(live)
        else:
            self._pool.rest(live.seat)

    async def _leave(self, live: LiveSession) -> None:
        if live.seat is not None:
            await self._pool.leave(live.seat)

    async def _close(self, live: LiveSession, conversation_id: str) -> None:
        if self._live.get(conversation_id) is live:
            del self._live[conversation_id]
        await live.driver.close()
        if self._plan.guard is not None and live.guarded:
            live.guarded = False
            await asyncio.to_thread(self._plan.guard.end)

    def _sweep(self) -> None:
        """Once: end the processes that an earlier host of this home left behind."""
        if not self._swept:
            self._swept = True
            cli_process.sweep(self._plan.run_folder)


async def _show_waiting(turn: CliHostedTurn, what: str) -> None:
    turn.wait_for(what)
    await turn.say("")


async def _end_cut_off_steps(turn: CliHostedTurn) -> None:
    """After a crash: end the steps without a result. The CLI learns that it was cut off, and checks what it did."""
    for step in turn.steps:
        if not step.seq:
            await turn.end_step(step, ToolResult("cut off by a crash: it may have run", failed=True))
