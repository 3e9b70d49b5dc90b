"""`command:claude`: Claude Code over its stream-json pipe, with Moot's tools on the same pipe.

Above: command_brain.py. Below: cli_process.py, tool_server.py. The pipe's control protocol is not a promised interface:
`make test-clis` tests it with the real program.
"""

import asyncio
import itertools
import shlex
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from msgspec import DecodeError, json

from moot.brains.command.driver import (
    AnswerBegan,
    CliDied,
    CliEvent,
    CliSetup,
    OpenedSession,
    PermissionRequest,
    Permissions,
    PromptEnded,
    PromptEnding,
    ProviderRetry,
    TextDelta,
    ToolBegan,
    ToolEnded,
    UsageReport,
    full_action,
)
from moot.brains.command.drivers.persistent_cli import PersistentCli
from moot.brains.command.program import tool_server
from moot.brains.command.program.cli_process import CliProcess
from moot.brains.command.usage import claude_usage
from moot.model.json import JsonObject
from moot.model.prompt import Usage

OPEN_SECONDS: Final = 60.0
INTERRUPT_SECONDS: Final = 5.0
MODES: Final = {
    Permissions.READ: "manual",
    Permissions.EDIT: "acceptEdits",
    Permissions.ASK: "acceptEdits",
    Permissions.ALL: "acceptEdits",
}
"""For anything beyond its mode claude asks over the pipe, and the agent's permissions decide."""
DISABLED_TOOLS: Final = (
    *("Agent", "Task", "SendMessage", "ListAgents", "CronCreate", "CronDelete", "CronList", "ScheduleWakeup"),
    *("Monitor", "Workflow", "EnterWorktree", "ExitWorktree", "AskUserQuestion", "EnterPlanMode"),
    *("ExitPlanMode", "TaskStop"),
)
"""Tools that reach other agents would bypass links, brakes and audit; the others only cost tokens here."""
ENVIRON: Final = {
    "ENABLE_TOOL_SEARCH": "false",
    "MCP_CONNECTION_NONBLOCKING": "0",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "2",
}
PATHS: Final = ("file_path", "path", "notebook_path")
REMARKS: Final = ("description", "timeout")
"""Arguments that change nothing of what a tool does, and differ from one attempt to the next."""
OWN_TOOLS: Final = "mcp__moot__"
UNKNOWN_SESSION: Final = "No conversation found"


