"""Agents that are somebody else's processes: they ask for their messages, and come and go as they like."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import BadName, BadValue, NotPermitted, TurnFailed
from moot.flow import check
from moot.shapes import Agent, when
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import PATIENCE, until

START = 1_800_000_000.0


@agent("bob")
async def bob(turn: Any) -> str:
    return "noted"


async def comes_in(hub: Hub, name: str) -> Hub:
    await hub.agents.arrive("mcp", name=name)
    return hub.acting_as(name)


async def turn_states(hub: Hub, agent: str) -> list[str]:
    return [turn.state for turn in sorted(await hub.turns(agent=agent), key=lambda turn: int(turn.id))]


# --- handing out -----------------------------------------------------------------------------------------


@pytest.mark.req("J-02", "J-05")
async def test_what_waits_is_handed_out_and_answered(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x, y = await comes_in(hub, "x"), await comes_in(hub, "y")
        sent = await x.send("y", "which port?")
        assert sent.deliveries[0].reachability == "on-demand"
        found = await y.mailbox.check()
        assert [(m.sender, m.text, m.kind) for m in found.messages] == [("x", "which port?", "external")]
        assert found.must_answer == ()
        receipt = await y.mailbox.reply(found.messages[0].id, "5173")
        assert receipt is not None
        assert (receipt.root, receipt.hop) == (sent.root, sent.hop + 1)
        answer = (await x.mailbox.check()).messages
        assert [(m.text, m.reply_to) for m in answer] == [("5173", found.messages[0].id)]
        assert (await y.mailbox.check()).messages == ()


async def test_asking_again_says_that_the_last_ones_are_dealt_with(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        first = await x.mailbox.check()
        assert first.must_answer == (first.messages[0].id,)
        assert (await x.mailbox.check(handed=first.handed)).messages == ()
        assert await turn_states(hub, "x") == ["passed"]


async def test_what_came_in_meanwhile_is_given_as_the_last_ones_are_dealt_with(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        first = await x.mailbox.check()
        await hub.send("x", "two")
        assert [m.text for m in (await x.mailbox.check(handed=first.handed)).messages] == ["two"]
        await hub.send("x", "three")
        assert [m.text for m in (await x.mailbox.check()).messages] == ["three"]


async def test_a_send_and_a_check_wait_for_one_write_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each costs a sync of the disk, and this is what coding agents do all day. No heartbeat falls in between."""
    async with Hub.open(tmp_path, clock=ManualClock(start=START)) as hub:
        x, y = await comes_in(hub, "x"), await comes_in(hub, "y")
        await y.send("x", "one")
        first = await x.mailbox.check()
        store = store_of(hub)
        writes: list[str] = []
        transact = store.transact

        async def counted(verb: Any, command: Any) -> Any:
            writes.append(type(command).__name__)
            return await transact(verb, command)

        monkeypatch.setattr(store, "transact", counted)
        await y.send("x", "two")
        assert writes == ["Send"]
        assert [m.text for m in (await x.mailbox.check(handed=first.handed)).messages] == ["two"]
        assert writes == ["Send", "Check"]
        states = await turn_states(hub, "x")
        assert states == ["passed", "running"]


