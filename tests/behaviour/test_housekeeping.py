"""Housekeeping of a running hub, on a clock that a test moves."""

from contextlib import aclosing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from moot.brains.code import AgentSpec
from moot.hub import Hub
from moot.hub.archive import backups
from moot.settings import Home
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import until

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0


async def yes(turn: Any) -> str:
    return "yes"


def wishing(home: Path, **wishes: int) -> Path:
    lines = [f"{key} = {value}" for key, value in wishes.items()]
    text = "[groups]\ncooldown_seconds = 0.0\n[housekeeping]\n"
    (home / "moot.toml").write_text(text + "\n".join(lines), encoding="utf-8")
    return home


async def names(hub: Hub, *, archived: bool) -> list[str]:
    return [conversation.name for conversation in await hub.conversations.list(archived=archived)]


@pytest.mark.req("A-13")
async def test_a_conversation_without_a_word_for_days_is_archived_and_others_are_not(tmp_path: Path) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, archive_after_days=7)
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock) as hub:
        for name in ("still", "lively"):
            await hub.conversations.create(name)
            await hub.post(name, "hello")
        await clock.advance(6 * DAY)
        await hub.post("lively", "again")
        await clock.advance(DAY + HOUR)
        assert await names(hub, archived=True) == ["still"]
        assert await names(hub, archived=False) == ["lively"]
        assert [m.text for m in await hub.messages((await hub.conversations.list(archived=True))[0].id)] == [
            "hello"
        ]


@pytest.mark.req("A-13")
async def test_nothing_is_archived_unless_asked_for(tmp_path: Path) -> None:
    clock = ManualClock()
    async with Hub.open(tmp_path, clock=clock, socket=Home(tmp_path).hub_sock) as hub:
        await hub.conversations.create("still")
        await clock.advance(3650 * DAY)
        assert await names(hub, archived=False) == ["still"]


async def test_it_is_done_at_start_too(tmp_path: Path) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, archive_after_days=1)
    async with Hub.open(home, clock=clock) as hub:
        await hub.conversations.create("still")
        await clock.advance(2 * DAY)
        assert await names(hub, archived=False) == ["still"], "a command is not the hub"
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock) as hub:
        await until(lambda: names(hub, archived=True), lambda found: found == ["still"])


@pytest.mark.req("A-13", "A-10")
async def test_what_somebody_still_owes_an_answer_is_not_archived(tmp_path: Path) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, archive_after_days=1)
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock) as hub:
        await hub.agents.create("away")
        await hub.conversations.create("owed", participants=["away"])
        await hub.post("owed", "@away are you there?")
        await clock.advance(30 * DAY)
        assert await names(hub, archived=False) == ["owed"]
        await hub.conversations.leave("owed", "away")
        await clock.advance(2 * DAY)
        assert await names(hub, archived=True) == ["owed"]


@pytest.mark.req("A-04", "A-13")
async def test_an_ephemeral_conversation_is_archived_soon_after_it_has_settled(tmp_path: Path) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, ephemeral_archive_minutes=5)
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock, agents=[AgentSpec("a", yes)]) as hub:
        await clock.advance(1)
        await hub.conversations.create("quick", participants=["a"], kind="ephemeral")
        await hub.conversations.create("lasting", participants=["a"])
        await hub.post("quick", "well?")
        await hub.settled("quick")
        await clock.advance(4 * MINUTE)
        assert "quick" in await names(hub, archived=False)
        await clock.advance(2 * MINUTE)
        assert await names(hub, archived=True) == ["quick"]
        assert await names(hub, archived=False) == ["lasting"]


@pytest.mark.req("A-13")
async def test_old_events_are_forgotten_and_who_reads_from_before_is_told(tmp_path: Path) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, events_keep_days=3)
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock) as hub:
        await hub.conversations.create("room")
        first = await hub.post("room", "long ago")
        await clock.advance(4 * DAY)
        await hub.post("room", "today")
        horizon = await store_of(hub).horizon()
        assert 0 < horizon < hub.position
    async with Hub.open(home, clock=clock) as hub:
        async with aclosing(hub.events(after=0, types=["message.posted"])) as stream:  # type: ignore[type-var]
            reset = await anext(stream)
            told = await anext(stream)
        assert (reset.type, reset.id, reset.body) == ("reset", None, {"after": horizon})
        assert (told.type, told.body["text"]) == ("message.posted", "today")
        assert [m.text for m in await hub.messages("room")] == ["long ago", "today"], "what was said stays"
        assert (await hub.why(first.id)).message == first.id


async def test_who_has_read_up_to_the_horizon_misses_nothing_and_is_not_reset(tmp_path: Path) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, events_keep_days=3)
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock) as hub:
        await hub.conversations.create("room")
        read = hub.position
        await clock.advance(4 * DAY)
        await hub.post("room", "today")
    async with Hub.open(home, clock=clock) as hub, aclosing(hub.events(after=read)) as stream:  # type: ignore[type-var]
        assert (await anext(stream)).type == "message.posted"


@pytest.mark.req("P-07", "A-13")
async def test_backups_are_made_as_often_as_asked_and_the_oldest_go(tmp_path: Path) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, backup_every_hours=6, backups_keep=2)
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock) as hub:
        await hub.conversations.create("room")
        mine = backups.create(Home(home))
        for _ in range(24):
            await clock.advance(HOUR)
    found = backups.list_backups(Home(home))
    automatic = [backup for backup in found if backup.kind == "automatic"]
    assert [later.at - earlier.at for later, earlier in pairwise(automatic)] == [6 * HOUR]
    assert len(automatic) == 2
    assert mine.path in [backup.path for backup in found]
    assert all(backups.verify(Home(home), backup.path).sound for backup in found)
    assert len(list((home / "backups").glob("*.files"))) == len(found)


async def test_a_chore_that_fails_keeps_neither_the_others_nor_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    home = wishing(tmp_path, archive_after_days=1, backup_every_hours=1)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups, "create", full)
    async with Hub.open(home, clock=clock, socket=Home(home).hub_sock) as hub:
        await hub.conversations.create("still")
        await clock.advance(2 * DAY)
        assert await names(hub, archived=True) == ["still"]
        await hub.conversations.create("next")
