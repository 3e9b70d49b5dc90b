"""A hub with three agents, connected to each chat app in turn."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.brains.code import AgentSpec
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, WORLDS, World


@pytest.fixture(params=WORLDS)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    async with WORLDS[request.param]() as made:
        yield made


def player(name: str) -> AgentSpec:
    """Answers whoever has to be answered, in a sentence that names it."""

    @agent(name)
    async def play(turn: Any) -> str | None:
        if "decide" in turn.text:
            chosen = await turn.hub.ask("user", "ship it?", choices=["yes", "no"], timeout=40)
            return f"{name} goes with {chosen.text}"
        if "take your time" in turn.text and "MOOT_FAILPOINT" in os.environ:
            await asyncio.Event().wait()  # here comes a kill, and nothing else may go out before
        if "loop with" in turn.text and turn.must_answer:
            return f"@{'critic' if name == 'writer' else 'writer'} loop with me"
        asked = turn.text.splitlines()[0][:40].replace("@", "")
        return f"{name} answers {asked}" if turn.must_answer else None

    return play


@pytest.fixture
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """What guests may do is counted by the minutes of the clock: here none ends."""
    monkeypatch.setattr("moot.flow.hear.MINUTE", sys.float_info.max)


@pytest.fixture
async def stage(tmp_path: Path, world: World) -> AsyncIterator[Stage]:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n")
    async with Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub:
        stage = Stage(hub, world)
        await stage.connect()
        await stage.quiet()
        try:
            yield stage
        finally:
            await stage.disconnect()
