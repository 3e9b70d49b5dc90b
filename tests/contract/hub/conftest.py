"""One hub, reached in every way there is: what it answers must not depend on the way."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent
from moot.client import RemoteHub
from moot.doors.http.listener import serving
from moot.hub.process.owner_token import owner_token
from moot.settings import Home


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


TOML = """
[hub]
port = 0
[groups]
cooldown_seconds = 0.0
reactive_round = false
[limits]
requests_per_second = 100000.0
"""


@pytest.fixture(params=["in process", "socket", "http"])
def way(request: pytest.FixtureRequest) -> str:
    """How the hub is reached."""
    return str(request.param)


@pytest.fixture
async def kept_in() -> str:
    """The settings of its store; without any it is a file of the home."""
    return ""


@pytest.fixture
async def hub(way: str, kept_in: str, tmp_path: Path) -> AsyncIterator[Any]:
    (tmp_path / "moot.toml").write_text(TOML + kept_in)
    socket = tmp_path / "run" / "hub.sock"
    async with (
        Hub.open(tmp_path, agents=[arya, quiet, broken], socket=socket) as here,
        reached(way, here, tmp_path) as there,
    ):
        yield there


@asynccontextmanager
async def reached(way: str, here: Hub, home: Path) -> AsyncIterator[Any]:
    if way == "in process":
        yield here
    elif way == "socket":
        async with RemoteHub.open(home / "run" / "hub.sock") as there:
            yield there
    else:
        token, facts = owner_token(Home(home)), {"instance": "i1", "started_at": None}
        async with (
            serving(here, home=home, owner_token=token, facts=facts) as at,
            Hub.connect(at.url, token=token) as there,
        ):
            yield there
