"""`acp:COMMAND …`: any agent that speaks the Agent Client Protocol, version 1.

Above: command_brain.py. Below: line_peer.py, tool_relay.py for Moot's tools. Unknown updates are skipped, requests that
Moot does not offer are answered as unknown, and a permission is only ever given for one action.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from msgspec import json

from moot.brains.command.driver import (
    CliDied,
    CliEvent,
    CliSetup,
    OpenedSession,
    PermissionRequest,
    Permissions,
    PromptEnded,
    PromptEnding,
    SessionLost,
    TextDelta,
    ToolBegan,
    ToolEnded,
    UsageReport,
    full_action,
)
from moot.brains.command.drivers.persistent_cli import PersistentCli
from moot.brains.command.program.line_peer import LinePeer, RpcError
from moot.brains.command.program.tool_socket import ToolSocket
from moot.model.json import JsonObject
from moot.model.prompt import Usage

VERSION: Final = 1
INTERRUPT_SECONDS: Final = 5.0
ENDINGS: Final = {
    "end_turn": PromptEnding.END,
    "cancelled": PromptEnding.INTERRUPTED,
    "max_tokens": PromptEnding.LIMIT,
    "max_turn_requests": PromptEnding.LIMIT,
    "refusal": PromptEnding.DENIED,
}
MODES: Final = {
    Permissions.READ: ("read-only", "plan", "ask", "default"),
    Permissions.EDIT: ("acceptEdits", "accept-edits", "auto-edit", "default", "agent"),
    Permissions.ASK: ("default", "ask", "agent"),
    Permissions.ALL: ("default", "ask", "agent"),
}
"""The first of these modes that an agent has is set, whatever its default is."""
PATHS: Final = ("path", "file_path", "filePath", "abs_path", "absolute_path", "dir_path", "notebook_path")
"""The names that agents give to a file in a tool's input."""
REMARKS: Final = ("description", "timeout")
"""Arguments that change nothing of what a tool does, and differ from one attempt to the next."""


