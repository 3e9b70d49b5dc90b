"""Ids and names, names and keys: nobody can come to stand where somebody else is meant."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.errors import BadName

pytestmark = pytest.mark.req("P-06")


async def outsider(hub: Hub, name: str) -> Hub:
    await hub.agents.arrive("mcp", name=name)
    return hub.acting_as(name)


async def test_nobody_takes_the_id_of_another_for_a_name(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        code_bot = await hub.agents.create("code_bot", external=True)
        assert code_bot.id == "code-bot"
        await outsider(hub, "mallory")
        with pytest.raises(BadName):
            await hub.agents.rename("mallory", "code-bot")
        with pytest.raises(BadName):
            await hub.agents.create("code-bot", external=True)
        x = await outsider(hub, "x")
        sent = await x.send("code_bot", "for code_bot")
        assert [seat.name for seat in (await hub.conversations.get(sent.conversation)).participants] == [
            "x",
            "code_bot",
        ]
        assert (await hub.agents.issue_token("code_bot")).agent == "code_bot"


async def test_a_newcomers_id_is_nobodys_name(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await outsider(hub, "v")
        await hub.agents.rename("v", "ops-bot")
        ops = await hub.agents.create("ops_bot", external=True)
        assert ops.id != "ops-bot"
        assert hub.acting_as(ops.id).name == "ops_bot"
        assert hub.acting_as("ops-bot").name == "ops-bot"


@pytest.mark.parametrize("key", ["direct:x+y", "room", "ephemeral:x:once"])
async def test_no_key_of_ones_own_leads_into_what_is_another_s(tmp_path: Path, key: Any) -> None:
    async with Hub.open(tmp_path) as hub:
        x, y = await outsider(hub, "x"), await outsider(hub, "y")
        await hub.agents.create("carl", human=True)
        await hub.conversations.create("room", participants=["x"])
        mine = await x.conversations.ephemeral("y", "once")
        carl = hub.acting_as("carl")
        made = await carl.conversations.ephemeral("x", key)
        assert made.id not in (mine.id, (await hub.conversations.get("room")).id)
        assert {seat.name for seat in made.participants} == {"carl", "x"}
        sent = await x.send("y", "for y only")
        assert sent.conversation != made.id
        assert [m.text for m in (await y.mailbox.check()).messages] == ["for y only"]
        assert (await carl.conversations.ephemeral("x", key)).id == made.id


async def test_a_group_that_is_named_like_a_pair_keeps_nobody_from_talking(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x, z = await outsider(hub, "x"), await outsider(hub, "z")
        await hub.conversations.create("direct-x+z", participants=[])
        await x.send("z", "hello")
        assert [m.text for m in (await z.mailbox.check()).messages] == ["hello"]
