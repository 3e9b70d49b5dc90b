"""`command:codex`: Codex by its app-server, with Moot's tools as dynamic tools on the same pipe.

Above: command_brain.py. Below: line_peer.py. A thread starts read-only and may write only turn by turn: with
`workspace-write` at its start codex marks the project as trusted in the user's own settings, and runs what the project
says. Held against the real program by `make test-clis`.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

from msgspec import json

from moot.brains.command.driver import (
    CliPlace,
    Ended,
    Happened,
    NewAnswer,
    Opened,
    Permissions,
    PromptEnding,
    Retrying,
    Spoke,
    ToolBegan,
    ToolEnded,
    Used,
    Wish,
    whole_action,
)
from moot.brains.command.drivers.spoken_cli import SpokenCli
from moot.brains.command.program.line_peer import OPEN_SECONDS, LinePeer, RpcRefusal
from moot.brains.command.program.tool_server import new_call
from moot.brains.command.usage import codex_rest, codex_usage
from moot.brains.llm.keys import Secret
from moot.model.json import JsonObject

INTERRUPT_SECONDS: Final = 5.0
TOOL_ITEMS: Final = {
    "commandExecution": "shell",
    "fileChange": "edit",
    "mcpToolCall": "mcp",
    "webSearch": "web search",
}
BESIDE_COMMANDS: Final = ("cwd", "networkApprovalContext", "additionalPermissions")
"""What an approval of a command is also for."""
KEY_IN_MEMORY: Final = ("-c", 'cli_auth_credentials_store="ephemeral"')
"""Codex keeps a key that it is given over the pipe to itself: what it runs could read a variable or a file."""
UNKNOWN_THREAD: Final = ("no rollout found", "not found")
APPROVALS: Final = ("item/commandExecution/requestApproval", "item/fileChange/requestApproval")


class CodexDriver:
    name = "codex"
    keeps_partial = False

    def __init__(self, program: str = "codex") -> None:
        self._cli = SpokenCli(program)
        self._peer: LinePeer | None = None
        self._turn = ""
        self._thread = ""
        self._model = ""
        self._total: JsonObject | None = None
        """What the thread has used since its beginning; None before codex has said it."""
        self._before: JsonObject | None = None
        self._errors: list[str] = []
        self._items: dict[str, JsonObject] = {}
        """Tools that have begun and not ended, by number: an approval names what it is for by that."""

    # --- opening ---------------------------------------------------------------------------------------------

    async def open(self, place: CliPlace, resume: str | None) -> Opened:
        self._place = place
        settings = KEY_IN_MEMORY if place.key is not None else ()
        process = await self._cli.start([self._cli.name, *settings, "app-server"], place)
        peer = self._peer = LinePeer(
            process, self._on_request, self._on_notification, room=self._cli.wait_for_room
        )
        version, opened = await self._cli.finish_opening(
            self._open_thread(peer, place, resume),
            resume,
            lambda error: any(words in str(error) for words in UNKNOWN_THREAD),
        )
        self._thread = str((opened.get("thread") or {}).get("id", resume or ""))
        self._model = str(opened.get("model", ""))
        return Opened(self._thread, version, resumed=resume is not None)

    async def _open_thread(
        self, peer: LinePeer, place: CliPlace, resume: str | None
    ) -> tuple[str, JsonObject]:
        """The program's version, and what it says of the thread."""
        about = await peer.request(
            "initialize",
            {
                "clientInfo": {"name": "moot", "title": "Moot", "version": "1"},
                "capabilities": {"experimentalApi": True},
            },
        )
        await peer.notify("initialized", {})
        if place.key is not None:
            await _log_in(peer, place.key)
        version = str(about.get("userAgent", ""))
        if resume:
            params = {"threadId": resume, "excludeTurns": True, **self._settings(place)}
            return version, await peer.request("thread/resume", params)
        return version, await peer.request("thread/start", self._new_thread(place))

    def _settings(self, place: CliPlace) -> JsonObject:
        config = {
            "features": {"multi_agent": False, "goals": False},
            "shell_environment_policy": {"inherit": "core"},
        }
        return {
            "cwd": str(place.project),
            "approvalPolicy": "never" if place.permissions is Permissions.READ else "on-request",
            "sandbox": "read-only",
            "config": config,
        }

    def _new_thread(self, place: CliPlace) -> JsonObject:
        tools = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters,
            }
            for tool in place.tools()
        ]
        moot = {
            "type": "namespace",
            "name": "moot",
            "description": "Talk with agents and people",
            "tools": tools,
        }
        return {**self._settings(place), "developerInstructions": place.brief, "dynamicTools": [moot]}

    # --- prompting -------------------------------------------------------------------------------------------

    async def prompt(self, text: str) -> AsyncIterator[Happened]:
        self._errors, self._before, self._turn, self._items = [], self._total, "", {}
        try:
            async for happened in self._cli.prompt(lambda: self._begin(text)):
                yield happened
        except RpcRefusal as refusal:
            yield Ended(PromptEnding.ERROR, str(refusal)[:300])
        finally:
            self._turn = ""

    async def _begin(self, text: str) -> None:
        params = {"threadId": self._thread, "input": [{"type": "text", "text": text}]}
        begun = await self._request("turn/start", {**params, "sandboxPolicy": self._sandbox_policy()})
        self._turn = str((begun.get("turn") or {}).get("id", ""))

    async def _request(self, method: str, params: JsonObject, seconds: float = OPEN_SECONDS) -> JsonObject:
        assert self._peer is not None
        return await self._peer.request(method, params, seconds)

    def _sandbox_policy(self) -> JsonObject:
        if self._place.permissions is Permissions.READ:
            return {"type": "readOnly"}
        if self._place.permissions is Permissions.ALL:
            return {"type": "dangerFullAccess"}
        return {
            "type": "workspaceWrite",
            "writableRoots": [str(self._place.project)],
            "networkAccess": False,
            "excludeSlashTmp": True,
            "excludeTmpdirEnvVar": True,
        }

    async def interrupt(self) -> None:
        if self._turn:
            await self._cli.interrupt(self._stop)

    async def _stop(self) -> None:
        with suppress(RpcRefusal):  # it has just ended by itself
            params = {"threadId": self._thread, "turnId": self._turn}
            await self._request("turn/interrupt", params, INTERRUPT_SECONDS)

    async def close(self) -> None:
        if self._peer is not None:
            await self._peer.close()

    @property
    def alive(self) -> bool:
        return self._cli.alive

    # --- what it says ----------------------------------------------------------------------------------------

    def _on_notification(self, method: str, params: JsonObject) -> None:
        item = params.get("item") or {}
        match method:
            case "":
                self._cli.end_output(str(params.get("why", "")))
            case "item/agentMessage/delta":
                self._cli.report(Spoke(str(params.get("delta", ""))))
            case "item/started" if item.get("type") in TOOL_ITEMS:
                name = TOOL_ITEMS[item["type"]]
                self._items[str(item.get("id"))] = item
                self._cli.report(ToolBegan(str(item.get("id")), name, _arguments(item)))
            case "item/completed" if item.get("type") in TOOL_ITEMS:
                self._items.pop(str(item.get("id")), None)
                failed = item.get("status") in ("failed", "declined")
                text = str(item.get("aggregatedOutput") or item.get("status") or "")
                self._cli.report(ToolEnded(str(item.get("id")), text, failed))
            case "item/started" if item.get("type") == "agentMessage":
                self._cli.report(NewAnswer())
            case "thread/tokenUsage/updated":
                self._on_token_usage(params.get("tokenUsage") or {})
            case "error":
                words = str((params.get("error") or {}).get("message", ""))
                self._errors.append(words)
                if params.get("willRetry"):
                    self._cli.report(Retrying(words))
            case "turn/completed":
                self._cli.report(self._ending(params.get("turn") or {}))
            case _:
                pass  # what later versions say besides

    def _on_token_usage(self, counts: JsonObject) -> None:
        """A thread that is resumed counts from its beginning: what it had used before is all but the last request."""
        self._total = counts.get("total") or {}
        if self._before is None:
            self._before = codex_rest(self._total, counts.get("last") or {})
        if self._cli.is_prompted:
            self._cli.report(Used(codex_usage(self._total, self._before, self._model)))

    def _ending(self, turn: JsonObject) -> Ended:
        status = turn.get("status")
        if self._cli.interrupted or status == "interrupted":
            return Ended(PromptEnding.INTERRUPTED)
        if status == "failed":
            error = (turn.get("error") or {}).get("message") or (self._errors[-1:] or ["it failed"])[0]
            return Ended(PromptEnding.ERROR, " ".join(str(error).split())[:300])
        return Ended(PromptEnding.END)

    # --- what it asks ----------------------------------------------------------------------------------------

    async def _on_request(self, method: str, params: JsonObject) -> JsonObject | None:
        if method == "item/tool/call":
            call = new_call(str(params.get("tool", "")), params.get("arguments") or {})
            done = await self._place.call(call)
            return {"success": not done.failed, "contentItems": [{"type": "inputText", "text": done.text}]}
        if method in APPROVALS:
            item = self._items.get(str(params.get("itemId")), {})
            if params.get("cwd") == str(self._place.project):
                params = {key: value for key, value in params.items() if key != "cwd"}
            verdict = await self._place.allow(wish_of(method, params, item))
            return {"decision": "accept" if verdict.allowed else "decline"}
        return None