class AcpDriver:
    name = "acp"
    keeps_partial = False

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._cli = PersistentCli(words[0])
        self._peer: LinePeer | None = None
        self._idle = asyncio.Event()
        self._replaying = False
        self._session = ""
        self._tools: ToolSocket | None = None
        self._open_requests: set[asyncio.Event] = set()
        self._calls: dict[str, JsonObject] = {}
        """Tools that have begun and not ended."""

    # --- opening ---------------------------------------------------------------------------------------------

    async def open(self, setup: CliSetup, resume: str | None) -> OpenedSession:
        self._setup = setup
        self._tools = await ToolSocket.open(setup)
        process = await self._cli.start(list(self._words), setup, visible=(self._tools.folder,))
        peer = self._peer = LinePeer(
            process,
            self._on_request,
            self._on_notification,
            version="2.0",
            wait_for_room=self._cli.wait_for_room,
        )
        try:
            version = await self._cli.finish_opening(
                self._initialize(peer, setup, resume), resume, lambda error: isinstance(error, RpcError)
            )
        except SessionLost:
            await self._tools.close()
            raise
        return OpenedSession(self._session, version, resumed=resume is not None)

    async def _initialize(self, peer: LinePeer, setup: CliSetup, resume: str | None) -> str:
        """Open the session and set its mode. Returns the program's version."""
        info = await peer.request(
            "initialize",
            {
                "protocolVersion": VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
                "clientInfo": {"name": "moot", "title": "Moot", "version": "1"},
            },
        )
        opened = await self._open_session(peer, setup, info.get("agentCapabilities") or {}, resume)
        await self._set_mode(peer, setup, opened.get("modes") or {})
        return str((info.get("agentInfo") or {}).get("version", ""))

    async def _open_session(
        self, peer: LinePeer, setup: CliSetup, capabilities: JsonObject, resume: str | None
    ) -> JsonObject:
        assert self._tools is not None
        where: JsonObject = {"cwd": str(setup.project), "mcpServers": [self._tools.server]}
        if not resume:
            opened = await peer.request("session/new", where)
            self._session = str(opened.get("sessionId", ""))
            return opened
        self._session = resume
        sessions = capabilities.get("sessionCapabilities") or {}
        if "resume" in sessions:
            return await peer.request("session/resume", {"sessionId": resume, **where})
        if capabilities.get("loadSession"):
            self._replaying = True
            try:
                return await peer.request("session/load", {"sessionId": resume, **where})
            finally:
                self._replaying = False
        raise RpcError("it cannot resume sessions")

    async def _set_mode(self, peer: LinePeer, setup: CliSetup, modes: JsonObject) -> None:
        available = [
            str(mode.get("id")) for mode in modes.get("availableModes") or () if isinstance(mode, dict)
        ]
        mode = next((mode for mode in MODES[setup.permissions] if mode in available), None)
        if mode is not None:
            await peer.request("session/set_mode", {"sessionId": self._session, "modeId": mode})

    # --- prompting -------------------------------------------------------------------------------------------

    async def prompt(self, text: str) -> AsyncIterator[CliEvent]:
        for attempt in range(2):
            answering: set[asyncio.Task[None]] = set()

            async def begin(answering: "set[asyncio.Task[None]]" = answering) -> None:
                answering.add(asyncio.create_task(self._send_prompt(text)))

            ended: PromptEnded | None = None
            try:
                async for event in self._cli.prompt(begin):
                    if isinstance(event, PromptEnded):
                        ended = event
                    else:
                        yield event
            finally:
                for task in answering:
                    task.cancel()
            # A late cancel may have hit the prompt after the one it was for: that one is sent once more.
            stray = ended is not None and ended.how is PromptEnding.INTERRUPTED and not self._cli.interrupted
            if ended is not None and (attempt or not stray):
                yield ended
                return

    async def _send_prompt(self, text: str) -> None:
        self._idle.clear()
        self._calls.clear()
        prompt = {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]}
        assert self._peer is not None
        try:
            result = await self._peer.request("session/prompt", prompt, None)
            self._count_usage(result.get("usage"))
            reason = str(result.get("stopReason", ""))
            how = PromptEnding.INTERRUPTED if self._cli.interrupted else ENDINGS.get(reason, PromptEnding.END)
            self._cli.report(PromptEnded(how, reason.replace("_", " ")))
        except RpcError as refusal:
            self._cli.report(PromptEnded(PromptEnding.ERROR, " ".join(str(refusal).split())[:300]))
        except CliDied:
            self._cli.end_output()
        finally:
            self._idle.set()

    async def interrupt(self) -> None:
        """A cancel is sent only while a prompt is open: a late one would hit the next."""
        if not self._idle.is_set():
            await self._cli.interrupt(self._cancel)

    async def _cancel(self) -> None:
        for cancelled in self._open_requests:
            cancelled.set()
        assert self._peer is not None
        await self._peer.notify("session/cancel", {"sessionId": self._session})
        try:
            async with asyncio.timeout(INTERRUPT_SECONDS):
                await self._idle.wait()
        except TimeoutError:
            raise CliDied(f"{self._words[0]} did not stop within {INTERRUPT_SECONDS:g} s") from None

    async def close(self) -> None:
        try:
            if self._peer is not None:
                await self._peer.close()
        finally:  # also when that is cancelled
            if self._tools is not None:
                await self._tools.close()

    @property
    def alive(self) -> bool:
        return self._cli.alive

    # --- what it says ----------------------------------------------------------------------------------------

    def _on_notification(self, method: str, params: JsonObject) -> None:
        if not method:
            self._cli.end_output(str(params.get("why", "")))
        elif method == "session/update" and not self._replaying:
            self._on_update(params.get("update") or {})

    def _on_update(self, update: JsonObject) -> None:
        call = str(update.get("toolCallId", ""))
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                content = update.get("content") or {}
                if content.get("type") == "text":
                    self._cli.report(TextDelta(str(content.get("text", ""))))
            case "tool_call":
                self._calls[call] = self._merge_call(update)
                arguments = json.encode(update.get("rawInput") or {}).decode()[:4000]
                name = str(update.get("title") or update.get("kind") or "tool")
                self._cli.report(ToolBegan(call, name, arguments))
                self._report_end(call, update)
            case "tool_call_update":
                self._calls[call] = self._merge_call(update)
                self._report_end(call, update)
            case _:
                self._cli.report(TextDelta(""))

    def _report_end(self, call: str, update: JsonObject) -> None:
        status = update.get("status")
        if status in ("completed", "failed"):
            self._calls.pop(call, None)
            self._cli.report(ToolEnded(call, _text(update.get("content")), status == "failed"))

    def _count_usage(self, counts: Any) -> None:
        if isinstance(counts, dict):
            read, wrote = counts.get("inputTokens") or 0, counts.get("outputTokens") or 0
            usage = Usage(int(read), int(wrote), int(counts.get("cachedReadTokens") or 0), calls=1)
            self._cli.report(UsageReport(usage))

    def _merge_call(self, call: JsonObject) -> JsonObject:
        """A call with all its earlier updates: each update has only what is new."""
        new = {key: value for key, value in call.items() if value not in (None, [], {}, "")}
        return {**self._calls.get(str(call.get("toolCallId", "")), {}), **new}

    # --- what it asks ----------------------------------------------------------------------------------------

    async def _on_request(self, method: str, params: JsonObject) -> JsonObject | None:
        if method != "session/request_permission":
            return None
        options = [option for option in params.get("options") or () if isinstance(option, dict)]
        cancelled = asyncio.Event()
        if self._cli.interrupted:
            cancelled.set()
        self._open_requests.add(cancelled)
        asking = asyncio.ensure_future(
            self._setup.allow(permission_request(self._merge_call(params.get("toolCall") or {})))
        )
        stopped = asyncio.ensure_future(cancelled.wait())
        try:
            await asyncio.wait((asking, stopped), return_when=asyncio.FIRST_COMPLETED)
            if cancelled.is_set():
                return {"outcome": {"outcome": "cancelled"}}
            kind = "allow_once" if asking.result().allowed else "reject_once"
            option = next((item.get("optionId") for item in options if item.get("kind") == kind), None)
            if option is None:
                return {"outcome": {"outcome": "cancelled"}}
            return {"outcome": {"outcome": "selected", "optionId": option}}
        finally:
            self._open_requests.discard(cancelled)
            for waiting in (asking, stopped):
                waiting.cancel()