async def test_a_new_session_is_given_again_what_nobody_acted_on(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        assert [m.text for m in (await x.mailbox.check(handed=())).messages] == ["one"]
        again = await x.mailbox.check(handed=())
        assert [m.text for m in again.messages] == ["one"]
        assert await turn_states(hub, "x") == ["running"]
        assert (await x.mailbox.check(handed=again.handed)).messages == ()


async def test_no_more_is_handed_out_than_was_asked_for(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        for group in ("one", "two"):
            await hub.conversations.create(group, participants=["x"])
            for number in range(3):
                await hub.post(group, f"@x {group} {number}")
        first = await x.mailbox.check(limit=4)
        assert [m.text for m in first.messages] == ["@x one 0", "@x one 1", "@x one 2"]
        assert first.next == 3
        second = await x.mailbox.check(limit=2)
        assert [m.text for m in second.messages] == ["@x two 1", "@x two 2"]
        [place] = second.earlier
        assert [m.text for m in await x.messages(place.rpartition(":")[0], after=0, limit=1)] == ["@x two 0"]
        assert second.next is None


async def test_a_reply_that_may_not_be_stored_says_so_and_keeps_the_text(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text("[limits]\npair_per_minute = 1\n")
    async with Hub.open(tmp_path) as hub:
        x, y = await comes_in(hub, "x"), await comes_in(hub, "y")
        await x.send("y", "first")
        await y.send("x", "unasked")
        found = await y.mailbox.check()
        with pytest.raises(TurnFailed) as refused:
            await y.mailbox.reply(found.messages[0].id, "too much")
        assert refused.value.facts["rule"] == "pair_limit"
        assert "failed" in await turn_states(hub, "y")


async def test_silence_ends_the_turn_and_a_second_reply_is_one_more_message(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        asked = (await x.mailbox.check()).messages[0]
        assert await x.mailbox.reply(asked.id, "[PASS]") is None
        assert await turn_states(hub, "x") == ["passed"]
        late = await x.mailbox.reply(asked.id, "on second thoughts")
        assert late is not None
        assert (await hub.message(late.id)).reply_to == asked.id


async def test_a_hosted_agent_is_not_handed_messages(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[bob]) as hub:
        with pytest.raises(NotPermitted, match="in its turns"):
            await hub.acting_as("bob").mailbox.check()


async def test_a_person_is_handed_what_it_has_not_read(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[bob]) as hub:
        await hub.ask("bob", "hello")
        first = await hub.mailbox.check(handed=())
        assert [m.text for m in first.messages] == ["noted"]
        assert [m.text for m in (await hub.mailbox.check(handed=())).messages] == ["noted"]
        assert (await hub.mailbox.check(handed=first.handed)).messages == ()


async def test_a_person_with_much_unread_is_handed_all_of_it_oldest_first(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        for number in range(5):
            await hub.conversations.create(f"g{number}", participants=["x"])
            await x.post(f"g{number}", f"m{number}")
        heard: list[str] = []
        handed: tuple[str, ...] = ()
        for left in (3, 1, None):
            found = await hub.mailbox.check(limit=2, handed=handed)
            heard += [m.text for m in found.messages]
            handed = found.handed
            assert found.next == left
        assert heard == ["m0", "m1", "m2", "m3", "m4"]


@pytest.mark.parametrize("handed", [["9" * 5000], ["-1"], [""], ["x:y"]])
async def test_what_nobody_was_handed_is_nothing_to_anybody(tmp_path: Path, handed: list[str]) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        assert len((await x.mailbox.check(handed=handed)).messages) == 1


# --- waiting ---------------------------------------------------------------------------------------------


@pytest.mark.req("J-02")
async def test_a_wait_ends_with_the_message_that_comes(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        waiting = asyncio.ensure_future(x.mailbox.wait(timeout=30))
        await _reached(hub, "x", "live")
        await hub.send("x", "now")
        found = await asyncio.wait_for(waiting, PATIENCE)
        assert [m.text for m in found.messages] == ["now"]
        await _reached(hub, "x", "on-demand")


async def test_a_wait_ends_empty_when_its_time_is_over(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        assert (await asyncio.wait_for(x.mailbox.wait(timeout=0.05), PATIENCE)).messages == ()


async def test_of_two_waits_of_one_agent_one_gets_the_message(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        waits = [asyncio.ensure_future(x.mailbox.wait(timeout=1)) for _ in range(2)]
        await _reached(hub, "x", "live")
        await hub.send("x", "now")
        found = [len((await wait).messages) for wait in waits]
        assert sorted(found) == [0, 1]


async def test_a_wait_that_is_broken_off_loses_nothing(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        waiting = asyncio.ensure_future(x.mailbox.wait(timeout=30))
        await _reached(hub, "x", "live")
        waiting.cancel()
        await asyncio.wait([waiting])
        await hub.send("x", "now")
        assert [m.text for m in (await x.mailbox.check()).messages] == ["now"]


async def test_who_goes_while_a_message_is_being_taken_gives_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        store, transact = store_of(hub), store_of(hub).transact
        taken = asyncio.Event()

        async def slowly(verb: Any, command: Any) -> Any:
            done = await transact(verb, command)
            if isinstance(command, check.Check) and done:
                taken.set()
                await asyncio.sleep(0.05)
            return done

        monkeypatch.setattr(store, "transact", slowly)
        waiting = asyncio.ensure_future(x.mailbox.wait(timeout=30))
        await _reached(hub, "x", "live")
        await hub.send("x", "now")
        await asyncio.wait_for(taken.wait(), PATIENCE)
        waiting.cancel()
        await asyncio.wait([waiting])
        await until(lambda: turn_states(hub, "x"), lambda states: states in (["owed"], ["ready"]))
        assert [m.text for m in (await x.mailbox.check()).messages] == ["now"]


async def test_who_waits_is_answered_when_the_doors_close(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        waiting = asyncio.ensure_future(x.mailbox.wait(timeout=30))
        await _reached(hub, "x", "live")
        hub.agents.dismiss()
        assert (await asyncio.wait_for(waiting, PATIENCE)).messages == ()


async def test_a_message_stored_by_another_process_ends_a_wait(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as here, Hub.open(tmp_path) as there:
        x = await comes_in(here, "x")
        waiting = asyncio.ensure_future(x.mailbox.wait(timeout=30))
        await _reached(here, "x", "live")
        await there.send("x", "from afar")
        assert [m.text for m in (await asyncio.wait_for(waiting, PATIENCE)).messages] == ["from afar"]


async def _reached(hub: Hub, name: str, word: str) -> None:
    await until(lambda: hub.agents.get(name), lambda who: who.reachability == word)


# --- woken by hooks --------------------------------------------------------------------------------------


@pytest.mark.req("J-13")
async def test_what_hooks_handed_over_is_not_handed_over_again_by_the_sessions_server(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        told = await hub.agents.hooked("x", "UserPromptSubmit")
        assert [m.text for m in told.found.messages] == ["one"]
        await hub.agents.hook_said("x", handed=told.found.handed)
        assert (await x.mailbox.check(handed=())).messages == (), "the model has read it"
        assert await turn_states(hub, "x") == ["passed"]


@pytest.mark.req("J-13")
async def test_a_new_session_is_given_again_what_hooks_gave_the_last_one(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        told = await hub.agents.hooked("x", "Stop")
        await hub.agents.hook_said("x", handed=told.found.handed)
        assert (await hub.agents.hooked("x", "SessionStart")).waiting == 1
        assert [m.text for m in (await x.mailbox.check(handed=())).messages] == ["one"]
        assert (await hub.agents.hooked("x", "Stop")).found.messages == (), "it asked, and has read it"
        assert await turn_states(hub, "x") == ["passed"]


@pytest.mark.req("J-13")
@pytest.mark.parametrize("asks", ["hook", "server"])
async def test_what_a_hook_was_given_and_never_said_is_given_again(tmp_path: Path, asks: str) -> None:
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.send("x", "one")
        for _ in range(2):
            told = await hub.agents.hooked("x", "UserPromptSubmit")
            assert [m.text for m in told.found.messages] == ["one"]
        again = (
            await x.mailbox.check(handed=())
            if asks == "server"
            else (await hub.agents.hooked("x", "Stop")).found
        )
        assert [m.text for m in again.messages] == ["one"]
        await hub.agents.hook_said("x", handed=again.handed)
        await hub.agents.hooked("x", "Stop", again=True)
        assert (await hub.agents.hooked("x", "UserPromptSubmit")).found.messages == ()
        assert await turn_states(hub, "x") == ["passed"]


@pytest.mark.req("J-13")
async def test_after_a_new_line_to_the_client_hooks_give_again_what_went_over_the_old_one(
    tmp_path: Path,
) -> None:
    """A hub that was killed as it answered: nobody knows whether the answer came through."""
    async with Hub.open(tmp_path) as hub:
        x = await comes_in(hub, "x")
        await hub.agents.hooked("x", "SessionStart")
        await hub.send("x", "one")
        assert [m.text for m in (await x.mailbox.check(handed=())).messages] == ["one"]
        async with hub.agents.session("x"):
            told = await hub.agents.hooked("x", "Stop")
            assert [m.text for m in told.found.messages] == ["one"]


async def test_a_moment_that_no_session_has_is_refused(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await comes_in(hub, "x")
        with pytest.raises(BadValue, match="unknown session event"):
            await hub.agents.hooked("x", "Halt")


# --- coming and going ------------------------------------------------------------------------------------


@pytest.mark.req("J-01")
async def test_name_and_inbox_survive_a_restart(tmp_path: Path) -> None:
    place = {"client": "claude", "folder": "/home/karl/api"}
    async with Hub.open(tmp_path) as hub:
        who = await hub.agents.arrive("mcp", **place)
        assert (who.name, who.project, who.door, who.kind) == (
            "claude-api",
            "/home/karl/api",
            "mcp",
            "external",
        )
        await hub.agents.rename("claude-api", "janus")
        await hub.send("janus", "still there?")
    async with Hub.open(tmp_path) as hub:
        again = await hub.agents.arrive("mcp", **place)
        assert (again.id, again.name, again.aliases) == (who.id, "janus", ("claude-api",))
        assert [m.text for m in (await hub.acting_as("janus").mailbox.check()).messages] == ["still there?"]


async def test_two_sessions_in_one_folder_are_two_agents_while_both_are_there(tmp_path: Path) -> None:
    place = {"client": "claude", "folder": "/home/karl/api"}
    async with Hub.open(tmp_path) as hub:
        first = await hub.agents.arrive("mcp", **place)
        async with hub.agents.session(first.name):
            second = await hub.agents.arrive("mcp", **place)
        third = await hub.agents.arrive("mcp", **place)
        assert [first.name, second.name, third.name] == ["claude-api", "claude-api-2", "claude-api"]


async def test_who_came_by_a_client_is_told_with_its_folder_and_process(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.arrive("mcp", client="claude", folder="/srv/api", pid=7)
        await hub.agents.arrive("mcp", client="claude", folder="/srv/web")
        await hub.agents.arrive("mcp", client="codex", folder="/srv/api")
        await hub.agents.arrive("mcp", name="zed")
        found = [(each.name, each.folder, each.pid) for each in await hub.agents.arrivals("claude")]
        assert found == [("claude-api", "/srv/api", 7), ("claude-web", "/srv/web", 0)]
        assert [each.name for each in await hub.agents.arrivals("codex", "/srv/api")] == ["codex-api"]
        assert await hub.agents.arrivals("codex", "/srv/web") == []


async def test_whose_process_is_gone_holds_no_name(tmp_path: Path) -> None:
    place = {"client": "codex", "folder": "/srv/web"}
    async with Hub.open(tmp_path) as hub:
        alive = await hub.agents.arrive("mcp", **place, pid=os.getppid())
        beside = await hub.agents.arrive("mcp", **place, pid=os.getpid())
        assert (alive.name, beside.name) == ("codex-web", "codex-web-2")
        dead = await hub.agents.arrive("mcp", client="codex", folder="/srv/api", pid=2**22)
        again = await hub.agents.arrive("mcp", client="codex", folder="/srv/api", pid=os.getpid())
        assert dead.name == again.name == "codex-api"


@pytest.mark.parametrize(
    ("whence", "refusal"),
    [
        ({"name": "user"}, NotPermitted),
        ({"name": "system"}, BadName),
        ({"name": "Not A Name"}, BadName),
        ({"name": 7}, BadValue),
    ],
)
async def test_who_cannot_come_in_is_told_why(tmp_path: Path, whence: dict[str, Any], refusal: Any) -> None:
    async with Hub.open(tmp_path) as hub:
        with pytest.raises(refusal):
            await hub.agents.arrive("mcp", **whence)
        assert [who.name for who in await hub.agents.list()] == []


@pytest.mark.req("M-01", "J-01")
async def test_reach_drops_level_by_level_and_each_drop_is_an_event(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with Hub.open(tmp_path, clock=clock) as hub:
        await hub.agents.arrive("mcp", name="x")
        await hub.agents.seen("x", door="mcp", reach="next-turn")
        start = hub.position

        async def told() -> list[str]:
            events = (await hub.history.past(start, types=["agent.status"])).events
            return [event.body["reachability"] for event in events]

        await clock.advance(29)
        assert (await hub.agents.get("x")).reachability == "next-turn"
        await clock.advance(2)
        assert (await hub.agents.get("x")).reachability == "on-demand"
        await until(told, lambda words: words[-1:] == ["on-demand"])
        await clock.advance(31)
        gone = await hub.agents.get("x")
        assert (gone.reachability, gone.status) == ("away", "offline")
        await until(told, lambda words: words[-2:] == ["on-demand", "away"])


async def test_a_session_keeps_the_reach_that_its_hooks_told_of(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with Hub.open(tmp_path, clock=clock) as hub:
        await hub.agents.arrive("mcp", name="x")
        async with hub.agents.session("x"):
            await hub.agents.seen("x", door="mcp", reach="next-turn")
            for _ in range(6):
                await clock.advance(10)
                now = when(clock.now())
                beaten = await until(lambda: hub.agents.get("x"), partial(_active_at, now))
                assert beaten.reachability == "next-turn"
        assert (await hub.agents.get("x")).reachability == "away"


def _active_at(moment: str | None, who: Agent) -> bool:
    return who.last_active == moment


async def test_only_what_can_be_known_may_be_said_of_reach(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.arrive("mcp", name="x")
        with pytest.raises(BadValue, match="unknown reach"):
            await hub.agents.seen("x", door="mcp", reach="live")


# --- what is told ----------------------------------------------------------------------------------------


@pytest.mark.req("S-13")
async def test_what_agents_write_to_each_other_is_told_as_sent_and_as_received(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        x, y = await comes_in(hub, "x"), await comes_in(hub, "y")
        start = hub.position
        sent = await x.send("y", "hello")
        await hub.send("y", "a person's words are no agent message")
        await y.mailbox.check()
        told = await hub.history.past(start, types=["agent_message.sent", "agent_message.received"])
        assert [(event.type, event.by) for event in told.events] == [
            ("agent_message.sent", "x"),
            ("agent_message.received", "y"),
        ]
        expected = {"from": "x", "to": "y", "link_id": None, "channel": sent.conversation, "message": sent.id}
        assert [event.body for event in told.events] == [expected, expected]
