"""One turn of an agent that is a coding CLI: prompt it, pass on what happens, stop it where the turn is taken away.

Above: command_brain.py, which has the process. Below: the turn; open_tools.py and permission.py.
"""

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog
from msgspec import json, structs

from moot.brain import CliHostedTurn, Tool
from moot.brains.command.driver import (
    CliDied,
    CliError,
    Driver,
    Ended,
    Happened,
    NewAnswer,
    Permissions,
    PromptEnding,
    Retrying,
    Spoke,
    ToolBegan,
    ToolEnded,
    Used,
    Wish,
    WishAnswer,
)
from moot.brains.command.open_tools import MAX_CALLS, OpenTools
from moot.brains.command.permission import TurnPermissions
from moot.brains.command.usage import priced
from moot.errors import MootError
from moot.model.prompt import ToolCall, ToolResult, Usage
from moot.model.records.cli_session import CliSession

log = structlog.get_logger("moot.coding")

LOOK_SECONDS: Final = 0.5
"""How often a turn looks for an interrupt while a tool runs."""
INTERRUPT_GRACE: Final = 5.0
"""For the tool that runs when a turn is interrupted."""
END_SECONDS: Final = 5.0
"""Between an interrupt and the end of what was prompted; then the process is ended."""
DEAD_LOOKS: Final = 16
"""At a process that is gone, before its last words are no longer waited for; ending one takes some seconds."""
MAX_WAITING: Final = 256
REPLY: Final = "reply"
T = TypeVar("T")


