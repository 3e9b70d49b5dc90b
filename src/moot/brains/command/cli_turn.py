"""One turn of an agent that is a coding CLI: prompt it, pass its events on, stop it if the turn is taken away.

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
    AnswerBegan,
    CliDied,
    CliError,
    CliEvent,
    Driver,
    PermissionAnswer,
    PermissionRequest,
    Permissions,
    PromptEnded,
    PromptEnding,
    ProviderRetry,
    TextDelta,
    ToolBegan,
    ToolEnded,
    UsageReport,
)
from moot.brains.command.open_tools import MAX_CALLS, OpenTools
from moot.brains.command.permission import TurnPermissions
from moot.brains.command.usage import with_cost
from moot.errors import MootError
from moot.model.prompt import ToolCall, ToolResult, Usage
from moot.model.records.cli_session import CliSession

log = structlog.get_logger("moot.coding")

LOOK_SECONDS: Final = 0.5
"""How often a turn looks for an interrupt while a tool runs."""
INTERRUPT_GRACE: Final = 5.0
"""How long a tool may go on after its turn was interrupted."""
END_SECONDS: Final = 5.0
"""How long a prompt may take to end after an interrupt; then the process is ended."""
DEAD_LOOKS: Final = 16
"""After so many looks at a process that is gone, its last events are not waited for; ending one takes some seconds."""
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
        self._turn_permissions: TurnPermissions | None = None
        self._usage = Usage()
        self._total_usd: float | None = None
        self._reply: str | None = None
        self._final_text: str | None = None
        self._is_over = False
        self._open_requests: set[asyncio.Future[Any]] = set()
        self.is_quiet = True
        """No prompt is open: before the first, and once its end is known."""

    # --- what the CLI may call meanwhile -------------------------------------------------------------------------

    async def call(self, call: ToolCall) -> ToolResult:
        if self._is_over:
            return ToolResult("your turn is over", failed=True)
        if call.name == REPLY and (answer := self._own_answer(call)) is not None:
            self._reply = answer
            return ToolResult("This is your answer, and is posted when your turn ends. End it with [PASS].")
        over = ToolResult("your turn is over", failed=True)
        return await self._until_turn_ends(self._tools.call(call), over)

    def _own_answer(self, call: ToolCall) -> str | None:
        """The text, if the CLI replies by tool to the message that this turn answers: that is the turn's answer."""
        with suppress(ValueError, AttributeError):
            arguments = _arguments(call)
            if str(arguments.get("message_id")) in (self._turn.trigger.id, f"#{self._turn.trigger.seq}"):
                return str(arguments.get("text", ""))
        return None

    async def allow(self, request: PermissionRequest) -> PermissionAnswer:
        if self._is_over or self._turn_permissions is None:
            return PermissionAnswer(allowed=False, words="your turn is over")
        self._tools.pending += 1
        try:
            over = PermissionAnswer(allowed=False, words="your turn is over")
            return await self._until_turn_ends(self._turn_permissions.answer_to(request), over)
        finally:
            self._tools.pending -= 1

    async def _until_turn_ends(self, work: Coroutine[object, object, T], over: T) -> T:
        """Do the work unless the turn ends first: then it is cancelled, and `over` is the result."""
        task = asyncio.ensure_future(work)
        self._open_requests.add(task)
        try:
            await asyncio.wait({task})
        finally:
            self._open_requests.discard(task)
            task.cancel()
        return over if task.cancelled() else task.result()

    # --- the turn ------------------------------------------------------------------------------------------------

    async def run(self, driver: Driver, text: str, session: CliSession) -> None:
        """Prompt the CLI and follow it to the end. The cost is charged and saved however it ends. Raises if there is no
        answer."""
        self._turn_permissions = TurnPermissions(self._turn, self._permissions, self._project)
        self._turn.begin_answer()
        events: asyncio.Queue[CliEvent | CliError] = asyncio.Queue(MAX_WAITING)
        reading = asyncio.create_task(_read_events(driver, text, events))
        self.is_quiet = False
        try:
            ended = await self._follow(driver, events)
            self.is_quiet = True
        except BaseException as trouble:  # whatever it was: the CLI is still at work
            await _finish_despite_cancel(self._abort(driver, reading, events, session, trouble))
            raise
        finally:
            self._is_over = True
            for request in self._open_requests:
                request.cancel()
            reading.cancel()
        await self._save_session(self._charge(session))
        if ended.how in (PromptEnding.ERROR, PromptEnding.LIMIT, PromptEnding.INTERRUPTED):
            raise CliError(f"could not answer: {driver.name}: {ended.why or ended.how.value}")
        self._final_text = ended.text

    @property
    def answer(self) -> str | None:
        """What is posted: a reply by tool, else the last words."""
        if self._reply is not None:
            return self._reply
        said = self._turn.said
        if said.strip():
            return said
        return self._final_text if self._final_text and self._final_text.strip() else None

    async def _follow(self, driver: Driver, events: "asyncio.Queue[CliEvent | CliError]") -> PromptEnded:
        next_event = asyncio.ensure_future(events.get())
        stopping_since: float | None = None
        dead_looks = 0
        loop = asyncio.get_running_loop()
        try:
            while True:
                done, _ = await asyncio.wait({next_event}, timeout=LOOK_SECONDS)
                await self._check_call_limit()
                if not done:
                    dead_looks = dead_looks + 1 if not driver.alive else 0
                    if dead_looks > DEAD_LOOKS:  # its keeper was killed: nobody closes its pipes
                        await self._tools.cut_off("its program ended before the result was known")
                        raise CliDied("its program was killed")
                    if self._tools.any_running:
                        await self._turn.say("")
                        stopping_since = await self._interrupt_after_grace(
                            driver, stopping_since, loop.time()
                        )
                    continue
                event = next_event.result()
                events.task_done()
                next_event = asyncio.ensure_future(events.get())
                if isinstance(event, CliError):
                    await self._tools.cut_off("its program ended before the result was known")
                    raise event
                if isinstance(event, PromptEnded):
                    await self._tools.cut_off("stopped before it ended")
                    return event
                await self._on_event(driver, event)
        finally:
            if not next_event.cancel():  # it had taken one more
                events.task_done()
                if isinstance(event := next_event.result(), UsageReport):
                    self._count(event)

    async def _check_call_limit(self) -> None:
        """Calls of the CLI's own tools and of Moot's are counted together."""
        if self._tools.too_many:
            await self._tools.cut_off("stopped before it ended")
            raise CliError(f"kept calling tools and was stopped after {MAX_CALLS}")

    async def _interrupt_after_grace(self, driver: Driver, since: float | None, now: float) -> float | None:
        """After an interrupt a running tool has a few seconds to end by itself."""
        if since is None:
            return now if await self._turn.is_stopping() else None
        if now - since >= INTERRUPT_GRACE:
            await driver.interrupt()
        return since

    async def _on_event(self, driver: Driver, event: CliEvent) -> None:
        match event:
            case TextDelta(text):
                await self._turn.say(text)
            case AnswerBegan():
                self._turn.begin_answer()
                await self._turn.say("")
            case ToolBegan():
                await self._tools.record_start(event)
            case ToolEnded():
                await self._tools.record_end(event)
            case UsageReport():
                self._count(event)
            case ProviderRetry() | PromptEnded():
                pass  # no sign of life

    def _charge(self, session: CliSession) -> CliSession:
        """Charge this prompt to the turn: by the growth of the CLI's own total, else by the price of its tokens."""
        usage = self._usage
        if self._total_usd is not None:
            cost = max(0.0, self._total_usd - session.cost_usd)
            usage = structs.replace(usage, cost_usd=cost)
            session = structs.replace(session, cost_usd=max(self._total_usd, session.cost_usd))
        else:
            usage = with_cost(usage)
            session = structs.replace(session, cost_usd=session.cost_usd + (usage.cost_usd or 0.0))
        if usage.calls or usage.cost_usd:
            self._turn.spend(usage)
            self._usage = usage
        return structs.replace(session, open=False)

    def _count(self, used: UsageReport) -> None:
        self._usage = used.usage
        self._total_usd = used.total_usd if used.total_usd is not None else self._total_usd

    async def _save_session(self, session: CliSession) -> None:
        """Store the cost so far. If the store is away the answer is not lost: it is worth more than the count."""
        try:
            await self._turn.keep_session(session)
        except MootError as trouble:
            log.warning("a session was not kept", action="session_not_kept", error=str(trouble))

    async def _abort(
        self,
        driver: Driver,
        reading: "asyncio.Task[None]",
        events: "asyncio.Queue[CliEvent | CliError]",
        session: CliSession,
        trouble: BaseException,
    ) -> None:
        """There will be no answer. The cost until now is charged with the turn, or late if the turn was taken away."""
        if not isinstance(trouble, CliDied):
            await self._stop(driver, reading, events)
        charged = self._charge(session)
        await self._save_session(structs.replace(charged, open=isinstance(trouble, CliDied)))
        if isinstance(trouble, asyncio.CancelledError) and (self._usage.calls or self._usage.cost_usd):
            await self._turn.charge_late(self._usage)

    async def _stop(
        self, driver: Driver, reading: "asyncio.Task[None]", events: "asyncio.Queue[CliEvent | CliError]"
    ) -> None:
        """Interrupt the CLI, and end it if it does not stop."""
        counting = asyncio.create_task(self._count_late_usage(events))
        try:
            async with asyncio.timeout(END_SECONDS):
                await driver.interrupt()
                await reading
                await events.join()
            self.is_quiet = True
        except (TimeoutError, CliDied, asyncio.CancelledError):
            await driver.close()
        finally:
            counting.cancel()

    async def _count_late_usage(self, events: "asyncio.Queue[CliEvent | CliError]") -> None:
        while True:
            event = await events.get()
            if isinstance(event, UsageReport):
                self._count(event)
            events.task_done()


def _arguments(call: ToolCall) -> dict[str, object]:
    found = json.decode(call.arguments or "{}")
    return found if isinstance(found, dict) else {}


async def _read_events(driver: Driver, text: str, events: "asyncio.Queue[CliEvent | CliError]") -> None:
    """Read the CLI's events, in a task of its own: cancelling the turn loses none."""
    try:
        async for event in driver.prompt(text):
            await events.put(event)
    except CliError as error:
        await events.put(error)
    except Exception as error:  # a driver may fail on anything the CLI says: the turn learns of it
        log.warning("a driver failed", action="driver_failed", driver=driver.name, error=repr(error))
        await events.put(CliDied(f"{driver.name} could not be followed: {type(error).__name__}: {error}"))


async def _finish_despite_cancel(work: Coroutine[object, object, None]) -> None:
    """Finish the work even if cancelled meanwhile, and raise the cancellation afterwards."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
