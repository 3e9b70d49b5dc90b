"""`moot up` serves HTTP: the printed line works, a kill costs no event, a stop is told and quick."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.doors.http.up import MOOT, Up
from tests.support.printed import run_as_printed
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    found = Up(tmp_path / "home")
    yield found
    if found.process is not None and found.process.poll() is None:
        found.end(signal.SIGKILL)


@pytest.mark.req("P-06")
def test_the_printed_line_works_as_printed(tmp_path: Path) -> None:
    home = tmp_path / "a home"
    process = subprocess.Popen(
        [MOOT, "--home", home, "up"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "MOOT_HUB__PORT": "0"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = ""
        while "curl" not in line:
            line = process.stdout.readline()
            assert line, "the hub ended without printing its line"
        told = run_as_printed(line[line.index("curl") :], tmp_path)
        assert json.loads(told) == {"agents": [], "self": "user"}
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_hub_json_says_where_it_is_and_the_token_outlives_it(up: Up) -> None:
    told = up.start()
    assert (told["host"], told["url"]) == ("127.0.0.1", f"http://127.0.0.1:{told['port']}")
    assert json.loads((up.home / "run" / "hub.json").read_text()) == told
    token = up.token
    assert (
        httpx2.get(f"{told['url']}/api/status", headers=token, timeout=PATIENCE).json()["instance"]
        == told["instance"]
    )
    assert up.end(signal.SIGTERM) == 0
    again = up.start()
    assert again["port"] == told["port"]
    assert up.token == token


def test_elsewhere_than_loopback_it_does_not_start_without_a_word(tmp_path: Path) -> None:
    done = subprocess.run(
        [MOOT, "--home", tmp_path, "up", "--json"], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "MOOT_HUB__HOST": "0.0.0.0", "MOOT_HUB__PORT": "0"},
    )  # fmt: skip
    assert done.returncode == 2
    assert "without TLS" in json.loads(done.stderr)["error"]["title"]


@pytest.mark.req("S-13")
async def test_after_a_kill_a_reader_resumes_without_gap_or_repeat(up: Up) -> None:
    await asyncio.to_thread(up.start)
    heard: list[tuple[int, int]] = []
    for kill in (True, True, False):
        base = f"http://127.0.0.1:{up.port}"
        async with httpx2.AsyncClient(base_url=base, headers=up.token, timeout=PATIENCE) as client:
            if not heard:
                await client.post("/api/conversations", json={"name": "room"})
            last = {"Last-Event-ID": str(heard[-1][0])} if heard else {}
            query = {"types": "message.posted", **({} if heard else {"after": "0"})}
            posts = [client.post("/api/conversations/room/messages", json={"text": "x"}) for _ in range(20)]
            acked = [answer.json()["seq"] for answer in await asyncio.gather(*posts)]
            async with client.stream("GET", "/api/events", params=query, headers=last) as stream:
                number = 0
                async for line in stream.aiter_lines():
                    number = int(line[4:]) if line.startswith("id: ") else number
                    if line.startswith("data: "):
                        told = json.loads(line[6:])
                        heard.append((number, told["body"]["seq"]))
                        if told["body"]["seq"] == max(acked) - (5 if kill else 0):
                            break  # the last ones of this life are read in the next
        if kill:
            await asyncio.to_thread(up.end, signal.SIGKILL)
            await asyncio.to_thread(up.start)
    assert [seq for _, seq in heard] == list(range(1, 61))
    assert [number for number, _ in heard] == sorted({number for number, _ in heard})


@pytest.mark.alone
@pytest.mark.req("P-07")
async def test_a_stop_is_told_to_streams_and_is_quick(up: Up) -> None:
    await asyncio.to_thread(up.start)
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{up.port}", headers=up.token, timeout=PATIENCE
    ) as client:
        await client.post("/api/conversations", json={"name": "room"})
        async with client.stream("GET", "/api/events") as stream:
            lines = stream.aiter_lines()
            assert await anext(lines) == "retry: 1000"
            while await anext(lines) != ": following":
                pass
            watch = Stopwatch()
            ending = asyncio.create_task(asyncio.to_thread(up.end, signal.SIGTERM))
            said = [line async for line in lines]
            assert "event: server_restarting" in said
            assert await ending == 0
            assert watch.seconds() < 5