def permission_request(call: JsonObject) -> PermissionRequest:
    """All that is known of a call. If it edits a file and does not say how, its action is empty: nobody could allow
    it."""
    found = call.get("rawInput")
    arguments: JsonObject = found if isinstance(found, dict) else {"input": found} if found else {}
    blocks = call.get("content")
    diffs = (
        [item for item in blocks if isinstance(item, dict) and item.get("type") == "diff"] if blocks else []
    )
    named = [item.get("path") for item in (*(call.get("locations") or ()), *diffs) if isinstance(item, dict)]
    places = tuple(str(path) for path in (*named, *(arguments.get(key) for key in PATHS)) if path)
    kind, title = str(call.get("kind") or ""), str(call.get("title") or call.get("kind") or "tool")
    command = arguments.get("command")
    main = command if isinstance(command, str) else ""
    details = {key: value for key, value in arguments.items() if key not in REMARKS}
    if main:
        del details["command"]
    details |= {f"change {n}": item for n, item in enumerate(diffs, 1)}
    is_known = bool(main or set(details) - set(PATHS)) or (bool(places) and kind != "edit")
    details |= {} if main or details else {"files": places}
    return PermissionRequest(title, full_action(main, details) if is_known else "", places, kind)


def _text(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    inner = [block.get("content") or {} for block in blocks if isinstance(block, dict)]
    return "\n".join(
        str(item.get("text", "")) for item in inner if isinstance(item, dict) and item.get("text")
    )
