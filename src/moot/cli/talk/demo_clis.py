"""`moot demo --tour coding`: three coding agents in three projects, who ask each other, interrupt each other, and ask a
person for what they may not do.

The CLIs are scripted and speak a real protocol over real pipes, under the real keeper: what is shown is what a real one
would do to the hub. Real ones that are installed are named at the end; they would cost somebody something.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
from typing import TYPE_CHECKING

from moot.brains.command.installed_clis import installed
from moot.brains.command.permission import ALLOW
from moot.cli.run.welcome import tilde_path
from moot.cli.talk.watched_tour import MAX_TOUR_SECONDS, WatchedTour
from moot.cli.terminal.phrases import budget_line
from moot.hub import Hub
from moot.settings import load
from moot.settings.toml.edits import literal
from moot.wiring import configured_agents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SIGN = "# The coding agents of `moot demo --tour coding`. Scripted: no model is called."
TEAM = {
    "janus": ("puts it all together", "queue", {"panel.toml": "title = 'panel'\n"}),
    "puppet": ("keeps the browser driver", "queue", {"driver.toml": "port = 9223\n"}),
    "abra": ("keeps the personas", "interrupt", {"personas.toml": "port=0\n"}),
}
"""Agent → its role, what a message does while it speaks, and the files of its project."""
FIRST = "Please write a page about personas."
QUESTION = "Which port does the browser driver listen on? Please tell abra, too."
LESSON = (
    "You saw: each agent works in its own project; janus asked puppet and went on; a message stopped abra in the\n"
    "middle of a page, which is kept; what abra may not do by itself was denied at once, and allowed once by you."
)
LOOK_SECONDS = 0.05


def projects_of(home: Path) -> Path:
    """Next to the home: no project may be inside it."""
    return home.with_name(f"{home.name}-projects")


class CodingTour(WatchedTour):
    @property
    def _projects(self) -> Path:
        return projects_of(self._home.path)

    async def run(self) -> None:
        began = time.monotonic()
        self._make_home(self._toml())
        for name, (_, _, files) in TEAM.items():
            (self._projects / name).mkdir(mode=0o700, parents=True, exist_ok=True)
            for file, text in files.items():
                (self._projects / name / file).write_text(text, encoding="utf-8")
        agents = configured_agents(load(self._home), self._home)
        async with Hub.open(self._home.path, agents=agents) as hub:
            self._introduce()
            self._shown_messages = hub.position
            await asyncio.gather(self._watch(hub), self._play(hub))
            await self._watch(hub)
            await self._conclude(hub, time.monotonic() - began)

    def _toml(self) -> str:
        rows = [f"{SIGN}\n[hub]\nport = 0  # any free one\n"]
        for name, (role, on_busy, _) in TEAM.items():
            words = shlex.join((sys.executable, "-m", "moot.testing.fake_cli.run", "acp", "--tour", name))
            row = {
                "name": name,
                "role": role,
                "brain": f"acp:{words}",
                "project": str(self._projects / name),
                "on_busy": on_busy,
                "budget_tokens": 200_000,
            }
            rows.append("[[agents]]\n" + "\n".join(f"{key} = {literal(value)}" for key, value in row.items()))
        return "\n\n".join(rows) + "\n"

    def _introduce(self) -> None:
        self._say_what_it_is("Scripted coding CLIs, run as real ones are.")
        for name in TEAM:
            self._screen.say(f"  {name} works in {tilde_path(self._projects / name)}")
        self._screen.say()

    # --- what the person does ----------------------------------------------------------------------------

    async def _play(self, hub: Hub) -> None:
        await hub.send("abra", FIRST)
        await self._until_streaming(hub, "abra")
        await hub.send("janus", QUESTION)
        await hub.settled(timeout=MAX_TOUR_SECONDS)
        for decision in await hub.decisions.list(state="open"):
            self._screen.say(self._screen.dim(f"  You are asked: {' '.join(decision.question.split())}\n"))
            await hub.decisions.answer(decision.id, ALLOW)
        await hub.settled(timeout=MAX_TOUR_SECONDS)

    async def _until_streaming(self, hub: Hub, name: str) -> None:
        async with asyncio.timeout(MAX_TOUR_SECONDS):
            while (await hub.agents.get(name)).status != "streaming":  # noqa: ASYNC110  no event says it
                await asyncio.sleep(LOOK_SECONDS)

    # --- at the end --------------------------------------------------------------------------------------

    async def _conclude(self, hub: Hub, seconds: float) -> None:
        report = await hub.limits()
        if self._session.json:
            decisions = [one.to_dict() for one in await hub.decisions.list()]
            self._screen.data(
                {
                    "brain": "scripted CLIs",
                    "messages": self._messages,
                    "decisions": decisions[-1:],
                    "budgets": [one.to_dict() for one in report.budgets],
                    "seconds": round(seconds, 3),
                }
            )
            return
        for one in report.budgets:
            self._screen.say(self._screen.dim(f"  {budget_line(one.to_dict())}"))
        self._screen.say()
        self._say_what_is_next(LESSON, self._next())
        real = installed(os.environ)
        if real:
            name, brain = next(iter(real.items()))
            line = f"moot agents new NAME --model {shlex.quote(brain)} --project DIR"
            self._screen.say(f"\n{name} is installed here: {line}")

    def _next(self) -> Iterator[str]:
        yield "status"
        yield "decisions list"
        yield "agents list"
        yield "limits show"
