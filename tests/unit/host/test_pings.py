"""Connections between processes: whatever moment one ends at, nothing of it stays open."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from moot.host import pings
from moot.host.pings import JsonLine, Peer, Pinger, PingSocket
from tests.support.waiting import PATIENCE


def unheard(line: JsonLine, peer: Peer) -> None:
    """What is said here is not looked at."""


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[PingSocket]:
    opened = PingSocket(tmp_path / "s.sock", unheard)
    await opened.open()
    yield opened
    await opened.close()


@pytest.mark.parametrize("moments", range(8))
async def test_who_comes_just_before_the_end_is_not_left_open(server: PingSocket, moments: int) -> None:
    """Between being accepted and being open lie several rounds of the loop."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(server.path))
        client.setblocking(False)
        for _ in range(moments):
            await asyncio.sleep(0)
        await server.close()
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionResetError):  # where it had not been accepted yet
                assert await asyncio.get_running_loop().sock_recv(client, 1) == b""
    assert not server._peers


async def test_a_pinger_that_was_closed_opens_nothing_more(server: PingSocket) -> None:
    pinger = Pinger()
    await pinger.close()
    pinger.send(str(server.path), {"notify": {}})
    assert not pinger._tasks
    assert not pinger._peers


async def test_a_pinger_does_not_wait_for_ever_for_who_does_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pings, "CLOSE_SECONDS", 0.01)
    path, pinger = tmp_path / "deaf.sock", Pinger()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(path))
        deaf.listen()
        pinger.send(str(path), {"live": "x" * 900_000})
        await asyncio.gather(*pinger._tasks)
        [peer] = pinger._peers.values()
        assert peer.transport is not None
        assert peer.transport.get_write_buffer_size() > 0
        await pinger.close()
        assert peer.transport is None, "it is closed, and what was not taken is dropped"
