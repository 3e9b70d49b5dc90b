"""`acp:COMMAND …`: any agent that speaks the Agent Client Protocol, version 1.

Above: command_brain.py. Below: line_peer.py, tool_relay.py for Moot's tools. What the protocol does not know yet is
skipped, what an agent asks that we do not offer is answered as unknown, and a permission is only ever given once.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from msgspec import json

from moot.brains.command.driver import (
    CliDied,
    CliPlace,
    Ended,
    Happened,
    Opened,
    Permissions,
    PromptEnding,
    SessionLost,
    Spoke,
    ToolBegan,
    ToolEnded,
    Used,
    Wish,
    whole_action,
)
from moot.brains.command.drivers.spoken_cli import SpokenCli
from moot.brains.command.program.line_peer import LinePeer, RpcRefusal
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
"""The first of these that an agent has is set, whatever its default is."""
PATHS: Final = ("path", "file_path", "filePath", "abs_path", "absolute_path", "dir_path", "notebook_path")
"""What agents call a file in a tool's input."""
REMARKS: Final = ("description", "timeout")
"""They change nothing of what a tool does, and differ from one try to the next."""


class AcpDriver:
    name = "acp"
    keeps_partial = False

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._cli = SpokenCli(words[0])
        self._peer: LinePeer | None = None
        self._idle = asyncio.Event()
        self._replaying = False
        self._session = ""
        self._tools: ToolSocket | None = None
        self._wishes: set[asyncio.Event] = set()
        self._calls: dict[str, JsonObject] = {}
        """Tools that have begun and not ended."""

    # --- opening ---------------------------------------------------------------------------------------------

    async def open(self, place: CliPlace, resume: str | None) -> Opened:
        self._place = place
        self._tools = await ToolSocket.open(place)
        process = await self._cli.start(list(self._words), place, visible=(self._tools.folder,))
        peer = self._peer = LinePeer(
            process, self._on_request, self._on_notification, version="2.0", room=self._cli.wait_for_room
        )
        try:
            version = await self._cli.finish_opening(
                self._initialize(peer, place, resume), resume, lambda error: isinstance(error, RpcRefusal)
            )
        except SessionLost:
            await self._tools.close()
            raise
        return Opened(self._session, version, resumed=resume is not None)

    async def _initialize(self, peer: LinePeer, place: CliPlace, resume: str | None) -> str:
        """Open the session, in its mode; the program's version."""
        about = await peer.request(
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
        opened = await self._open_session(peer, place, about.get("agentCapabilities") or {}, resume)
        await self._set_mode(peer, place, opened.get("modes") or {})
        return str((about.get("agentInfo") or {}).get("version", ""))

    async def _open_session(
        self, peer: LinePeer, place: CliPlace, can: JsonObject, resume: str | None
    ) -> JsonObject:
        assert self._tools is not None
        where: JsonObject = {"cwd": str(place.project), "mcpServers": [self._tools.server]}
        if not resume:
            opened = await peer.request("session/new", where)
            self._session = str(opened.get("sessionId", ""))
            return opened
        self._session = resume
        sessions = can.get("sessionCapabilities") or {}
        if "resume" in sessions:
            return await peer.request("session/resume", {"sessionId": resume, **where})
        if can.get("loadSession"):
            self._replaying = True
            try:
                return await peer.request("session/load", {"sessionId": resume, **where})
            finally:
                self._replaying = False
        raise RpcRefusal("it cannot resume sessions")

    async def _set_mode(self, peer: LinePeer, place: CliPlace, modes: JsonObject) -> None:
        there = [str(mode.get("id")) for mode in modes.get("availableModes") or () if isinstance(mode, dict)]
        mode = next((mode for mode in MODES[place.permissions] if mode in there), None)
        if mode is not None:
            await peer.request("session/set_mode", {"sessionId": self._session, "modeId": mode})

    # --- prompting -------------------------------------------------------------------------------------------

    async def prompt(self, text: str) -> AsyncIterator[Happened]:
        for attempt in range(2):
            answering: set[asyncio.Task[None]] = set()

            async def begin(answering: "set[asyncio.Task[None]]" = answering) -> None:
                answering.add(asyncio.create_task(self._send_prompt(text)))

            ended: Ended | None = None
            try:
                async for happened in self._cli.prompt(begin):
                    if isinstance(happened, Ended):
                        ended = happened
                    else:
                        yield happened
            finally:
                for task in answering:
                    task.cancel()
            # A cancel that came late may have hit the prompt behind it: that one is sent once more.
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
            done = await self._peer.request("session/prompt", prompt, None)
            self._count_usage(done.get("usage"))
            reason = str(done.get("stopReason", ""))
            how = PromptEnding.INTERRUPTED if self._cli.interrupted else ENDINGS.get(reason, PromptEnding.END)
            self._cli.report(Ended(how, reason.replace("_", " ")))
        except RpcRefusal as refusal:
            self._cli.report(Ended(PromptEnding.ERROR, " ".join(str(refusal).split())[:300]))
        except CliDied:
            self._cli.end_output()
        finally:
            self._idle.set()

    async def interrupt(self) -> None:
        """A cancel is sent only while a prompt is open: a late one would hit the next."""
        if not self._idle.is_set():
            await self._cli.interrupt(self._cancel)

    async def _cancel(self) -> None:
        for wish in self._wishes:
            wish.set()
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
                    self._cli.report(Spoke(str(content.get("text", ""))))
            case "tool_call":
                self._calls[call] = self._known(update)
                arguments = json.encode(update.get("rawInput") or {}).decode()[:4000]
                name = str(update.get("title") or update.get("kind") or "tool")
                self._cli.report(ToolBegan(call, name, arguments))
                self._report_end(call, update)
            case "tool_call_update":
                self._calls[call] = self._known(update)
                self._report_end(call, update)
            case _:
                self._cli.report(Spoke(""))

    def _report_end(self, call: str, update: JsonObject) -> None:
        status = update.get("status")
        if status in ("completed", "failed"):
            self._calls.pop(call, None)
            self._cli.report(ToolEnded(call, _text(update.get("content")), status == "failed"))

    def _count_usage(self, counts: Any) -> None:
        if isinstance(counts, dict):
            read, wrote = counts.get("inputTokens") or 0, counts.get("outputTokens") or 0
            usage = Usage(int(read), int(wrote), int(counts.get("cachedReadTokens") or 0), calls=1)
            self._cli.report(Used(usage))

    def _known(self, call: JsonObject) -> JsonObject:
        """A call with what was told of it before: each word on it says only what is new."""
        new = {key: value for key, value in call.items() if value not in (None, [], {}, "")}
        return {**self._calls.get(str(call.get("toolCallId", "")), {}), **new}

    # --- what it asks ----------------------------------------------------------------------------------------

    async def _on_request(self, method: str, params: JsonObject) -> JsonObject | None:
        if method != "session/request_permission":
            return None
        options = [option for option in params.get("options") or () if isinstance(option, dict)]
        gone = asyncio.Event()
        if self._cli.interrupted:
            gone.set()
        self._wishes.add(gone)
        asking = asyncio.ensure_future(self._place.allow(wish_of(self._known(params.get("toolCall") or {}))))
        stopped = asyncio.ensure_future(gone.wait())
        try:
            await asyncio.wait((asking, stopped), return_when=asyncio.FIRST_COMPLETED)
            if gone.is_set():
                return {"outcome": {"outcome": "cancelled"}}
            kind = "allow_once" if asking.result().allowed else "reject_once"
            option = next((one.get("optionId") for one in options if one.get("kind") == kind), None)
            if option is None:
                return {"outcome": {"outcome": "cancelled"}}
            return {"outcome": {"outcome": "selected", "optionId": option}}
        finally:
            self._wishes.discard(gone)
            for waiting in (asking, stopped):
                waiting.cancel()


def wish_of(call: JsonObject) -> Wish:
    """All that is known of a call. One that edits a file and does not say how says nothing that could be allowed."""
    found = call.get("rawInput")
    arguments: JsonObject = found if isinstance(found, dict) else {"input": found} if found else {}
    blocks = call.get("content")
    diffs = [one for one in blocks if isinstance(one, dict) and one.get("type") == "diff"] if blocks else []
    named = [one.get("path") for one in (*(call.get("locations") or ()), *diffs) if isinstance(one, dict)]
    places = tuple(str(path) for path in (*named, *(arguments.get(key) for key in PATHS)) if path)
    kind, title = str(call.get("kind") or ""), str(call.get("title") or call.get("kind") or "tool")
    command = arguments.get("command")
    main = command if isinstance(command, str) else ""
    beside = {key: value for key, value in arguments.items() if key not in REMARKS}
    if main:
        del beside["command"]
    beside |= {f"change {n}": one for n, one in enumerate(diffs, 1)}
    is_known = bool(main or set(beside) - set(PATHS)) or (bool(places) and kind != "edit")
    beside |= {} if main or beside else {"files": places}
    return Wish(title, whole_action(main, beside) if is_known else "", places, kind)


def _text(content: Any) -> str:
    blocks = content if isinstance(content, list) else []
    inner = [block.get("content") or {} for block in blocks if isinstance(block, dict)]
    return "\n".join(str(one.get("text", "")) for one in inner if isinstance(one, dict) and one.get("text"))
