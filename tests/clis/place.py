"""A person's machine with the real `claude` and `codex` on it, a hub, and a scripted model in place of providers."""

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, structs

from moot.client import RemoteHub
from moot.settings import Home
from moot.testing.fake_llm import Answer, FakeLLM, Request, ScriptedCall
from moot.testing.fake_llm.requests import Wire
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".venv" / "clis" / "bin"
MOOT = Path(sys.executable).with_name("moot")
SECONDS = 90.0

Step: TypeAlias = Callable[["Heard"], Answer | Awaitable[Answer]]


class Heard(Struct, frozen=True):
    """What a model was given: everything as text, and the results of its tools as JSON."""

    text: str
    results: tuple[Any, ...]


def heard(request: Request) -> Heard:
    """From either API."""
    results: list[Any] = []
    entries: list[Any] = request.body.get("messages") or request.body.get("input") or []
    for entry in entries:
        if entry.get("type") == "function_call_output":
            results.append(entry.get("output"))
        blocks = entry.get("content")
        blocks = [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
        results += [block.get("content") for block in blocks if block.get("type") == "tool_result"]
    return Heard(json.dumps(request.body, ensure_ascii=False), tuple(map(_result, results)))


def _result(told: Any) -> Any:
    """A tool's answer; clients put words of their own around it."""
    text = told if isinstance(told, str) else "\n".join(block.get("text", "") for block in told)
    found = re.search(r"\{.*\}", text, re.DOTALL)
    return json.loads(found[0]) if found else text


class Played:
    """A model that takes its steps one after the other, and remembers everything it was given."""

    def __init__(self, *steps: Step) -> None:
        self._steps = steps
        self.heard: list[Heard] = []

    async def __call__(self, request: Request) -> Answer:
        if not request.tools:
            return Answer("fine")  # a client's own small questions, such as a title for the session
        now = heard(request)
        number = len(self.heard)
        self.heard.append(now)
        if number >= len(self._steps):
            return Answer("nothing more to do")
        made = self._steps[number](now)
        return _named(made if isinstance(made, Answer) else await made, request)


def _named(answer: Answer, request: Request) -> Answer:
    """Claude Code puts the server's name before a tool's; Codex keeps it apart."""
    prefix = "mcp__moot__" if request.wire is Wire.MESSAGES else ""
    renamed = tuple(structs.replace(call, name=f"{prefix}{call.name}") for call in answer.calls)
    return structs.replace(answer, calls=renamed)


def calls(tool: str, **arguments: Any) -> Step:
    return lambda heard: Answer(calls=(ScriptedCall(tool, arguments),))


def says(text: str) -> Step:
    return lambda heard: Answer(text)


class Place:
    """One HOME. Projects are folders in it; Moot's own home is the default one in it."""

    def __init__(self, home: Path, model: FakeLLM, script: dict[str, Played]) -> None:
        self.home = home
        self.model = model
        self.script = script
        """By model name: each client is told to use a model of its own name."""

    def environ(self, **more: str) -> dict[str, str]:
        node = Path(shutil.which("node") or "/usr/bin/node").parent
        return {
            "PATH": f"{BIN}:{node}:/usr/bin:/bin",
            "HOME": str(self.home),
            "MOOT_HUB__PORT": "0",
            "IS_SANDBOX": "1",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "ANTHROPIC_MODEL": "claude",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "MCP_CONNECTION_NONBLOCKING": "0",
            "FAKE_KEY": "dummy",
            **more,
        }

    def folder(self, name: str) -> Path:
        found = self.home / name
        found.mkdir(exist_ok=True)
        return found

    async def run(self, *words: str, folder: str = "", **more: str) -> str:
        """A program from its start to its end; what it wrote to standard output."""
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=self.folder(folder) if folder else self.home,
            env=self.environ(**more),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), SECONDS)
        finally:
            with suppress(ProcessLookupError):
                process.kill()
        assert process.returncode == 0, f"{words}\n{out.decode()}\n{err.decode()}"
        return out.decode()

    async def moot(self, *words: str, folder: str = "", **more: str) -> str:
        return await self.run(str(MOOT), *words, folder=folder, **more)

    async def claude(self, prompt: str, *words: str, folder: str, **more: str) -> str:
        options = ("--output-format", "stream-json", "--verbose", "--allowedTools", "mcp__moot")
        return await self.run("claude", "-p", prompt, *options, *words, folder=folder, **more)

    async def codex(self, prompt: str, *words: str, folder: str, **more: str) -> str:
        # Codex begins without a server that is not ready after one second, unless it is told to wait for it.
        options = ("-c", "mcp_servers.moot.required=true", "--json", "--skip-git-repo-check")
        return await self.run("codex", "exec", *options, *words, prompt, folder=folder, **more)

    def tell_codex_of_the_model(self, more: str = "") -> None:
        """What a person's settings would say of a provider; there is no command for it."""
        path = self.home / ".codex" / "config.toml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "# a person's own settings\n"
            'model = "codex"\nmodel_provider = "fake"\n\n[model_providers.fake]\nname = "fake"\n'
            f'base_url = "{self.model.openai_url}"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
            f"request_max_retries = 0\n{more}"
        )

    async def agents(self) -> dict[str, Any]:
        hub = await RemoteHub.find(Home(self.home / ".moot"))
        assert hub is not None
        try:
            return {agent.name: agent for agent in await hub.agents.list()}
        finally:
            await hub.close()

    async def until_known(self, name: str) -> None:
        await until(self.agents, lambda agents: name in agents, SECONDS)

    def settings_files(self) -> dict[str, tuple[bytes, int]]:
        names = (".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json")
        found = [self.home / name for name in names]
        return {path.name: (path.read_bytes(), path.stat().st_mode) for path in found if path.exists()}


def installed() -> None:
    missing = [name for name in ("claude", "codex") if not os.access(BIN / name, os.X_OK)]
    assert not missing, f"{', '.join(missing)} is not installed: make test-clis does that"
