"""The tools that run in a CLI's turn, its own and Moot's, recorded as the turn's steps.

A step is stored before and after, one at a time: tools that a CLI runs side by side are one step. Above: cli_turn.py.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec import json, structs

from moot.brain import CliHostedTurn, Tool
from moot.brains.command.driver import ToolBegan, ToolEnded
from moot.model.prompt import ToolCall, ToolResult
from moot.model.turn import Step

MAX_CALLS: Final = 100
"""In one turn: a CLI that calls more is going round in circles."""
MAX_RESULT_CHARACTERS: Final = 8_192
"""Characters of one result that are kept."""


class TurnWithStep:
    """The turn as one tool of Moot's sees it while the CLI's own tools run: with a step of its own, so that what the
    tool sends has an idempotency key of its own."""

    def __init__(self, turn: CliHostedTurn, step: Step) -> None:
        self._turn = turn
        self.steps = (step,)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._turn, name)


class OpenTools:
    def __init__(self, turn: CliHostedTurn, tools: Mapping[str, Tool]) -> None:
        self._turn = turn
        self._tools = tools
        self._running: dict[str, str] = {}
        self._results: list[str] = []
        self._failed = False
        self._step: Step | None = None
        self._writing = asyncio.Lock()
        self.count = 0
        self.pending = 0
        """Calls of Moot's tools and permission requests that are not answered yet."""

    @property
    def any_running(self) -> bool:
        return self._step is not None or self.pending > 0

    @property
    def too_many(self) -> bool:
        return self.count > MAX_CALLS

    async def record_start(self, tool: ToolBegan) -> None:
        async with self._writing:
            self.count += 1
            self._running[tool.id] = tool.name
            if self._step is None:
                call = ToolCall(tool.id, tool.name, tool.arguments)
                self._step = await self._turn.begin_step(call, said=self._turn.said)
            self._turn.begin_answer()

    async def record_end(self, tool: ToolEnded) -> None:
        async with self._writing:
            name = self._running.pop(tool.id, None)
            if name is None:
                return
            text = (
                tool.text
                if len(tool.text) <= MAX_RESULT_CHARACTERS
                else f"{tool.text[:MAX_RESULT_CHARACTERS]}\n[cut]"
            )
            self._results.append(text)
            self._failed |= tool.failed
            if not self._running:
                await self._close()

    async def cut_off(self, why: str) -> None:
        """The turn ends while tools are running: their results are unknown."""
        async with self._writing:
            if self._step is not None:
                self._results.append(why)
                self._failed = True
                await self._close()

    async def _close(self) -> None:
        step, self._step = self._step, None
        result = ToolResult("\n".join(self._results) or "done", self._failed)
        self._results, self._failed = [], False
        self._running.clear()
        if step is not None:
            await self._turn.end_step(step, result)

    async def call(self, call: ToolCall) -> ToolResult:
        """Run a tool of Moot's, in the agent's name. An error becomes its result, because the CLI waits for one."""
        tool = self._tools.get(call.name)
        self.count += 1
        if self.too_many:
            return ToolResult(f"{MAX_CALLS} calls are the most in one turn; yours ends now", failed=True)
        self.pending += 1
        try:
            step = await self._begin_call(tool, call)
            result = await self._run(tool, step)
            await self.record_end(ToolEnded(call.id, result.text, result.failed))
        except Exception as error:  # as for a tool of any other brain
            result = ToolResult(f"{call.name} failed: {type(error).__name__}: {error}", failed=True)
            await self._record_failure(call, result)
        finally:
            self.pending -= 1
        return result

    async def _begin_call(self, tool: Tool | None, call: ToolCall) -> Step:
        """Store a step, or share the open one. The lock is not held while the tool runs: the tool may wait for
        somebody, and the turn has to be able to end meanwhile."""
        async with self._writing:
            if self._step is None:
                self._turn.begin_answer()
                may_repeat = tool is None or tool.spec.idempotent
                self._step = await self._turn.begin_step(call, said="", idempotent=may_repeat)
            self._running[call.id] = call.name
            return structs.replace(self._step, call=call.id, tool=call.name, arguments=call.arguments)

    async def _record_failure(self, call: ToolCall, result: ToolResult) -> None:
        with suppress(Exception):  # the store is away: the turn itself fails on that too
            await self.record_end(ToolEnded(call.id, result.text, failed=True))

    async def _run(self, tool: Tool | None, step: Step) -> ToolResult:
        if tool is None:
            return ToolResult(f'unknown tool "{step.tool}"; tools are {", ".join(self._tools)}', failed=True)
        arguments = json.decode(step.arguments or "{}", type=dict[str, Any])
        turn: Any = TurnWithStep(self._turn, step)
        return await tool.run(arguments, turn)
