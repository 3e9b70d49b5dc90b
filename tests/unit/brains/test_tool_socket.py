"""The socket on which a coding CLI reaches Moot's tools: what becomes of its connections when it is closed."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

from moot.brains.command.driver import CliSetup
from moot.brains.command.program.tool_socket import ToolSocket
from tests.support.waiting import PATIENCE


class Place:
    """As much of a session's place as the socket reads."""

    def __init__(self, run_folder: Path) -> None:
        self.run_folder = run_folder


async def test_closing_it_ends_the_connections_of_processes_that_are_still_there(tmp_path: Path) -> None:
    tools = await ToolSocket.open(cast(CliSetup, Place(tmp_path / "run")))
    words = cast(list[Any], tools.server["args"])
    reader, writer = await asyncio.open_unix_connection(words[-1])
    writer.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    assert b'"id":1' in await asyncio.wait_for(reader.readline(), PATIENCE)

    await tools.close()

    assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
    writer.close()
    assert not tools.folder.exists()


async def test_one_that_came_just_before_the_end_is_closed_too(tmp_path: Path) -> None:
    tools = await ToolSocket.open(cast(CliSetup, Place(tmp_path / "run")))
    words = cast(list[Any], tools.server["args"])
    reader, writer = await asyncio.open_unix_connection(words[-1])

    await tools.close()

    with suppress(ConnectionError):  # as soon as it was not even accepted
        assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
    writer.close()


async def test_who_is_cancelled_while_it_opens_leaves_nothing_behind(tmp_path: Path) -> None:
    opening = asyncio.ensure_future(ToolSocket.open(cast(CliSetup, Place(tmp_path / "run"))))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert list((tmp_path / "run").iterdir()) == []