async def _log_in(peer: LinePeer, key: Secret) -> None:
    try:
        await peer.request("account/login/start", {"type": "apiKey", "apiKey": key.reveal()})
    except RpcRefusal as refusal:  # what it complains about may quote the key
        raise RpcRefusal(f"it did not take its key: {key.hide_in(str(refusal))}", refusal.code) from None


def wish_of(method: str, params: JsonObject, item: JsonObject) -> Wish:
    """`item` is the tool that it is for, as codex told when that began."""
    if "commandExecution" in method:
        command = params.get("command") or item.get("command") or ""
        words = " ".join(map(str, command)) if isinstance(command, list) else str(command)
        beside = {key: params[key] for key in BESIDE_COMMANDS if params.get(key)}
        return Wish("shell", whole_action(words, beside), kind="execute")
    root = str(params.get("grantRoot") or "")
    found = item.get("changes")
    changes = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    paths = tuple(str(one.get("path", "")) for one in changes)
    action = whole_action(root, {f"change {n}": one for n, one in enumerate(changes, 1)})
    return Wish("edit", action, (*((root,) if root else ()), *paths), "edit")


def _arguments(item: JsonObject) -> str:
    shown: dict[str, Any] = {
        key: item[key] for key in ("command", "changes", "tool", "query") if item.get(key)
    }
    return json.encode(shown).decode()[:4000]
