"""The kit by which people test their own teams: scripts, and checks that find what is wrong with a team."""

from typing import Any

import pytest

from moot import PASS, Hub, agent
from moot.testing import Script, check_team

COOL = "[groups]\ncooldown_seconds = 0\n"
pytestmark = pytest.mark.req("M-09")


@agent("arya")
async def arya(turn: Any) -> str:
    return "here" if turn.must_answer and "Thank" not in turn.text else PASS


@agent("gendry")
async def gendry(turn: Any) -> str:
    return PASS


async def test_a_team_that_behaves_has_no_findings() -> None:
    assert await check_team([arya, gendry], settings=COOL) == []


async def test_who_keeps_thanking_is_found() -> None:
    def polite(name: str, other: str) -> Any:
        @agent(name)
        async def think(turn: Any) -> str:
            return f"@{other} thank you too!"

        return think

    found = await check_team([polite("a", "b"), polite("b", "a")], only=["ends"], settings=COOL)
    assert "a" in {finding.agent for finding in found}


async def test_who_fails_who_strays_and_who_blabs_is_found() -> None:
    told: list[str] = []

    @agent("loose")
    async def loose(turn: Any) -> str:
        told.append(turn.text)
        if "in red" in turn.text:
            await turn.hub.post("blue", "I am everywhere")
        if "are you there" in turn.text:
            raise RuntimeError("on purpose")
        return f"I was told: {told[-2]}" if "what is the password" in turn.text else PASS

    found = await check_team([loose], settings=COOL)
    assert {(finding.check, finding.agent) for finding in found} == {
        ("answers", "loose"),
        ("stays", "loose"),
        ("keeps", "loose"),
    }


async def test_a_script_is_said_line_by_line_and_what_it_heard_is_known(tmp_path: Any) -> None:
    script = Script("arya", "first", "second")
    async with Hub.open(tmp_path, agents=[script.agent]) as hub:
        assert (await hub.ask("arya", "one?")).text == "first"
        assert script.left == ("second",)
        assert (await hub.ask("arya", "two?")).text == "second"
    assert script.heard == ["one?", "two?"]


async def test_a_check_that_nobody_knows_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="there are answers, ends, stays, keeps"):
        await check_team([arya], only=["sings"])
