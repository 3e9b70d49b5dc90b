"""`command:codex`: Codex over its app-server, with Moot's tools as dynamic tools on the same pipe.

Above: command_brain.py. Below: line_peer.py. A thread starts read-only, and each turn gets permission to write: a
thread that starts with `workspace-write` makes codex mark the project as trusted in the user's own settings, and run
what the project's settings name. `make test-clis` tests this with the real program.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

from msgspec import json

from moot.brains.command.driver import (
    AnswerBegan,
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
from moot.brains.command.program.line_peer import OPEN_SECONDS, LinePeer, RpcError
from moot.brains.command.program.tool_server import new_call
from moot.brains.command.usage import codex_usage, codex_usage_before
from moot.brains.llm.keys import Secret
from moot.model.json import JsonObject

INTERRUPT_SECONDS: Final = 5.0
TOOL_ITEMS: Final = {
    "commandExecution": "shell",
    "fileChange": "edit",
    "mcpToolCall": "mcp",
    "webSearch": "web search",
}
COMMAND_DETAILS: Final = ("cwd", "networkApprovalContext", "additionalPermissions")
"""Parts of a command's approval that are shown beside the command itself."""
KEY_IN_MEMORY: Final = ("-c", 'cli_auth_credentials_store="ephemeral"')
"""Codex keeps its key in memory: the programs it runs could read a variable or a file."""
UNKNOWN_THREAD: Final = ("no rollout found", "not found")
APPROVALS: Final = ("item/commandExecution/requestApproval", "item/fileChange/requestApproval")


