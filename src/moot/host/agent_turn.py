"""A turn as its agent sees it while it speaks: what it reads, how it answers, and the tools it uses."""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any

from msgspec import Struct, json, structs, to_builtins

from moot import shapes
from moot.brain import Tool
from moot.context.closing_words import closing
from moot.context.frames import Frames
from moot.context.prompt import Context, ShownPrompt, framed
from moot.context.view import TurnView
from moot.failpoints import failpoint
from moot.flow import call_tool, charge, keep_session, tool_result
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.prompt import Offered, Prompt, ToolCall, ToolResult, Usage
from moot.model.records.cli_session import CLI_SESSIONS, CliSession
from moot.model.turn import Duty, Given, Step, Turn
from moot.ports import Clock, HomeStore
from moot.rules.budgets import account_of
from moot.rules.words.silence import HoldBack

MAX_RESULT = 65_536
"""Characters of a tool's answer that are kept."""


class Surroundings(Struct, frozen=True):
    """What one agent's turn runs in, assembled by the hub."""

    store: HomeStore
    context: Context
    names: shapes.Names
    conversation: shapes.Conversation
    hub: Any
    offered: Offered
    clock: Clock
    stream: Callable[[str], Awaitable[None]]


def units(text: str) -> int:
    """The length of a text as browsers count it: in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class Speaking:
    """What a brain gets. `say` streams; the last text, returned or streamed, is the reply."""

    def __init__(self, view: TurnView, around: Surroundings) -> None:
        turn = view.turn
        self.id = str(turn.id)
        self.agent = around.names(turn.agent)
        self.role = view.agent.role
        self.conversation = around.conversation
        self.must_answer = turn.duty is Duty.MUST
        self.reason = turn.reason.value
        self.deadline = turn.deadline or None
        self.text = view.trigger.text
        self.hub = around.hub
        self.said = ""
        self.usage: Usage | None = None
        self.waits_for = ""
        """What the turn waits for before its brain can think; empty where it does not."""
        self.waits_since = 0.0
        self._view = view
        self._around = around
        self._turn = turn
        self.charged_above: tuple[ParticipantId, ...] = ()
        """The agents above its agent: the cost counts for them too."""
        self._shown: ShownPrompt | None = None
        self._hold_back = HoldBack()
        self.shown_before = self._shown_units = 0
        """How much of the reply was shown before the last piece, and with it, in UTF-16 code units."""

    # --- what it reads -----------------------------------------------------------------------------------

    @cached_property
    def trigger(self) -> shapes.Message:
        """The newest message that called this turn."""
        return shapes.Message.of(self._view.trigger, self._around.names)

    @cached_property
    def new(self) -> tuple[shapes.Message, ...]:
        """Messages of others since this agent's last turn here."""
        return tuple(shapes.Message.of(message, self._around.names) for message in self._view.new)

    @cached_property
    def messages(self) -> tuple[shapes.Heard, ...]:
        """The messages in the agent's window."""
        frames = self._around.context.frames(self._view.conversation.id)
        return tuple(
            as_heard(m, self._view.agent.id, frames, self._around.names) for m in self._view.messages
        )

    async def prompt(self) -> Prompt:
        """What a model is given for this turn, with the tools used in it so far."""
        view = structs.replace(self._view, turn=self._turn)
        shown = await self._around.context.prompt(view, self._around.offered)
        self._shown = self._shown or shown
        return shown.prompt

    @property
    def given(self) -> Given:
        """The record of what the agent was given, for the inspector."""
        return self._shown.given if self._shown else Given(start=self._view.start)

    @property
    def given_text(self) -> str:
        return self._shown.text if self._shown else ""

    @property
    def seconds_left(self) -> float:
        """Until the turn ends in any case; signs of life do not extend that."""
        return max(0.0, self._turn.limit - self._around.clock.now())

    # --- how it answers ----------------------------------------------------------------------------------

    async def say(self, chunk: str) -> None:
        """Stream a piece of the reply. Text that may still become `[PASS]` is held back."""
        self.said += chunk
        shown = self._hold_back.feed(chunk)
        self.shown_before, self._shown_units = self._shown_units, self._shown_units + units(shown)
        await self._around.stream(shown)

    def begin_answer(self) -> None:
        """A model begins another answer: what it streamed before the last tool call was not the reply."""
        self.said = ""
        self._hold_back = HoldBack()
        self.shown_before = self._shown_units = 0

    def spend(self, usage: Usage) -> None:
        self.usage = usage if self.usage is None else self.usage.plus(usage)

    @property
    def spent(self) -> JsonObject | None:
        """What the turn cost, and how much of its prompt the provider could have cached."""
        if self.usage is None:
            return None
        used: JsonObject = to_builtins(self.usage)
        if self.usage.input_tokens:
            used["hit_rate"] = round(self.usage.cached_tokens / self.usage.input_tokens, 4)
        given = self.given
        if given.size and given.shared is not None:
            used["prefix"] = round(given.shared / given.size, 4)
        return used

    # --- the tools it uses -------------------------------------------------------------------------------

    @property
    def steps(self) -> tuple[Step, ...]:
        """Tool calls of this turn so far, those before a crash included."""
        return self._turn.steps

    async def use(self, tool: Tool | None, call: ToolCall, *, answer: int, said: str) -> ToolResult:
        """Call a tool. The call is stored before it runs, the result after; a restart goes on from there."""
        may_repeat = tool is None or tool.spec.idempotent
        step = await self.begin_step(call, said=said, idempotent=may_repeat, answer=answer)
        return await self.run_step(tool, step)

    async def begin_step(
        self, call: ToolCall, *, said: str = "", idempotent: bool = False, answer: int = 0
    ) -> Step:
        """Store that a tool begins to run. While it runs the turn is not interrupted."""
        command = call_tool.CallTool(
            turn=self._turn.id,
            fence=self._turn.fence,
            call=call.id,
            tool=call.name,
            arguments=call.arguments,
            answer=answer,
            said=said,
            idempotent=idempotent,
        )
        self._turn = await self._around.store.transact(call_tool, command)
        failpoint("host.intended")
        await self._around.stream("")
        return self._turn.steps[-1]

    async def run_step(self, tool: Tool | None, step: Step) -> ToolResult:
        """Run a tool whose call is stored, and store its result."""
        await self._around.stream("")
        result = await self._run(tool, step)
        failpoint("host.tool_ran")
        await self.end_step(step, result)
        return result

    async def end_step(self, step: Step, result: ToolResult) -> None:
        """Store the result of a tool call."""
        text = result.text if len(result.text) <= MAX_RESULT else f"{result.text[:MAX_RESULT]}\n[cut]"
        command = tool_result.ToolAnswered(
            self._turn.id, self._turn.fence, step.call, text.replace("\x00", "\ufffd"), result.failed
        )
        self._turn = await self._around.store.transact(tool_result, command)
        await self._around.stream("")

    async def _run(self, tool: Tool | None, step: Step) -> ToolResult:
        if tool is None:
            names = ", ".join(spec.name for spec in self._around.offered.tools) or "none"
            return ToolResult(f'unknown tool "{step.tool}"; tools are {names}', failed=True)
        try:
            arguments = json.decode(step.arguments or "{}", type=dict[str, Any])
        except ValueError as problem:
            return ToolResult(f"the arguments are not a JSON object: {problem}", failed=True)
        try:
            return await tool.run(arguments, self)
        except Exception as error:  # a tool may fail in any way; the model gets the error, the turn goes on
            return ToolResult(f"{step.tool} failed: {type(error).__name__}: {error}", failed=True)

    @property
    def turn(self) -> Turn:
        return self._turn

    # --- for brains that are programs ----------------------------------------------------------------------

    @property
    def closing(self) -> str:
        """What is new, whose turn it is, and whether the agent may stay silent."""
        return closing(self._turn, self._view.start)

    @property
    def reads_to(self) -> int:
        return self._turn.hi

    async def is_stopping(self) -> bool:
        """Whether somebody has interrupted this turn and waits for its running tool."""
        now = await self._around.store.turn(self._turn.id)
        return now is not None and now.stopping

    def wait_for(self, what: str) -> None:
        """Show everybody that the turn waits for something; empty when it goes on."""
        if self.waits_for != what:
            self.waits_for = what
            self.waits_since = self._around.clock.now()

    async def session(self) -> CliSession | None:
        sessions = await self._around.store.records(
            CLI_SESSIONS.one(self._turn.agent, self._turn.conversation)
        )
        return sessions[0] if sessions else None

    def new_session(self, driver: str, session: str, project: str, version: str) -> CliSession:
        turn = self._turn
        return CliSession(turn.agent, turn.conversation, driver, session, project, version)

    async def keep_session(self, session: CliSession | None) -> None:
        """Store its session, as prompted for this turn; None forgets it."""
        turn = self._turn
        stored = None if session is None else structs.replace(session, turn=turn.id)
        command = keep_session.KeepSession(turn.agent, turn.conversation, stored)
        await self._around.store.transact(keep_session, command)

    async def charge_late(self, usage: Usage) -> None:
        """Charge a turn that was interrupted and is over."""
        where = account_of(self._turn, self._around.clock.now(), self.charged_above)
        await self._around.store.transact(charge, charge.Charge(where, to_builtins(usage)))


def as_heard(message: Message, me: str, frames: Frames, names: shapes.Names) -> shapes.Heard:
    """A message as one agent reads it: own words as they were said, others' in a frame (SPEC K-06)."""
    own = message.author == me
    content = message.text if own else frames.show(framed(message, names))
    return shapes.Heard(shapes.Message.of(message, names), "assistant" if own else "user", content)