class CliTurn:
    def __init__(
        self, turn: CliHostedTurn, tools: Mapping[str, Tool], permissions: Permissions, project: Path
    ) -> None:
        self._turn = turn
        self._permissions = permissions
        self._project = project
        self._tools = OpenTools(turn, tools)
        self._allowing: TurnPermissions | None = None
        self._spent = Usage()
        self._total: float | None = None
        self._reply: str | None = None
        self._whole: str | None = None
        self._over = False
        self._attending: set[asyncio.Future[Any]] = set()
        self.is_quiet = True
        """Nothing is prompted: before, and once its end is known."""

    # --- what the CLI may call meanwhile -------------------------------------------------------------------------

    async def call(self, call: ToolCall) -> ToolResult:
        if self._over:
            return ToolResult("your turn is over", failed=True)
        if call.name == REPLY and (answer := self._own_answer(call)) is not None:
            self._reply = answer
            return ToolResult("This is your answer, and is posted when your turn ends. End it with [PASS].")
        over = ToolResult("your turn is over", failed=True)
        return await self._attended(self._tools.call(call), over)

    def _own_answer(self, call: ToolCall) -> str | None:
        """The text of a reply to the very message that this turn answers: it is the answer itself."""
        with suppress(ValueError, AttributeError):
            arguments = _arguments(call)
            if str(arguments.get("message_id")) in (self._turn.trigger.id, f"#{self._turn.trigger.seq}"):
                return str(arguments.get("text", ""))
        return None

    async def allow(self, wish: Wish) -> WishAnswer:
        if self._over or self._allowing is None:
            return WishAnswer(allowed=False, words="your turn is over")
        self._tools.pending += 1
        try:
            over = WishAnswer(allowed=False, words="your turn is over")
            return await self._attended(self._allowing.verdict(wish), over)
        finally:
            self._tools.pending -= 1

    async def _attended(self, work: Coroutine[object, object, T], over: T) -> T:
        """For as long as the turn goes on: nobody waits for what a turn that has ended still asks."""
        task = asyncio.ensure_future(work)
        self._attending.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._attending.discard(task)
            task.cancel()
        return over if task.cancelled() else task.result()

    # --- the turn ------------------------------------------------------------------------------------------------

    async def run(self, driver: Driver, text: str, session: CliSession) -> None:
        """Prompt the CLI and see it through. What it cost is charged and kept however it ends; raises where there is no
        answer."""
        self._allowing = TurnPermissions(self._turn, self._permissions, self._project)
        self._turn.begin_answer()
        happened: asyncio.Queue[Happened | CliError] = asyncio.Queue(MAX_WAITING)
        pump = asyncio.create_task(_pump(driver, text, happened))
        self.is_quiet = False
        try:
            ended = await self._see_through(driver, happened)
            self.is_quiet = True
        except BaseException as trouble:  # whatever it was: the CLI is still at work
            await _unhurried(self._break_off(driver, pump, happened, session, trouble))
            raise
        finally:
            self._over = True
            for asked in self._attending:
                asked.cancel()
            pump.cancel()
        await self._keep(self._charged(session))
        if ended.how in (PromptEnding.ERROR, PromptEnding.LIMIT, PromptEnding.INTERRUPTED):
            raise CliError(f"could not answer: {driver.name}: {ended.why or ended.how.value}")
        self._whole = ended.text

    @property
    def answer(self) -> str | None:
        """What is posted: a reply by tool, else the last words."""
        if self._reply is not None:
            return self._reply
        said = self._turn.said
        if said.strip():
            return said
        return self._whole if self._whole and self._whole.strip() else None

    async def _see_through(self, driver: Driver, happened: "asyncio.Queue[Happened | CliError]") -> Ended:
        getting = asyncio.ensure_future(happened.get())
        stopping_since: float | None = None
        dead = 0
        loop = asyncio.get_running_loop()
        try:
            while True:
                done, _ = await asyncio.wait({getting}, timeout=LOOK_SECONDS)
                await self._bounded()
                if not done:
                    dead = dead + 1 if not driver.alive else 0
                    if dead > DEAD_LOOKS:  # its keeper was killed: nobody closes its pipes
                        await self._tools.cut_off("its program ended before the result was known")
                        raise CliDied("its program was killed")
                    if self._tools.any_running:
                        await self._turn.say("")
                        stopping_since = await self._hurried(driver, stopping_since, loop.time())
                    continue
                one = getting.result()
                happened.task_done()
                getting = asyncio.ensure_future(happened.get())
                if isinstance(one, CliError):
                    await self._tools.cut_off("its program ended before the result was known")
                    raise one
                if isinstance(one, Ended):
                    await self._tools.cut_off("stopped before it ended")
                    return one
                await self._pass_on(driver, one)
        finally:
            if not getting.cancel():  # it had taken one more
                happened.task_done()
                if isinstance(one := getting.result(), Used):
                    self._count(one)

    async def _bounded(self) -> None:
        """Its own tools and Moot's are counted together."""
        if self._tools.too_many:
            await self._tools.cut_off("stopped before it ended")
            raise CliError(f"kept calling tools and was stopped after {MAX_CALLS}")

    async def _hurried(self, driver: Driver, since: float | None, now: float) -> float | None:
        """After an interrupt a tool that runs has a few seconds to end by itself."""
        if since is None:
            return now if await self._turn.is_stopping() else None
        if now - since >= INTERRUPT_GRACE:
            await driver.interrupt()
        return since

    async def _pass_on(self, driver: Driver, happened: Happened) -> None:
        match happened:
            case Spoke(text):
                await self._turn.say(text)
            case NewAnswer():
                self._turn.begin_answer()
                await self._turn.say("")
            case ToolBegan():
                await self._tools.began(happened)
            case ToolEnded():
                await self._tools.ended(happened)
            case Used():
                self._count(happened)
            case Retrying() | Ended():
                pass  # no sign of life

    def _charged(self, session: CliSession) -> CliSession:
        """What this prompt cost: what the CLI's own count has grown by, else by the price of its tokens."""
        usage = self._spent
        if self._total is not None:
            cost = max(0.0, self._total - session.cost_usd)
            usage = structs.replace(usage, cost_usd=cost)
            session = structs.replace(session, cost_usd=max(self._total, session.cost_usd))
        else:
            usage = priced(usage)
            session = structs.replace(session, cost_usd=session.cost_usd + (usage.cost_usd or 0.0))
        if usage.calls or usage.cost_usd:
            self._turn.spend(usage)
            self._spent = usage
        return structs.replace(session, open=False)

    def _count(self, used: Used) -> None:
        self._spent = used.usage
        self._total = used.total_usd if used.total_usd is not None else self._total

    async def _keep(self, session: CliSession) -> None:
        """Write down what it has cost so far. An answer is worth more than that: it is not lost with a store that is
        away."""
        try:
            await self._turn.keep_session(session)
        except MootError as trouble:
            log.warning("a session was not kept", action="session_not_kept", error=str(trouble))

    async def _break_off(
        self,
        driver: Driver,
        pump: "asyncio.Task[None]",
        happened: "asyncio.Queue[Happened | CliError]",
        session: CliSession,
        trouble: BaseException,
    ) -> None:
        """There will be no answer. What it cost until now is charged: with the turn, or late where that was taken
        away."""
        if not isinstance(trouble, CliDied):
            await self._stop(driver, pump, happened)
        charged = self._charged(session)
        await self._keep(structs.replace(charged, open=isinstance(trouble, CliDied)))
        if isinstance(trouble, asyncio.CancelledError) and (self._spent.calls or self._spent.cost_usd):
            await self._turn.charge_late(self._spent)

    async def _stop(
        self, driver: Driver, pump: "asyncio.Task[None]", happened: "asyncio.Queue[Happened | CliError]"
    ) -> None:
        """Interrupt the CLI, and end it where it does not stop."""
        emptying = asyncio.create_task(self._take_costs(happened))
        try:
            async with asyncio.timeout(END_SECONDS):
                await driver.interrupt()
                await pump
                await happened.join()
            self.is_quiet = True
        except (TimeoutError, CliDied, asyncio.CancelledError):
            await driver.close()
        finally:
            emptying.cancel()

    async def _take_costs(self, happened: "asyncio.Queue[Happened | CliError]") -> None:
        while True:
            one = await happened.get()
            if isinstance(one, Used):
                self._count(one)
            happened.task_done()


def _arguments(call: ToolCall) -> dict[str, object]:
    found = json.decode(call.arguments or "{}")
    return found if isinstance(found, dict) else {}


async def _pump(driver: Driver, text: str, happened: "asyncio.Queue[Happened | CliError]") -> None:
    """A task of its own reads what the CLI says, so that cancelling a reader loses nothing."""
    try:
        async for one in driver.prompt(text):
            await happened.put(one)
    except CliError as died:
        await happened.put(died)
    except Exception as odd:  # a driver may stumble over anything: that is told, and no silence
        log.warning("a driver failed", action="driver_failed", driver=driver.name, error=repr(odd))
        await happened.put(CliDied(f"{driver.name} could not be followed: {type(odd).__name__}: {odd}"))


async def _unhurried(work: Coroutine[object, object, None]) -> None:
    """Finish even if we are cancelled meanwhile; that is heeded then."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
