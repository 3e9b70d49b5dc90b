"""One hub, reached in every way there is: what it answers must not depend on the way."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent
from moot.client import RemoteHub


@agent("arya", role="engineer")
async def arya(turn: Any) -> str:
    await turn.say("well, ")
    return f"arya heard {turn.text}".replace("@", "")


@agent("quiet")
async def quiet(turn: Any) -> str:
    return PASS


@agent("broken")
async def broken(turn: Any) -> str:
    raise RuntimeError("on purpose")


@pytest.fixture(params=["in process", "socket"])
async def hub(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n")
    socket = tmp_path / "run" / "hub.sock"
    async with Hub.open(tmp_path, agents=[arya, quiet, broken], socket=socket) as here:
        if request.param == "in process":
            yield here
            return
        async with RemoteHub.open(socket) as there:
            yield there
