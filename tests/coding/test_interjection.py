"""Messages that come while a coding CLI works, and what becomes of its sessions and processes."""

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from moot import Hub
from moot.brains.command.project_locks import ProjectLocks
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE, until

EVERY = pytest.mark.parametrize("kind", ["claude", "codex", "acp"])


async def doing(hub: Hub, name: str) -> str:
    return str((await hub.agents.get(name)).activity["state"])


async def direct(hub: Hub, name: str) -> str:
    """The conversation of the owner and an agent."""
    pair = {"user", name}
    found = [
        one.id for one in await hub.conversations.list() if {seat.name for seat in one.participants} == pair
    ]
    return str(found[0])


async def texts(hub: Hub, where: str) -> list[tuple[str, str]]:
    return [
        (one.sender, one.text) for one in await hub.messages(where) if one.sender not in ("tool", "system")
    ]


@pytest.mark.req("J-06")
@EVERY
async def test_3_interrupted_in_mid_text_its_words_are_kept_and_quoted_and_the_session_is_the_same(
    workshop: Workshop, kind: str
) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        await hub.send("arya", workshop.streaming)
        await until(lambda: doing(hub, "arya"), lambda state: state == "streaming")
        where = await direct(hub, "arya")
        await hub.post(where, "! prompt", interrupt=True)
        await hub.settled(where, timeout=PATIENCE)
        said = await hub.messages(where)
    partial = next(one for one in said if one.metadata.get("partial"))
    assert partial.text.startswith("word")
    last = said[-1]
    assert last.sender == "arya"
    assert "You were interrupted" in last.text
    assert "> word" in last.text
    assert "| prompt" in last.text, "the new message is in view"
    assert len(list((workshop.person / ".fake_clis").glob("*.json"))) == 1, "one session"


@pytest.mark.req("J-06")
@EVERY
async def test_3_what_it_had_said_is_quoted_too_if_it_lets_every_message_interrupt_it(
    workshop: Workshop, kind: str
) -> None:
    """Kept in the same decision: the next turn begins at once, and would not see what is written after that."""
    workshop.agent("arya", kind, on_busy="interrupt")
    async with workshop.hub() as hub:
        await hub.send("arya", workshop.streaming)
        await until(lambda: doing(hub, "arya"), lambda state: state == "streaming")
        answer = await hub.ask("arya", "! prompt", timeout=PATIENCE)
        messages = await hub.messages(answer.conversation)
    assert [one.text[:4] for one in messages if one.metadata.get("partial")] == ["word"]
    assert "> word" in answer.text


