"""What somebody may have open at once, at all doors together: streams, sockets, listeners and requests that wait."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.doors.http.sockets import talking
from tests.doors.http.test_events import following
from tests.doors.http.world import TOML, World, opened
from tests.doors.mcp.conftest import came_in
from tests.support.waiting import until

CHECK = "/api/agents/bob/check"
BUILD = "/ws/conversations/build"
NEWER = "2026-07-28"
pytestmark = pytest.mark.req("P-06")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Two at once. bob and the owner are in "build"."""
    async with opened(tmp_path, f"{TOML}open_at_once = 2\n") as found:
        await found.hub.conversations.create("build", participants=["bob"])
        yield found


@asynccontextmanager
async def waiting(world: World) -> AsyncIterator["asyncio.Future[Any]"]:
    """bob waits for messages over HTTP."""
    asked = asyncio.ensure_future(world.ask("bob", "POST", CHECK, {"wait_seconds": 60}))
    await until(lambda: world.hub.agents.get("bob"), lambda who: who.reachability == "live")
    yield asked
    asked.cancel()
    await asyncio.wait([asked])


async def waits(world: World) -> Any:
    return await world.ask("bob", "POST", CHECK, {"wait_seconds": 0.01})


async def test_all_doors_count_together_and_each_refuses_in_its_own_words(world: World) -> None:
    async with waiting(world), following(world, "bob"), came_in(world, "bob") as bob:
        requests = (
            ("POST", CHECK, {"wait_seconds": 0.5}),
            ("GET", "/api/events", None),
            ("POST", "/api/agents/quiet/ask", {"text": "unheard", "timeout": 0.5}),
            ("GET", "/api/conversations/build/settled?timeout=0.5", None),
        )
        for method, path, body in requests:
            refused = await world.ask("bob", method, path, body)
            told = refused.json()
            assert (refused.status_code, told["code"], told["limit"]) == (429, "E302", "open_at_once"), path
            assert refused.headers["retry-after"] == "1"
            assert told["retryable"]
        for tool, given in (
            ("wait_for_messages", {"timeout_seconds": 0.5}),
            ("ask", {"target": "quiet", "question": "unheard", "deadline_seconds": 0.5}),
        ):
            error = await bob.error(tool, **given)
            assert (error["code"], error["limit"], error["retry_after_ms"]) == ("E302", "open_at_once", 1000)
        async with talking(world, "bob", BUILD) as socket:
            assert (await socket.ends())[0] == 4429
    assert await world.hub.search("unheard") == [], "a question that was refused was not asked"


async def test_the_bound_is_each_ones_own_and_not_the_owners(world: World) -> None:
    async with waiting(world), following(world, "bob"):
        async with following(world, "karl"), following(world, "karl"):
            assert (await world.ask("karl", "GET", "/api/events")).status_code == 429
        async with following(world), following(world), following(world):
            settled = await world.get("/api/settled?timeout=40")
            assert settled.json()["settled"]


async def test_who_has_all_open_may_still_ask_for_what_there_is_now(world: World) -> None:
    async with following(world, "bob"), following(world, "bob"), came_in(world, "bob") as bob:
        assert (await waits(world)).status_code == 429
        await world.hub.send("bob", "hello")
        assert (await waits(world)).status_code == 429
        assert [m["text"] for m in (await bob("check_messages"))["messages"]] == ["hello"], "nothing was lost"
        assert (await bob("wait_for_messages", timeout_seconds=0))["messages"] == []
        assert (await world.ask("bob", "POST", CHECK, {})).status_code == 200


async def test_what_ends_makes_room_however_it_ends(world: World) -> None:
    async with waiting(world) as answered, following(world, "bob"):
        assert (await waits(world)).status_code == 429
        await world.hub.send("bob", "hello")
        assert [m["text"] for m in (await answered).json()["messages"]] == ["hello"]
        assert (await waits(world)).status_code == 200, "answered"
        async with waiting(world):
            await until(lambda: waits(world), lambda told: told.status_code == 429)
        await until(lambda: waits(world), lambda told: told.status_code == 200)  # its caller went
        async with talking(world, "bob", BUILD):
            await until(lambda: waits(world), lambda told: told.status_code == 429)
        await until(lambda: waits(world), lambda told: told.status_code == 200)


async def test_who_listens_over_mcp_does_so_as_often_as_it_may_and_no_more(world: World) -> None:
    async with came_in(world, "bob", NEWER) as bob:
        build = ["moot://conversations/build"]
        async with AsyncExitStack() as listens:
            for _ in range(2):
                await listens.enter_async_context(bob.client.listen(resource_subscriptions=build))
            with pytest.raises(MCPError, match="too many connections open") as refused:
                await listens.enter_async_context(bob.client.listen(resource_subscriptions=build))
            assert refused.value.error.data["code"] == "E302"
            assert refused.value.error.data["limit"] == "open_at_once"
            assert (await world.ask("bob", "GET", "/api/events")).status_code == 429, "counted with the rest"
        await until(lambda: waits(world), lambda told: told.status_code == 200)
        async with bob.client.listen(resource_subscriptions=build):
            pass