class CodexDriver:
    name = "codex"
    keeps_partial = False

    def __init__(self, program: str = "codex") -> None:
        self._cli = PersistentCli(program)
        self._peer: LinePeer | None = None
        self._turn = ""
        self._thread = ""
        self._model = ""
        self._total: JsonObject | None = None
        """The usage of the thread since its beginning; None until codex reports it."""
        self._total_before: JsonObject | None = None
        self._errors: list[str] = []
        self._items: dict[str, JsonObject] = {}
        """Tools that have begun and not ended, by id: an approval refers to one by it."""

    # --- opening ---------------------------------------------------------------------------------------------

    async def open(self, setup: CliSetup, resume: str | None) -> OpenedSession:
        self._setup = setup
        settings = KEY_IN_MEMORY if setup.key is not None else ()
        process = await self._cli.start([self._cli.name, *settings, "app-server"], setup)
        peer = self._peer = LinePeer(
            process, self._on_request, self._on_notification, wait_for_room=self._cli.wait_for_room
        )
        version, opened = await self._cli.finish_opening(
            self._open_thread(peer, setup, resume),
            resume,
            lambda error: any(words in str(error) for words in UNKNOWN_THREAD),
        )
        self._thread = str((opened.get("thread") or {}).get("id", resume or ""))
        self._model = str(opened.get("model", ""))
        return OpenedSession(self._thread, version, resumed=resume is not None)

    async def _open_thread(
        self, peer: LinePeer, setup: CliSetup, resume: str | None
    ) -> tuple[str, JsonObject]:
        """The program's version, and its answer about the thread."""
        info = await peer.request(
            "initialize",
            {
                "clientInfo": {"name": "moot", "title": "Moot", "version": "1"},
                "capabilities": {"experimentalApi": True},
            },
        )
        await peer.notify("initialized", {})
        if setup.key is not None:
            await _log_in(peer, setup.key)
        version = str(info.get("userAgent", ""))
        if resume:
            params = {"threadId": resume, "excludeTurns": True, **self._settings(setup)}
            return version, await peer.request("thread/resume", params)
        return version, await peer.request("thread/start", self._new_thread(setup))

    def _settings(self, setup: CliSetup) -> JsonObject:
        config = {
            "features": {"multi_agent": False, "goals": False},
            "shell_environment_policy": {"inherit": "core"},
        }
        return {
            "cwd": str(setup.project),
            "approvalPolicy": "never" if setup.permissions is Permissions.READ else "on-request",
            "sandbox": "read-only",
            "config": config,
        }

    def _new_thread(self, setup: CliSetup) -> JsonObject:
        tools = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters,
            }
            for tool in setup.tools()
        ]
        moot = {
            "type": "namespace",
            "name": "moot",
            "description": "Talk with agents and people",
            "tools": tools,
        }
        return {**self._settings(setup), "developerInstructions": setup.brief, "dynamicTools": [moot]}

    # --- prompting -------------------------------------------------------------------------------------------

    async def prompt(self, text: str) -> AsyncIterator[CliEvent]:
        self._errors, self._total_before, self._turn, self._items = [], self._total, "", {}
        try:
            async for event in self._cli.prompt(lambda: self._begin(text)):
                yield event
        except RpcError as refusal:
            yield PromptEnded(PromptEnding.ERROR, str(refusal)[:300])
        finally:
            self._turn = ""

    async def _begin(self, text: str) -> None:
        params = {"threadId": self._thread, "input": [{"type": "text", "text": text}]}
        started = await self._request("turn/start", {**params, "sandboxPolicy": self._sandbox_policy()})
        self._turn = str((started.get("turn") or {}).get("id", ""))

    async def _request(self, method: str, params: JsonObject, seconds: float = OPEN_SECONDS) -> JsonObject:
        assert self._peer is not None
        return await self._peer.request(method, params, seconds)

    def _sandbox_policy(self) -> JsonObject:
        if self._setup.permissions is Permissions.READ:
            return {"type": "readOnly"}
        if self._setup.permissions is Permissions.ALL:
            return {"type": "dangerFullAccess"}
        return {
            "type": "workspaceWrite",
            "writableRoots": [str(folder) for folder in (self._setup.project, *self._setup.writable)],
            "networkAccess": False,
            "excludeSlashTmp": True,
            "excludeTmpdirEnvVar": True,
        }

    async def interrupt(self) -> None:
        if self._turn:
            await self._cli.interrupt(self._stop)

    async def _stop(self) -> None:
        with suppress(RpcError):  # it has just ended by itself
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
                self._cli.report(TextDelta(str(params.get("delta", ""))))
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
                self._cli.report(AnswerBegan())
            case "thread/tokenUsage/updated":
                self._on_token_usage(params.get("tokenUsage") or {})
            case "error":
                words = str((params.get("error") or {}).get("message", ""))
                self._errors.append(words)
                if params.get("willRetry"):
                    self._cli.report(ProviderRetry(words))
            case "turn/completed":
                self._cli.report(self._ending(params.get("turn") or {}))
            case _:
                pass  # what later versions say besides

    def _on_token_usage(self, counts: JsonObject) -> None:
        """A resumed thread counts from its beginning: all but the last request was used before this prompt."""
        self._total = counts.get("total") or {}
        if self._total_before is None:
            self._total_before = codex_usage_before(self._total, counts.get("last") or {})
        if self._cli.is_prompted:
            self._cli.report(UsageReport(codex_usage(self._total, self._total_before, self._model)))

    def _ending(self, turn: JsonObject) -> PromptEnded:
        status = turn.get("status")
        if self._cli.interrupted or status == "interrupted":
            return PromptEnded(PromptEnding.INTERRUPTED)
        if status == "failed":
            error = (turn.get("error") or {}).get("message") or (self._errors[-1:] or ["it failed"])[0]
            return PromptEnded(PromptEnding.ERROR, " ".join(str(error).split())[:300])
        return PromptEnded(PromptEnding.END)

    # --- what it asks ----------------------------------------------------------------------------------------

    async def _on_request(self, method: str, params: JsonObject) -> JsonObject | None:
        if method == "item/tool/call":
            call = new_call(str(params.get("tool", "")), params.get("arguments") or {})
            result = await self._setup.call(call)
            return {
                "success": not result.failed,
                "contentItems": [{"type": "inputText", "text": result.text}],
            }
        if method in APPROVALS:
            item = self._items.get(str(params.get("itemId")), {})
            if params.get("cwd") == str(self._setup.project):
                params = {key: value for key, value in params.items() if key != "cwd"}
            verdict = await self._setup.allow(permission_request(method, params, item))
            return {"decision": "accept" if verdict.allowed else "decline"}
        return None


async def _log_in(peer: LinePeer, key: Secret) -> None:
    try:
        await peer.request("account/login/start", {"type": "apiKey", "apiKey": key.reveal()})
    except RpcError as refusal:  # the error may quote the key
        raise RpcError(f"it did not take its key: {key.hide_in(str(refusal))}", refusal.code) from None


def permission_request(method: str, params: JsonObject, item: JsonObject) -> PermissionRequest:
    """`item` is the tool that it is for, as codex reported it when it began."""
    if "commandExecution" in method:
        command = params.get("command") or item.get("command") or ""
        words = " ".join(map(str, command)) if isinstance(command, list) else str(command)
        details = {key: params[key] for key in COMMAND_DETAILS if params.get(key)}
        return PermissionRequest("shell", full_action(words, details), kind="execute")
    root = str(params.get("grantRoot") or "")
    found = item.get("changes")
    changes = [change for change in found if isinstance(change, dict)] if isinstance(found, list) else []
    paths = tuple(str(change.get("path", "")) for change in changes)
    action = full_action(root, {f"change {n}": change for n, change in enumerate(changes, 1)})
    return PermissionRequest("edit", action, (*((root,) if root else ()), *paths), "edit")


def _arguments(item: JsonObject) -> str:
    shown: dict[str, Any] = {
        key: item[key] for key in ("command", "changes", "tool", "query") if item.get(key)
    }
    return json.encode(shown).decode()[:4000]