@pytest.mark.req("J-06")
async def test_4_a_tool_that_runs_is_let_finish_and_its_result_is_written_down_first(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.brains.command.cli_turn.INTERRUPT_GRACE", PATIENCE)
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", f"! run {workshop.waiting}; echo finished\n! hang")
        await until(lambda: doing(hub, "arya"), lambda state: state == "tool")
        label = (await hub.agents.get("arya")).activity["label"]
        where = await direct(hub, "arya")
        await hub.post(where, "! say instead", interrupt=True)
        workshop.enough()
        await hub.settled(where, timeout=PATIENCE)
        said = [(one.sender, one.text.strip()) for one in await hub.messages(where)]
    assert label == "running Bash"
    assert ("tool", "finished") in said
    assert said[-1] == ("arya", "instead")


@pytest.mark.req("J-06")
@EVERY
async def test_4_a_tool_that_does_not_finish_is_stopped_after_its_grace(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The scripted codex leaves its commands running when it is interrupted, as the real one does."""
    monkeypatch.setattr("moot.brains.command.cli_turn.INTERRUPT_GRACE", 0.5)
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        await hub.send("arya", "! run sleep 300")
        await until(lambda: doing(hub, "arya"), lambda state: state == "tool")
        where = await direct(hub, "arya")
        await hub.post(where, "! say instead", interrupt=True)
        await hub.settled(where, timeout=PATIENCE)
        said = [(one.sender, one.text.strip()) for one in await hub.messages(where)]
        assert not [line for line in workshop.processes() if "sleep 300" in line]
    assert ("tool", "stopped before it ended") in said
    assert said[-1] == ("arya", "instead")


@pytest.mark.req("J-06")
async def test_4_a_tool_of_moots_that_waits_for_somebody_does_not_hold_the_turn(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks somebody who does not answer; an interrupt ends that with the turn."""
    monkeypatch.setattr("moot.brains.command.cli_turn.INTERRUPT_GRACE", 0.5)
    monkeypatch.setattr("moot.brains.command.drivers.claude.INTERRUPT_SECONDS", 1.0)
    workshop.agent("arya", "claude")
    workshop.agent("puppet", "claude")
    order = json.dumps({"target": "puppet", "question": "! run sleep 300", "deadline_seconds": 120})
    async with workshop.hub() as hub:
        await hub.send("arya", f"! moot ask {order}")
        await until(lambda: doing(hub, "puppet"), lambda state: state == "tool")
        where = await direct(hub, "arya")
        await hub.post(where, "! say instead", interrupt=True)
        await hub.settled(where, timeout=PATIENCE)
        said = [(one.sender, one.text.strip()) for one in await hub.messages(where)]
    assert said[-1] == ("arya", "instead")


async def test_without_an_interrupt_messages_wait_and_are_one_batch(workshop: Workshop) -> None:
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", f"{workshop.streaming}\n! say and the end")
        await until(lambda: doing(hub, "arya"), lambda state: state == "streaming")
        await hub.send("arya", "the second")
        await hub.send("arya", "! prompt")
        where = await direct(hub, "arya")
        workshop.enough()
        await hub.settled(where, timeout=PATIENCE)
        first, second = [text for sender, text in await texts(hub, where) if sender == "arya"]
    assert first.endswith("and the end")
    assert "the second" in second


@EVERY
async def test_6_a_cli_that_is_killed_is_resumed_once_and_told_that_it_was_cut_off(
    workshop: Workshop, kind: str
) -> None:
    flag = workshop.root / "died"
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        await hub.ask("arya", "! say hello", timeout=PATIENCE)
        await hub.send("arya", f"! run test -e {flag} || (touch {flag}; kill -9 $PPID)\n! prompt")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        answer = (await hub.messages(where))[-1]
    assert answer.sender == "arya"
    assert "You were cut off in the middle of this turn" in answer.text or "I am here" in answer.text


async def test_6_it_is_never_tried_a_third_time(workshop: Workshop) -> None:
    """It forgets its sessions, so that it is told the same again, and dies of it again."""
    workshop.script("fakeacp", f'exec "{sys.executable}" -m moot.testing.fake_cli.run acp --no-resume')
    workshop.agent("arya", "acp")
    async with workshop.hub() as hub:
        await hub.send("arya", "! die")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        notices = [one.text for one in await hub.messages(where) if one.sender == "system"]
    assert len(notices) == 1
    assert "could not answer" in notices[0]


@EVERY
async def test_6_a_session_that_was_deleted_is_begun_anew_with_the_whole_window(
    workshop: Workshop, kind: str
) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        await hub.ask("arya", "! say the word is kestrel", timeout=PATIENCE)
    for kept in (workshop.person / ".fake_clis").glob("*.json"):
        kept.unlink()
    async with workshop.hub() as hub:
        answer = await hub.ask("arya", "! prompt", timeout=PATIENCE)
    assert "the word is kestrel" in answer.text
    assert "You said:" in answer.text


@EVERY
async def test_a_session_is_resumed_after_a_restart_with_only_what_is_new(
    workshop: Workshop, kind: str
) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        await hub.ask("arya", "! say the word is kestrel", timeout=PATIENCE)
    async with workshop.hub() as hub:
        answer = await hub.ask("arya", "! prompt", timeout=PATIENCE)
    assert "kestrel" not in answer.text
    assert "New since your last turn" in answer.text
    [kept] = (workshop.person / ".fake_clis").glob("*.json")
    assert len(json.loads(kept.read_text())["prompts"]) == 2


async def test_8_nothing_of_the_environment_that_is_not_on_the_list_reaches_a_cli(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = ("SECRET_TOKEN", "ANTHROPIC_API_KEY", "MOOT_TOKEN_X", "CLAUDECODE")
    for name in (*planted, "WANTED"):
        monkeypatch.setenv(name, "planted")
    workshop.agent("arya", "claude", environment=["WANTED"])
    acts = "\n".join(f"! env {name}\n! say ;" for name in (*planted, "WANTED", "PATH"))
    async with workshop.hub() as hub:
        answer = await hub.ask("arya", acts, timeout=PATIENCE)
        lines = workshop.processes()
    assert answer.text.count("is not set") == 4
    assert "WANTED is set" in answer.text
    assert "PATH is set" in answer.text
    assert not [line for line in lines if "planted" in line or "moot_" in line]


async def test_10_a_provider_that_fails_is_one_notice_and_no_message(workshop: Workshop) -> None:
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", "! fail 401 the key is wrong")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        said = await hub.messages(where)
    assert [one.sender for one in said] == ["user", "system"]
    assert "could not answer: claude: API Error: 401 the key is wrong" in said[-1].text


@EVERY
async def test_14_a_reply_by_tool_to_what_it_answers_is_the_one_answer(workshop: Workshop, kind: str) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        await hub.ask("arya", "! say hello", timeout=PATIENCE)
        where = await direct(hub, "arya")
        number = (await hub.messages(where))[-1].seq + 1
        text = json.dumps({"message_id": f"{where}:{number}", "text": "by tool"})
        await hub.post(where, f"! moot reply {text}\n! say and said as well")
        await hub.settled(where, timeout=PATIENCE)
        said = await texts(hub, where)
    assert said[-1] == ("arya", "by tool")
    assert [one for one in said if "said as well" in one[1] and one[0] == "arya"] == []


@pytest.mark.req("J-08")
async def test_17_of_twenty_agents_two_run_at_once_and_all_answer(workshop: Workshop) -> None:
    workshop.head = "[coding]\nmax_processes = 2"
    names = [f"agent{number}" for number in range(20)]
    for name in names:
        workshop.agent(name, "claude")
    most, waits, blocked = 0, set(), []

    async def beat() -> None:
        """What the loop's own thread does between two beats: waiting for a core of this machine is not counted."""
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0.005)
            blocked.append(time.thread_time() - begun)

    async def watch(hub: Hub) -> None:
        nonlocal most
        while True:
            await asyncio.sleep(0.02)
            lines = await asyncio.to_thread(workshop.processes)
            most = max(most, sum("fake_cli" in line and "keeper.py" not in line for line in lines))
            for agent in await hub.agents.list():
                if "waiting for a free process" in agent.activity["label"]:
                    waits.add(agent.name)

    async with workshop.hub() as hub:
        watching = [asyncio.create_task(watch(hub)), asyncio.create_task(beat())]
        answers = await asyncio.gather(
            *(hub.ask(name, f"! say I am {name}", timeout=3 * PATIENCE) for name in names)
        )
        for task in watching:
            task.cancel()
    assert [answer.text for answer in answers] == [f"I am {name}" for name in names]
    assert most <= 2
    assert len(waits) > 5, "that they wait is shown"
    assert sorted(blocked)[int(len(blocked) * 0.99)] < 0.05


async def test_17_a_process_that_rests_is_ended_after_its_time(workshop: Workshop) -> None:
    workshop.head = "[coding]\nidle_minutes = 0.003"
    workshop.agent("arya", "claude")

    async with workshop.hub() as hub:
        await hub.ask("arya", "! say hello", timeout=PATIENCE)
        await until(workshop.left, lambda lines: not lines)
        assert (await hub.ask("arya", "! say again", timeout=PATIENCE)).text == "again"


async def test_18_a_template_command_answers_and_its_flood_is_bounded(workshop: Workshop) -> None:
    workshop.agent("cat", "command:sed -n /^kestrel/p")
    workshop.agent("yes", "command:yes")
    async with workshop.hub() as hub:
        assert (await hub.ask("cat", "kestrel on stdin", timeout=PATIENCE)).text.strip() == "kestrel on stdin"
        await hub.send("yes", "go")
        where = await direct(hub, "yes")
        await hub.settled(where, timeout=PATIENCE)
        said = await hub.messages(where)
    assert "wrote more than 4 MiB and was stopped" in said[-1].text


@pytest.mark.req("J-06")
@EVERY
async def test_a_message_elsewhere_interrupts_one_that_wants_it_so(workshop: Workshop, kind: str) -> None:
    """It works in one folder, and does one thing at a time: a message of another agent does not wait for its end."""
    workshop.agent("janus", "claude")
    workshop.agent("puppet", kind, on_busy="interrupt")
    async with workshop.hub() as hub:
        await hub.send("puppet", workshop.streaming)
        await until(lambda: doing(hub, "puppet"), lambda state: state == "streaming")
        order = {"target": "puppet", "message": "! say the port is 5173"}
        await hub.ask("janus", f"! moot send_to_agent {json.dumps(order)}", timeout=PATIENCE)
        pair = next(
            one.id
            for one in await hub.conversations.list()
            if {seat.name for seat in one.participants} == {"janus", "puppet"}
        )
        said = await until(lambda: texts(hub, pair), lambda told: len(told) > 1)
        own = await hub.messages(await direct(hub, "puppet"))
    assert ("puppet", "the port is 5173") in said
    assert [one for one in own if one.metadata.get("partial")]


@pytest.mark.req("J-06")
async def test_by_default_a_message_elsewhere_waits(workshop: Workshop) -> None:
    workshop.agent("puppet", "claude")
    async with workshop.hub() as hub:
        await hub.send("puppet", f"{workshop.streaming}\n! say and the end")
        await until(lambda: doing(hub, "puppet"), lambda state: state == "streaming")
        there = await hub.conversations.create("there", participants=["puppet"])
        await hub.post(there.id, "@puppet\n! say after that")
        await until(lambda: hub.turns(agent="puppet"), lambda turns: len(turns) > 1)
        workshop.enough()
        await hub.settled(timeout=PATIENCE)
        turns = sorted(await hub.turns(agent="puppet"), key=lambda turn: turn.started_at or "")
        own = await hub.messages(await direct(hub, "puppet"))
    assert own[-1].text.endswith("and the end")
    assert (turns[0].ended_at or "") <= (turns[1].started_at or ""), "one thing at a time"


@pytest.mark.req("J-06")
@pytest.mark.parametrize("above", [True, False], ids=["superior", "peer"])
async def test_a_message_elsewhere_by_a_superior_alone_interrupts_one_that_wants_it_so(
    workshop: Workshop, above: bool
) -> None:
    workshop.agent("janus", "claude")
    workshop.agent("puppet", "claude", on_busy="interrupt-by-superior")
    relation = "superior" if above else "peer"
    async with workshop.hub() as hub:
        await hub.links.create("janus", "puppet", relationship=relation)
        there = await hub.conversations.create("there", participants=["puppet"])
        await hub.post(there.id, f"@puppet\n{workshop.streaming}")
        await until(lambda: doing(hub, "puppet"), lambda state: state == "streaming")
        order = {"target": "puppet", "message": "! say at once"}
        await hub.ask("janus", f"! moot send_to_agent {json.dumps(order)}", timeout=PATIENCE)

        async def said() -> list[bool]:
            """Of each answer there, whether it was cut short."""
            answers = [one for one in await hub.messages(there.id) if one.sender == "puppet"]
            return [bool(one.metadata.get("partial")) for one in answers]

        if not above:
            workshop.enough()
        assert (await until(said, bool))[0] is above


async def test_two_agents_in_one_folder_work_one_after_the_other(workshop: Workshop) -> None:
    trace, go_on = (workshop.project("shared") / name for name in ("trace", "go_on"))
    for name in ("arya", "bran"):
        workshop.agent(name, "claude", "shared")
    acts = f"! run echo in >> {trace}; until [ -e {go_on} ]; do sleep 0.05; done; echo out >> {trace}"
    async with workshop.hub() as hub:
        for name in ("arya", "bran"):
            await hub.send(name, acts)

        async def labels() -> list[str]:
            return [agent.activity["label"] for agent in await hub.agents.list()]

        await until(labels, lambda found: any("waiting for another agent" in one for one in found), PATIENCE)
        go_on.touch()
        await hub.settled(timeout=PATIENCE)
    assert trace.read_text().split() == ["in", "out", "in", "out"]


async def test_an_agent_that_asks_another_in_its_own_folder_is_answered(workshop: Workshop) -> None:
    for name in ("arya", "bran"):
        workshop.agent(name, "claude", "shared")
    asked = json.dumps({"target": "bran", "question": "! say I am here"})
    async with workshop.hub() as hub:
        answer = await hub.ask("arya", f"! moot ask {asked}", timeout=PATIENCE)
    assert "I am here" in answer.text


async def test_a_folder_that_another_process_works_in_is_waited_for(tmp_path: Path) -> None:
    """The lock is the kernel's, so that it goes with whoever holds it."""
    first, second = ProjectLocks(tmp_path / "run"), ProjectLocks(tmp_path / "run")
    waited = asyncio.Event()

    async def on_wait(reason: str) -> None:
        waited.set()

    async def enter() -> None:
        async with second.alone_in(tmp_path, on_wait):
            pass

    async with first.alone_in(tmp_path, on_wait):
        entering = asyncio.create_task(enter())
        await asyncio.wait_for(waited.wait(), PATIENCE)
        assert not entering.done()
    await asyncio.wait_for(entering, PATIENCE)
