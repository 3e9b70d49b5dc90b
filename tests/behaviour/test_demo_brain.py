"""The demo team looks alive without a model: the one whom the words suit speaks, calls by role, others pass."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from moot import Hub, agent
from moot.brains.code import AgentSpec
from moot.brains.demo import DemoBrain

MARKET = {"analyst": "analyst", "writer": "writer", "critic": "critic"}


def demo(name: str, role: str, seed: int = 1) -> AgentSpec:
    return agent(name, role=role)(DemoBrain(seed=seed, fast=True).think)


async def heard(
    home: Path, words: str, team: Mapping[str, str], *, seed: int = 1, paused: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Who answered what when a person said the words to the team."""
    async with Hub.open(home, agents=[demo(name, role, seed) for name, role in team.items()]) as hub:
        await hub.conversations.create("team", participants=list(team), settings={"cooldown_seconds": 0.0})
        for name in paused:
            await hub.agents.pause(name)
        await hub.post("team", words)
        await hub.settled("team")
        return [(m.sender, m.text) for m in await hub.messages("team") if m.kind == "agent"]


@pytest.mark.parametrize(
    ("words", "who"),
    [
        ("Analyze AAPL earnings, @analyst", ["analyst", "writer"]),
        ("Analyze AAPL earnings, @analyst. What could be wrong with it?", ["analyst", "critic"]),
        ("@critic, does the headline hold?", ["critic", "writer"]),
        ("@critic and you?", ["critic"]),
        ("@analyst and @critic, your view?", ["analyst", "critic"]),
    ],
    ids=["the next trade", "the words", "the words, against the order", "nobody fits", "both were asked"],
)
async def test_a_peer_is_called_by_its_role(tmp_path: Path, words: str, who: list[str]) -> None:
    said = await heard(tmp_path, words, MARKET)
    assert [sender for sender, _ in said] == who
    assert ("@" in said[0][1]) == (len(who) == 2 and words.count("@") == 1)


async def test_the_order_in_which_they_joined_does_not_matter(tmp_path: Path) -> None:
    team = {"bran": "critic", "sansa": "writes the newsletter", "arya": "data analyst, knows payments"}
    said = await heard(tmp_path, "Analyze AAPL earnings, @arya", team)
    assert [sender for sender, _ in said] == ["arya", "sansa"]
    assert '"AAPL earnings"' in said[0][1]
    assert "s data analyst I would" in said[0][1]
    assert said[0][1].endswith("@sansa, two lines please.")


async def test_whom_the_words_suit_answers_unasked_and_the_others_pass(tmp_path: Path) -> None:
    said = await heard(tmp_path, "Now a headline, and what could go wrong?", MARKET)
    assert [sender for sender, _ in said] == ["writer", "critic"]
    assert said[0][1].endswith("@critic, what is missing?")


async def test_where_the_words_suit_nobody_the_first_one_asked_answers(tmp_path: Path) -> None:
    said = await heard(tmp_path, "Good morning!", {"x": "", "y": "", "z": ""})
    assert [sender for sender, _ in said] == ["x"]
    assert "s a demo agent I would" in said[0][1]


async def test_nobody_is_called_who_is_not_there(tmp_path: Path) -> None:
    said = await heard(tmp_path, "Analyze AAPL earnings, @analyst", MARKET, paused=["writer"])
    assert [sender for sender, _ in said] == ["analyst"]
    said = await heard(tmp_path / "b", "Now a headline!", MARKET, paused=["writer"])
    assert [sender for sender, _ in said] == ["analyst"]


async def test_same_words_and_same_seed_give_the_same_replies_and_another_seed_others(tmp_path: Path) -> None:
    words = "Analyze AAPL earnings, @analyst"
    first = await heard(tmp_path / "0", words, MARKET)
    assert await heard(tmp_path / "1", words, MARKET) == first
    others = [await heard(tmp_path / f"s{seed}", words, MARKET, seed=seed) for seed in (2, 3, 4, 5)]
    assert any(other != first for other in others)
    assert {tuple(sender for sender, _ in other) for other in others} == {("analyst", "writer")}
