"""A brain that is a coding CLI: one process and session for each conversation of its agent.

Above: wiring makes it, the host runs it. Below: cli_turn.py sees a turn through, the drivers speak to programs.
Processes start with the first turn that needs one and end when they have rested; a session is resumed after a
restart, and made anew, with all that Moot knows, where the CLI has lost it.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, cast
from weakref import WeakValueDictionary

from msgspec import Struct, structs

from moot.brain import CliHostedTurn, HostedTurn, Tool
from moot.brains.command import prompt_text
from moot.brains.command.cli_sandbox import Wall, no_wall
from moot.brains.command.cli_turn import CliTurn
from moot.brains.command.driver import (
    CliDied,
    CliError,
    CliPlace,
    Driver,
    Opened,
    Permissions,
    SessionLost,
    Wish,
    WishAnswer,
)
from moot.brains.command.process_pool import ProcessPool, ProcessSeat
from moot.brains.command.program import cli_process
from moot.brains.command.project_locks import ProjectLocks
from moot.brains.command.worktree_git import GitFailed, LinkedWorktree
from moot.brains.llm.keys import Secret
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
    wrap: Wall = no_wall
    worktree: LinkedWorktree | None = None
    """Behind a wall: what is committed there is taken over after each turn."""
    key: Secret | None = None
    key_file: Path | None = None
    runs_once: bool = False
    """A process for each turn, which has no session."""


class LiveSession:
    """A CLI that runs, in one conversation."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.opened = Opened("")
        self.seat: ProcessSeat | None = None
        self.turn: CliTurn | None = None
        self.specs: tuple[ToolSpec, ...] = ()

    async def call(self, call: ToolCall) -> ToolResult:
        return (
            await self.turn.call(call)
            if self.turn is not None
            else ToolResult("no turn is open", failed=True)
        )

    async def allow(self, wish: Wish) -> WishAnswer:
        return await self.turn.allow(wish) if self.turn is not None else WishAnswer(False, "no turn is open")


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
        """Of the conversations that have a turn."""
        self._swept = False

    async def think(self, turn: HostedTurn) -> str | None:
        where = turn.conversation.id
        lock = self._locks.setdefault(where, asyncio.Lock())  # held by whoever waits for it, and then gone
        async with lock:  # the turn before this one may still be ending
            return await self._answer_alone(cast(CliHostedTurn, turn), where)

    async def close(self) -> None:
        for live in list(self._live.values()):
            await self._leave(live)

    # --- a turn --------------------------------------------------------------------------------------------------

    async def _answer_alone(self, turn: CliHostedTurn, where: str) -> str | None:
        """An agent that may change files works alone in its folder. One that another agent asks and waits for does not
        wait itself: that may be who works there."""
        is_awaited = turn.reason == "ask" and turn.trigger.kind == "agent"
        if self._plan.permissions is Permissions.READ or is_awaited:
            return await self._answer(turn, where)
        async with self._projects.alone_in(self._plan.project, lambda reason: _waiting(turn, reason)):
            turn.wait_for("")
            return await self._answer(turn, where)

    async def _answer(self, turn: CliHostedTurn, where: str) -> str | None:
        self._sweep()
        await _take_up(turn)
        trouble: CliError | None = None
        for _ in range(ATTEMPTS):
            run = CliTurn(turn, self._tools, self._plan.permissions, self._plan.project)
            try:
                await self._prompted(turn, where, run)
                return run.answer
            except CliDied as died:
                trouble = died
        raise CliError(f"could not answer: {trouble.notice if trouble is not None else 'its program ended'}")

    async def _prompted(self, turn: CliHostedTurn, where: str, run: CliTurn) -> None:
        live, kept = await self._opened(turn, where, await self._session(turn))
        try:  # from here on its seat is given back, whatever happens
            text, kept = await self._next_prompt(turn, live, kept)
            await turn.keep_session(kept)
            live.turn = run
            await run.run(live.driver, text, kept)
        finally:
            live.turn = None
            await self._rest(live, quiet=run.is_quiet)
            if self._plan.worktree is not None:
                with suppress(GitFailed):  # it is logged, and tried again
                    await asyncio.to_thread(self._plan.worktree.take_over)

    async def _next_prompt(
        self, turn: CliHostedTurn, live: LiveSession, kept: CliSession | None
    ) -> tuple[str, CliSession]:
        """What it is told now, and the session's row as it is once it was told."""
        goes_on = kept is not None and kept.session == live.opened.session and bool(kept.turn)
        system = (await turn.prompt()).system
        if kept is None or not goes_on:
            text = await prompt_text.first_text(turn)
            kept = turn.new_session(
                live.driver.name, live.opened.session, str(self._plan.project), live.opened.version
            )
        else:
            text = await prompt_text.next_text(turn, kept, keeps_partial=live.driver.keeps_partial)
        return text, structs.replace(
            kept,
            brief=prompt_text.fingerprint(system),
            reached=turn.reads_to,
            open=True,
            version=live.opened.version,
        )

    async def _session(self, turn: CliHostedTurn) -> CliSession | None:
        """The session to go on with; one of another program or folder is another agent's memory."""
        kept = await turn.session()
        if kept is None or kept.project != str(self._plan.project):
            return None
        return kept

    # --- its process ---------------------------------------------------------------------------------------------

    async def _opened(
        self, turn: CliHostedTurn, where: str, kept: CliSession | None
    ) -> tuple[LiveSession, CliSession | None]:
        live = self._live.get(where)
        if live is not None and live.seat is not None and live.driver.alive and self._pool.wake(live.seat):
            return live, kept
        live = LiveSession(self._plan.make())
        live.specs = (await turn.prompt()).tools
        if kept is not None and (kept.driver != live.driver.name or self._plan.runs_once):
            kept = None
        live.seat = await self._pool.take(lambda: self._close(live, where), lambda what: _waiting(turn, what))
        try:
            self._live[where] = live
            turn.wait_for("")
            await turn.say("")
            try:
                live.opened = await live.driver.open(self._place(live), kept.session if kept else None)
            except SessionLost:
                await turn.keep_session(None)
                kept = None
                live.driver = self._plan.make()
                live.opened = await live.driver.open(self._place(live), None)
        except BaseException:  # whatever went wrong, cancelled or not: its seat is free again
            await self._leave(live)
            raise
        return live, kept

    def _place(self, live: LiveSession) -> CliPlace:
        plan = self._plan
        return CliPlace(
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
            key=plan.key,
            key_file=plan.key_file,
        )

    async def _rest(self, live: LiveSession, *, quiet: bool) -> None:
        """One that may still be at work is ended: what it said late would be taken for the answer to the next."""
        if live.seat is None:
            return
        if self._plan.runs_once or not quiet or not live.driver.alive:
            await self._leave(live)
        else:
            self._pool.rest(live.seat)

    async def _leave(self, live: LiveSession) -> None:
        if live.seat is not None:
            await self._pool.leave(live.seat)

    async def _close(self, live: LiveSession, where: str) -> None:
        if self._live.get(where) is live:
            del self._live[where]
        await live.driver.close()

    def _sweep(self) -> None:
        """Once: what an earlier host of this home could not end."""
        if not self._swept:
            self._swept = True
            cli_process.sweep(self._plan.run_folder)


async def _waiting(turn: CliHostedTurn, what: str) -> None:
    turn.wait_for(what)
    await turn.say("")


async def _take_up(turn: CliHostedTurn) -> None:
    """After a crash: a tool whose result nobody wrote down. The CLI is told that it was cut off, and looks itself."""
    for step in turn.steps:
        if not step.seq:
            await turn.end_step(step, ToolResult("cut off by a crash: it may have run", failed=True))