class ClaudeDriver:
    name = "claude"
    keeps_partial = True

    def __init__(self, program: str = "claude") -> None:
        self._cli = PersistentCli(program)
        self._numbers = itertools.count(1)
        self._answers: dict[str, asyncio.Future[JsonObject]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._usage_by_message: dict[str, Usage] = {}
        self._message = ""
        self._model = ""

    # --- opening ---------------------------------------------------------------------------------------------

    async def open(self, setup: CliSetup, resume: str | None) -> OpenedSession:
        self._setup = setup
        self._session = resume or str(uuid4())
        key = (setup.key_file,) if setup.key_file is not None else ()
        words = [self._cli.name, *self._flags(setup, resume)]
        process = await self._cli.start(words, setup, ENVIRON, key)
        self._tasks.add(asyncio.create_task(self._read(process)))
        initialize = {"subtype": "initialize", "hooks": None, "sdkMcpServers": ["moot"]}
        info = await self._cli.finish_opening(
            self._control(initialize, OPEN_SECONDS), resume, lambda error: UNKNOWN_SESSION in str(error)
        )
        return OpenedSession(self._session, str(info.get("version", "")), resumed=resume is not None)

    def _flags(self, setup: CliSetup, resume: str | None) -> list[str]:
        servers = {"mcpServers": {"moot": {"type": "sdk", "name": "moot"}}}
        words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        words += [
            "--include-partial-messages",
            *(("--resume", resume) if resume else ("--session-id", self._session)),
        ]
        words += [
            "--setting-sources",
            "user",
            "--strict-mcp-config",
            "--mcp-config",
            json.encode(servers).decode(),
        ]
        words += ["--allowedTools", "mcp__moot", "--permission-mode", MODES[setup.permissions]]
        words += ["--permission-prompt-tool", "stdio", "--disallowedTools", ",".join(DISABLED_TOOLS)]
        words += ["--append-system-prompt", setup.brief]
        if setup.key_file is not None:
            helper = {"apiKeyHelper": key_helper(setup.key_file)}
            words += ["--settings", json.encode(helper).decode()]
        return words

    # --- prompting -------------------------------------------------------------------------------------------

    async def prompt(self, text: str) -> AsyncIterator[CliEvent]:
        self._usage_by_message, self._message = {}, ""
        content = {"role": "user", "content": text}
        prompt = {"type": "user", "message": content, "parent_tool_use_id": None, "session_id": ""}
        async for event in self._cli.prompt(lambda: self._send(prompt)):
            yield event

    async def interrupt(self) -> None:
        await self._cli.interrupt(lambda: self._control({"subtype": "interrupt"}, INTERRUPT_SECONDS))

    async def close(self) -> None:
        await self._cli.end()
        for task in self._tasks:
            task.cancel()

    @property
    def alive(self) -> bool:
        return self._cli.alive

    # --- the pipe --------------------------------------------------------------------------------------------

    async def _send(self, message: JsonObject) -> None:
        assert self._cli.process is not None
        await self._cli.process.write(json.encode(message) + b"\n")

    async def _control(self, request: JsonObject, seconds: float) -> JsonObject:
        number = f"moot-{next(self._numbers)}"
        answer: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            await self._send({"type": "control_request", "request_id": number, "request": request})
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            raise CliDied(f"claude did not answer within {seconds:g} s") from None
        finally:
            self._answers.pop(number, None)

    async def _read(self, process: CliProcess) -> None:
        why = ""
        try:
            async for line in process.lines():
                with suppress(DecodeError):  # noise
                    message = json.decode(line)
                    if isinstance(message, dict):
                        self._on_message(message)
                await self._cli.wait_for_room()
        except Exception as error:  # of another shape than ours: nobody listens to it any more
            why = f"{type(error).__name__}: {error}"
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(CliDied("claude has ended"))
            self._cli.end_output(why)

    def _on_message(self, message: JsonObject) -> None:
        match message.get("type"):
            case "control_response":
                self._on_response(message.get("response") or {})
            case "control_request":
                task = asyncio.get_running_loop().create_task(self._on_request(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case "stream_event":
                self._on_stream_event(message.get("event") or {}, message)
            case "assistant" | "user" if not message.get("parent_tool_use_id"):
                self._report_tools(message.get("message") or {})
            case "system" if message.get("subtype") == "api_retry":
                self._cli.report(ProviderRetry(str(message.get("error", ""))))
            case "result":
                self._on_result(message)
            case _:
                pass  # what later versions say besides

    def _on_response(self, response: JsonObject) -> None:
        waiting = self._answers.get(str(response.get("request_id")))
        if waiting is None or waiting.done():
            return
        if response.get("subtype") == "success":
            waiting.set_result(response.get("response") or {})
        else:
            waiting.set_exception(CliDied(f"claude refused: {response.get('error')}"))

    def _on_stream_event(self, event: JsonObject, message: JsonObject) -> None:
        if message.get("parent_tool_use_id"):
            return
        match event.get("type"):
            case "message_start":
                started = event.get("message") or {}
                self._message, self._model = str(started.get("id", "")), str(started.get("model", ""))
                self._count_usage(started.get("usage"))
                self._cli.report(AnswerBegan())
            case "message_delta":
                self._count_usage(event.get("usage"))
            case "content_block_delta" if (delta := event.get("delta") or {}).get("type") == "text_delta":
                self._cli.report(TextDelta(str(delta.get("text", ""))))

    def _count_usage(self, counts: Any) -> None:
        """Each answer first reports its input tokens, later its output tokens."""
        if isinstance(counts, dict):
            before = self._usage_by_message.get(self._message)
            self._usage_by_message[self._message] = claude_usage(counts, self._model, before)
            self._cli.report(UsageReport(self._total_usage()))  # claude may die before it reports the total

    def _total_usage(self) -> Usage:
        usage = Usage()
        for one in self._usage_by_message.values():
            usage = usage.plus(one)
        return usage

    def _report_tools(self, message: JsonObject) -> None:
        blocks = message.get("content")
        for block in blocks if isinstance(blocks, list) else ():
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use" and not str(block.get("name", "")).startswith(OWN_TOOLS):
                arguments = json.encode(block.get("input") or {}).decode()
                self._cli.report(ToolBegan(str(block.get("id")), str(block.get("name")), arguments))
            elif kind == "tool_use":
                self._cli.report(TextDelta(""))
            elif kind == "tool_result":
                text = _text(block.get("content"))
                failed = bool(block.get("is_error"))
                self._cli.report(ToolEnded(str(block.get("tool_use_id")), text, failed))

    def _on_result(self, message: JsonObject) -> None:
        usage = self._total_usage()
        if not usage.calls and isinstance(message.get("usage"), dict):
            usage = claude_usage(message["usage"], self._model, None)
        total = message.get("total_cost_usd")
        whole = isinstance(total, int | float) and not self._cli.interrupted
        self._cli.report(UsageReport(usage, float(total) if whole and total is not None else None))
        self._cli.report(self._ending(message))

    def _ending(self, message: JsonObject) -> PromptEnded:
        subtype, text = str(message.get("subtype", "")), message.get("result")
        if self._cli.interrupted:
            return PromptEnded(PromptEnding.INTERRUPTED)
        if "budget" in subtype or "max_turns" in subtype:
            return PromptEnded(PromptEnding.LIMIT, subtype.removeprefix("error_").replace("_", " "))
        if message.get("is_error"):
            return PromptEnded(PromptEnding.ERROR, _short(text) or subtype.replace("_", " "))
        return PromptEnded(PromptEnding.END, text=text if isinstance(text, str) else None)

    # --- what it asks ----------------------------------------------------------------------------------------

    async def _on_request(self, message: JsonObject) -> None:
        try:
            answer = await self._answer(message.get("request") or {})
        except Exception as error:  # whatever it was: claude waits for an answer
            answer = {"subtype": "error", "error": f"{type(error).__name__}: {error}"}
        await self._respond(message, answer)

    async def _answer(self, request: JsonObject) -> JsonObject:
        match request.get("subtype"):
            case "mcp_message":
                answer = await tool_server.respond(self._setup, request.get("message") or {})
                done: JsonObject = {"mcp_response": answer or {"jsonrpc": "2.0", "result": {}, "id": 0}}
            case "can_use_tool":
                done = await self._permission(request)
            case other:
                return {"subtype": "error", "error": f"unknown request {other}"}
        return {"subtype": "success", "response": done}

    async def _respond(self, message: JsonObject, response: JsonObject) -> None:
        with suppress(CliDied):
            answer = {**response, "request_id": message.get("request_id")}
            await self._send({"type": "control_response", "response": answer})

    async def _permission(self, request: JsonObject) -> JsonObject:
        tool, arguments = str(request.get("tool_name", "")), request.get("input") or {}
        verdict = await self._setup.allow(permission_request(tool, arguments))
        if verdict.allowed:
            return {"behavior": "allow", "updatedInput": arguments}
        return {"behavior": "deny", "message": verdict.words}


def key_helper(file: Path) -> str:
    """The command by which claude reads its key."""
    return shlex.join(("cat", str(file)))


def permission_request(tool: str, arguments: JsonObject) -> PermissionRequest:
    """The action includes the whole input: the new content of a file as well as its name."""
    path = next((arguments[key] for key in PATHS if arguments.get(key)), None)
    main = next((key for key in ("command", *PATHS) if arguments.get(key)), "")
    details = {key: value for key, value in arguments.items() if key not in (main, *REMARKS)}
    action = (
        full_action(str(arguments[main]), details)
        if main
        else json.encode(arguments, order="sorted").decode()
    )
    paths = (str(path),) if path else ()
    kind = "execute" if tool == "Bash" else "edit" if tool in ("Write", "Edit", "NotebookEdit") else ""
    return PermissionRequest(tool, action, paths, kind)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks if isinstance(block, dict))


def _short(text: Any) -> str:
    return " ".join(str(text or "").split())[:300]
