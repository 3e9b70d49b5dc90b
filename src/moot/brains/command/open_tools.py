"""The tools that run in a CLI's turn, its own and Moot's, written down as the turn's steps.

A step is written before and after, one at a time: what a CLI runs side by side is one step. Above: cli_turn.py.
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
"""In one turn: after so many it is going round in circles."""
MAX_KEPT: Final = 8_192
"""Characters of one result that are kept."""


class BesideTurn:
    """The turn, for a tool of Moot's that a CLI calls while tools of its own run: it has a step of its own that nobody
    else sees, so that what it sends has a key of its own."""

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
        """Calls of Moot's tools, and wishes, that are not answered yet."""

    @property
    def any_running(self) -> bool:
        return self._step is not None or self.pending > 0

    @property
    def too_many(self) -> bool:
        return self.count > MAX_CALLS

    async def began(self, tool: ToolBegan) -> None:
        async with self._writing:
            self.count += 1
            self._running[tool.id] = tool.name
            if self._step is None:
                call = ToolCall(tool.id, tool.name, tool.arguments)
                self._step = await self._turn.begin_step(call, said=self._turn.said)
            self._turn.begin_answer()

    async def ended(self, tool: ToolEnded) -> None:
        async with self._writing:
            name = self._running.pop(tool.id, None)
            if name is None:
                return
            text = tool.text if len(tool.text) <= MAX_KEPT else f"{tool.text[:MAX_KEPT]}\n[cut]"
            self._results.append(text)
            self._failed |= tool.failed
            if not self._running:
                await self._close()

    async def cut_off(self, why: str) -> None:
        """The turn ends with tools still open: what came of them is not known."""
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
        """A tool of Moot's, in the agent's name. Whatever goes wrong is its result: the CLI waits for one."""
        tool = self._tools.get(call.name)
        self.count += 1
        if self.too_many:
            return ToolResult(f"{MAX_CALLS} calls are the most in one turn; yours ends now", failed=True)
        self.pending += 1
        try:
            step = await self._call_begins(tool, call)
            result = await self._beside(tool, step)
            await self.ended(ToolEnded(call.id, result.text, result.failed))
        except Exception as error:  # as for a tool of any other brain
            result = ToolResult(f"{call.name} failed: {type(error).__name__}: {error}", failed=True)
            await self._failed_call(call, result)
        finally:
            self.pending -= 1
        return result

    async def _call_begins(self, tool: Tool | None, call: ToolCall) -> Step:
        """A step is written, or the one that is open is shared. Nothing is held while the tool runs: it may wait for
        somebody, and the turn has to be able to end meanwhile."""
        async with self._writing:
            if self._step is None:
                self._turn.begin_answer()
                may_repeat = tool is None or tool.spec.idempotent
                self._step = await self._turn.begin_step(call, said="", idempotent=may_repeat)
            self._running[call.id] = call.name
            return structs.replace(self._step, call=call.id, tool=call.name, arguments=call.arguments)

    async def _failed_call(self, call: ToolCall, result: ToolResult) -> None:
        with suppress(Exception):  # the store is away: whoever sees the turn through meets that too
            await self.ended(ToolEnded(call.id, result.text, failed=True))

    async def _beside(self, tool: Tool | None, step: Step) -> ToolResult:
        if tool is None:
            return ToolResult(f'unknown tool "{step.tool}"; tools are {", ".join(self._tools)}', failed=True)
        arguments = json.decode(step.arguments or "{}", type=dict[str, Any])
        turn: Any = BesideTurn(self._turn, step)
        return await tool.run(arguments, turn)
