"""A hub with demo agents as a process of its own, for browsers to talk to: started, killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.page.waiting import PATIENCE, until

SETTINGS = """
[hub]
port = {port}
user = "karl"

# A machine that gives a hub no processor for a quarter of a minute does not make its agents absent.
[host]
lease_seconds = 90.0

[limits]
requests_per_second = 2000.0
open_at_once = 64

{agents}
[[links]]
from = "arya"
to = "gendry"
relationship = "superior"
"""
TEAM = {"arya": "backend engineer", "gendry": "smith of tools", "critic": "finds what is wrong"}
# These misbehave as their names say: the demo brain sees to it.
AGENTS = {
    **TEAM,
    "flaky": "fails",
    "thanks-one": "polite",
    "thanks-two": "polite",
    "scribe": "takes its time",
}
CODE = {"scribe": "code:page_team:scribe"}
PAGE_TEAM = """
import asyncio
from pathlib import Path


async def scribe(turn):
    await turn.say("so far ")
    while not Path(__file__).with_name(f"go-{turn.conversation.id}").exists():
        await asyncio.sleep(0.05)
    await turn.say("and to the end")
"""


def _agent(name: str, role: str) -> str:
    return f'[[agents]]\nname = "{name}"\nrole = "{role}"\nbrain = "{CODE.get(name, "demo")}"\n\n'


class RunningHub:
    def __init__(self, home: Path, port: int, team: Mapping[str, str] = AGENTS) -> None:
        self.home = home
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        home.mkdir(parents=True, exist_ok=True)
        agents = "".join(_agent(name, role) for name, role in team.items())
        (home / "moot.toml").write_text(SETTINGS.format(port=port, agents=agents))
        (home / "page_team.py").write_text(PAGE_TEAM)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        log = (self.home / "up.log").open("ab")
        command = [sys.executable, "-m", "moot", "up"]
        environ = {**os.environ, "MOOT_HOME": str(self.home)}
        self._process = subprocess.Popen(
            command, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        log.close()
        try:
            until(self._is_up)
        except BaseException:  # also of a test whose time is over
            self.kill()
            print((self.home / "up.log").read_text())
            raise

    def _is_up(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, "it has ended"
        return self._answers()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=1):
                return (self.home / "run" / "token").is_file()
        except (OSError, urllib.error.URLError):
            return False

    def kill(self) -> None:
        """As a power cut would: nothing is said, nothing is tidied up."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE)

    def stop(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def api(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """A request as the owner."""
        token = (self.home / "run" / "token").read_text().strip()
        data = None if body is None else json.dumps(body).encode()
        known = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, data, {**known, **named}, method=method)
        with urllib.request.urlopen(request, timeout=2 * PATIENCE) as answer:
            read = answer.read()
        return json.loads(read) if read else None

    def code(self, who: str = "karl") -> str:
        return str(self.api("POST", f"/api/agents/{who}/sign-in-codes", {})["code"])

    def conversation(self, name: str, *agents: str, **settings: float) -> str:
        body = {"name": name, "participants": agents, "exist_ok": True}
        made = self.api("POST", "/api/conversations", {**body, "settings": settings} if settings else body)
        return str(made["id"])

    def say(self, where: str, text: str) -> Any:
        return self.api("POST", f"/api/conversations/{where}/messages", {"text": text})

    def messages(self, where: str) -> list[Any]:
        newest = 2**53 - 1
        return list(
            self.api("GET", f"/api/conversations/{where}/messages?before={newest}&limit=500")["messages"]
        )

    @contextmanager
    def question(self, by: str, text: str, *choices: str) -> Iterator[str]:
        """An agent waits for a person's answer; the decision's id."""
        body = {"text": text, "choices": choices, "timeout": PATIENCE}
        with ThreadPoolExecutor(1) as aside:
            asked = aside.submit(self.api, "POST", "/api/agents/karl/ask", body, Moot_Act_As=by)
            yield until(lambda: self._asked(text))
            asked.result(PATIENCE)

    def _asked(self, text: str) -> str:
        rows = self.api("GET", "/api/decisions")["decisions"]
        return next((str(row["id"]) for row in rows if row["question"] == text), "")

    def settled(self, where: str) -> None:
        self.api("GET", f"/api/conversations/{where}/settled?timeout={PATIENCE:g}")

    def go_on(self, where: str) -> None:
        """Let scribe finish what it is writing there."""
        (self.home / f"go-{where}").touch()
