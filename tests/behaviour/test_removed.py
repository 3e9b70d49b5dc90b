"""Taking an agent out: nothing waits for it, nobody reaches it, its tokens open nothing, and what it said stays."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.brains.code import AgentSpec
from moot.errors import Conflict, NotFound, NotPermitted
from moot.model.hint import Act, Hint
from tests.support.waiting import until


@agent("fin")
async def fin(turn: Any) -> str:
    return "noted"


async def test_what_waited_for_it_ends_and_it_comes_back_where_it_left(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[fin]) as hub:
        await hub.ask("fin", "one")
    async with Hub.open(tmp_path) as hub:
        owed = await hub.send("fin", "two")
        assert [turn.state for turn in await hub.turns(state="owed")] == ["owed"]
        gone = await hub.agents.remove("fin")
        assert (gone.activity["state"], gone.status) == ("removed", "offline")
        assert await hub.turns(state="owed") == []
        assert await hub.agents.list() == []
        for attempt in (hub.send("fin", "three"), hub.ask("fin", "three")):
            with pytest.raises(NotFound, match="fin was removed and no longer answers"):
                await attempt
        kept = await hub.post(owed.conversation, "three")
        assert [(part.duty, part.reason) for part in kept.deliveries] == [
            ("blocked", "was removed and no longer answers")
        ]
        with pytest.raises(NotFound, match="fin was removed"):
            await hub.agents.resume("fin")
        assert (await hub.agents.remove("fin")).activity == gone.activity
    async with Hub.open(tmp_path, agents=[fin]) as hub:
        assert (await hub.ask("fin", "four")).text == "noted"
        pair = await hub.conversations.implicit(["fin"])
        assert [m.text for m in await hub.messages(pair.id)] == [
            "one",
            "noted",
            "two",
            "three",
            "four",
            "noted",
        ]


async def test_nobody_speaks_in_its_name(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        for name in ("fin", "other"):
            await hub.agents.create(name, external=True)
        await hub.conversations.create("room", participants=["fin", "other"])
        fin = hub.acting_as("fin")
        assert (await fin.post("room", "before")).seq == 1
        pair = (await fin.send("other", "before")).conversation
        await hub.agents.remove("fin")
        for attempt in (fin.post("room", "after"), fin.send("other", "after"), fin.ask("other", "after?")):
            with pytest.raises(NotFound, match="fin was removed"):
                await attempt
        assert (await fin.broadcast("after"))["delivered_to"] == []
        assert [len(await hub.messages(where)) for where in ("room", pair)] == [1, 1]


async def test_who_hosts_it_lets_go_of_it_and_may_host_another_of_its_name(tmp_path: Path) -> None:
    closed: list[str] = []

    async def close() -> None:
        closed.append("fin")

    async def answer(turn: Any) -> str:
        return "another"

    first = AgentSpec("fin", fin.think, close=close)
    async with Hub.open(tmp_path, agents=[first]) as hub:
        assert (await hub.ask("fin", "one")).text == "noted"
        await hub.agents.remove("fin")
        await until(lambda: hub.agents.where("fin"), lambda where: where == {})
        await hub.agents.create("fin")
        assert (await hub.agents.get("fin")).reachability == "away"
        owed = await hub.send("fin", "two")
        assert [part.reachability for part in owed.deliveries] == ["away"]
        assert closed == ["fin"]
        await hub.host([AgentSpec("fin", answer)])
        await until(lambda: hub.messages(owed.conversation), lambda found: len(found) == 4)
        assert [m.text for m in await hub.messages(owed.conversation)] == ["one", "noted", "two", "another"]
    assert closed == ["fin"]


async def test_its_tokens_open_nothing_any_more(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("codex", external=True)
        token = await hub.agents.issue_token("codex")
        assert await hub.agents.bearers().of(token.token) is not None
        await hub.agents.remove("codex")
        assert await hub.agents.bearers().of(token.token) is None


async def test_an_outside_agent_that_comes_in_again_is_back(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.arrive("mcp", name="codex", client="codex", folder="/src")
        await hub.agents.remove("codex")
        assert await hub.agents.list() == []
        back = await hub.agents.arrive("mcp", name="codex", client="codex", folder="/src")
        assert back.activity["state"] != "removed"
        assert [each.name for each in await hub.agents.list()] == ["codex"]


async def test_who_is_described_in_the_file_and_who_is_a_person_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[[agents]]\nname = "arya"\nbrain = "demo"\n')
    async with Hub.open(tmp_path) as hub:
        with pytest.raises(Conflict, match=r"arya is in moot\.toml") as refusal:
            await hub.agents.remove("arya")
        assert refusal.value.fix == (Hint(Act.REMOVE_AGENT, agent="arya"),)
        with pytest.raises(NotPermitted, match="user is a person"):
            await hub.agents.remove("user")
