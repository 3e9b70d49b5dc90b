"""Work that is delegated: only down a link, worked on beside the talk, and its end always comes home, once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import Braked, Conflict, NotFound, NotPermitted
from moot.model.records.task import TaskState
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.postgres import empty_database
from tests.support.waiting import until

pytestmark = pytest.mark.req("S-10", "M-05")
START = 1_800_000_000.0


def saying(name: str, answer: str | None) -> Any:
    @agent(name)
    async def think(turn: Any) -> str | None:
        return answer

    return think


def manager(heard: list[str], *, conversations: list[str] | None = None) -> Any:
    """Delegates what people ask of it, and writes down what it hears of it."""

    @agent("manager")
    async def think(turn: Any) -> str:
        heard.append(turn.text)
        if conversations is not None:
            conversations.append(turn.conversation.id)
        if turn.trigger.kind == "human":
            await turn.hub.delegate("support", f"look into: {turn.text}")
            return "I will see to it"
        return f"done: {turn.text}"

    return think


async def ended(hub: Hub, task: str) -> Any:
    return await until(lambda: hub.tasks.get(task), lambda found: found.state not in ("open", "working"))


async def test_a_task_is_worked_on_in_its_branch_and_its_result_wakes_who_asked_where_it_asked(
    tmp_path: Path,
) -> None:
    heard: list[str] = []
    where: list[str] = []
    cast = [manager(heard, conversations=where), saying("support", "two tickets are open")]
    async with Hub.open(tmp_path, agents=cast) as hub:
        link = await hub.links.create("manager", "support", relationship="superior")
        await hub.send("manager", "how many tickets?")
        [task] = await until(hub.tasks.list, bool)
        task = await ended(hub, task.id)
        await hub.settled(timeout=40)
        assert (task.by, task.to, task.state, task.result) == (
            "manager",
            "support",
            "done",
            "two tickets are open",
        )
        direct = (await hub.conversations.implicit(["manager"])).id
        assert len(heard) == 2
        assert "two tickets are open" in heard[1]
        assert where == [direct, direct]
        branch = await hub.conversations.get(task.conversation)
        assert (branch.kind, branch.archived) == ("task", True)
        reported = (await hub.messages(link.channel))[-1]
        assert (reported.sender, reported.intent, reported.text) == (
            "support",
            "report",
            "two tickets are open",
        )
        assert reported.metadata["task"] == task.id
        notice, words, reply = (await hub.messages(direct))[-3:]
        assert (notice.kind, notice.text) == ("system", f"[support finished the task {task.id}]")
        assert (words.sender, words.text) == ("support", "two tickets are open")
        assert reply.text == "done: two tickets are open"


async def test_who_delegates_goes_on_at_once_and_the_channel_stays_free(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[saying("manager", "[PASS]")]) as hub:
        await hub.agents.create("support")
        link = await hub.links.create("manager", "support", relationship="superior")
        task = await hub.acting_as("manager").delegate("support", "take your time")
        assert task.state == "open"
        receipt = await hub.acting_as("manager").send("support", "and how are you?")
        assert receipt.conversation == link.channel != task.conversation


@pytest.mark.parametrize(
    ("relationship", "direction", "says"),
    [
        ("peer", "two_way", "are peers"),
        ("subordinate", "two_way", "b is superior of a"),
    ],
)
async def test_only_a_superior_delegates(
    tmp_path: Path, relationship: str, direction: str, says: str
) -> None:
    async with Hub.open(tmp_path, agents=[saying("a", None), saying("b", "ok")]) as hub:
        with pytest.raises(NotPermitted, match="are not linked"):
            await hub.acting_as("a").delegate("b", "do it")
        await hub.links.create("a", "b", relationship=relationship, direction=direction)
        with pytest.raises(NotPermitted, match=says) as refused:
            await hub.acting_as("a").delegate("b", "do it")
        assert "only a superior may delegate" in refused.value.detail
        assert await hub.tasks.list() == []
        assert await hub.conversations.list(kind="task") == []


async def test_people_delegate_to_anybody_and_read_how_it_ended(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[saying("dev", "fixed in 1.2")]) as hub:
        direct = await hub.conversations.implicit(["dev"])
        task = await hub.delegate("dev", "fix it", conversation=direct.id)
        task = await ended(hub, task.id)
        assert (task.state, task.result) == ("done", "fixed in 1.2")
        last = (await hub.messages(direct.id))[-1]
        assert (last.sender, last.text, last.metadata["task"]) == ("dev", "fixed in 1.2", task.id)


@agent("broken")
async def broken(turn: Any) -> str:
    raise RuntimeError("the forge is cold")


@pytest.mark.parametrize(
    ("worker", "state", "result"),
    [
        (broken, "failed", "the forge is cold"),
        (saying("broken", "[PASS]"), "failed", "said nothing"),
    ],
    ids=["an error", "silence"],
)
async def test_failure_and_silence_come_home(tmp_path: Path, worker: Any, state: str, result: str) -> None:
    heard: list[str] = []

    @agent("boss")
    async def boss(turn: Any) -> str:
        heard.append(turn.text)
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[boss, worker]) as hub:
        await hub.links.create("boss", "broken", relationship="superior")
        task = await ended(hub, (await hub.acting_as("boss").delegate("broken", "forge it")).id)
        await hub.settled(timeout=40)
        assert task.state == state
        assert result in task.result
        assert len(heard) == 1
        assert "could not do the task" in heard[0]


async def test_a_deadline_that_passes_while_nobody_is_there_is_told_at_the_next_start(tmp_path: Path) -> None:
    heard: list[str] = []
    clock = ManualClock(start=START)
    async with Hub.open(tmp_path, clock=clock) as hub:
        for name in ("boss", "worker"):
            await hub.agents.create(name)
        await hub.links.create("boss", "worker", relationship="superior")
        task = await hub.acting_as("boss").delegate("worker", "by noon", deadline_seconds=60)
    later = ManualClock(start=START + 3600)

    @agent("boss")
    async def boss(turn: Any) -> str:
        heard.append(turn.text)
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[boss], clock=later) as hub:
        await later.advance(1)
        await until(lambda: hub.tasks.get(task.id), lambda found: found.state == "expired")
        await hub.settled(timeout=40)
        assert len(heard) == 1
        assert "expired" in heard[0]


async def test_progress_is_a_note_and_the_worker_ends_it_when_it_says_so(tmp_path: Path) -> None:
    @agent("worker")
    async def worker(turn: Any) -> str:
        if turn.reason == "task":
            task = turn.trigger.metadata["task"]
            await turn.hub.tasks.update(task, "working", note="half of it")
            return "I am at it"
        [task] = await turn.hub.tasks.list(state="working")
        await turn.hub.tasks.update(task.id, "done", result="all of it")
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[saying("boss", "[PASS]"), worker]) as hub:
        await hub.links.create("boss", "worker", relationship="superior")
        task = await hub.acting_as("boss").delegate("worker", "do both halves")
        await hub.settled(timeout=40)
        now = await hub.tasks.get(task.id)
        assert (now.state, now.note, now.result) == ("working", "half of it", None)
        await hub.acting_as("boss").post(task.conversation, "and?")
        task = await ended(hub, task.id)
        assert (task.state, task.result) == ("done", "all of it")


@pytest.mark.parametrize("cut", ["off", "deleted"])
async def test_a_link_that_is_cut_calls_its_tasks_off(tmp_path: Path, cut: str) -> None:
    async with Hub.open(tmp_path, agents=[saying("boss", "[PASS]")]) as hub:
        await hub.agents.create("worker")
        link = await hub.links.create("boss", "worker", relationship="superior")
        task = await hub.acting_as("boss").delegate("worker", "some time")
        if cut == "off":
            await hub.links.update(link.id, enabled=False)
        else:
            await hub.links.delete(link.id)
        ended_task = await hub.tasks.get(task.id)
        assert (ended_task.state, ended_task.result) == ("cancelled", "its link was removed or disabled")
        assert [turn.state for turn in await hub.turns(agent="worker")] == ["cancelled"]


async def test_a_task_ends_once_and_only_by_who_may(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[saying("boss", "[PASS]"), saying("other", "[PASS]")]) as hub:
        await hub.agents.create("worker")
        await hub.links.create("boss", "worker", relationship="superior")
        task = await hub.acting_as("boss").delegate("worker", "do it")
        with pytest.raises(NotFound):
            await hub.acting_as("other").tasks.update(task.id, "done", result="me!")
        with pytest.raises(NotPermitted):
            await hub.acting_as("boss").tasks.update(task.id, "done", result="I say so")
        with pytest.raises(NotPermitted):
            await hub.acting_as("worker").tasks.update(task.id, "cancelled")
        assert (await hub.acting_as("other").tasks.list()) == []
        await hub.acting_as("worker").tasks.update(task.id, "done", result="there")
        with pytest.raises(Conflict, match="already ended"):
            await hub.tasks.update(task.id, "cancelled")


async def test_a_task_that_gets_no_turn_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[saying("boss", "[PASS]"), saying("worker", "x")]) as hub:
        await hub.links.create("boss", "worker", relationship="superior")
        await hub.agents.pause("worker")
        with pytest.raises(Braked, match="is paused"):
            await hub.acting_as("boss").delegate("worker", "do it")
        assert await hub.tasks.list() == []
        assert await hub.conversations.list(kind="task") == []


async def test_work_is_handed_further_down_and_comes_back_up(tmp_path: Path) -> None:
    """manager → support → dev: each hears the end of what it delegated, where it delegated it."""
    heard: dict[str, list[str]] = {"manager": [], "support": []}

    @agent("manager")
    async def top(turn: Any) -> str:
        heard["manager"].append(turn.text)
        if turn.trigger.kind == "human":
            await turn.hub.delegate("support", "the customer's question")
            return "one moment"
        return "thank you"

    @agent("support")
    async def middle(turn: Any) -> str:
        heard["support"].append(turn.text)
        [mine] = await turn.hub.tasks.list(state="working", to="support")
        if turn.reason == "task" and turn.trigger.sender == "manager":
            await turn.hub.delegate("dev", "the hard part")
            await turn.hub.tasks.update(mine.id, "working", note="dev is at it")
            return "asked dev"
        await turn.hub.tasks.update(mine.id, "done", result=f"dev says: {turn.text}")
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[top, middle, saying("dev", "it is a typo")]) as hub:
        await hub.links.create("manager", "support", relationship="superior")
        await hub.links.create("support", "dev", relationship="superior")
        await hub.send("manager", "why does it fail?")
        tasks = await until(
            hub.tasks.list, lambda found: len(found) == 2 and all(t.state == "done" for t in found)
        )
        await hub.settled(timeout=40)
        assert [(task.by, task.to) for task in tasks] == [("manager", "support"), ("support", "dev")]
        assert "it is a typo" in heard["manager"][-1]
        assert len(heard["manager"]) == len(heard["support"]) == 2


@pytest.mark.parametrize(
    ("store", "after_the_first"),
    [("sqlite", "one part is there"), ("sqlite", "[PASS]"), ("postgresql", "one part is there")],
)
async def test_a_task_in_two_parts_ends_with_the_second(
    tmp_path: Path, store: str, after_the_first: str
) -> None:
    if store == "postgresql":
        (tmp_path / "moot.toml").write_text(f'[store]\nurl = "{await empty_database()}"\n', encoding="utf-8")
    heard: list[str] = []
    go_on = asyncio.Event()

    @agent("support")
    async def support(turn: Any) -> str:
        if turn.text.startswith("look into"):
            for part in ("first", "second"):
                await turn.hub.delegate(part, "your part")
            return "gave out two parts"
        return after_the_first if "first is done" in turn.text else f"all of it: {turn.text}"

    @agent("second")
    async def second(turn: Any) -> str:
        await go_on.wait()
        return "second is done"

    cast = [manager(heard), support, saying("first", "first is done"), second]
    async with Hub.open(tmp_path, agents=cast) as hub:
        await hub.links.create("manager", "support", relationship="superior")
        for part in ("first", "second"):
            await hub.links.create("support", part, relationship="superior")
        await hub.send("manager", "both")
        whole = (await until(hub.tasks.list, lambda found: len(found) == 3))[0]
        turns = lambda: hub.turns(conversation=whole.conversation)  # noqa: E731
        await until(turns, lambda found: len([turn for turn in found if turn.ended_at]) == 2)
        assert (await hub.tasks.get(whole.id)).state == "working"
        go_on.set()
        assert (await ended(hub, whole.id)).result == "all of it: second is done"
        await hub.settled(timeout=40)
    assert heard[1:] == ["all of it: second is done"]


async def test_a_long_list_of_tasks_comes_in_pages_the_newest_first(tmp_path: Path) -> None:
    clock = ManualClock(START)
    async with Hub.open(tmp_path, clock=clock) as hub:
        await hub.agents.create("support")
        made = []
        for number in range(5):
            made.append((await hub.delegate("support", f"number {number}")).id)
            await clock.advance(1)
        newest = await hub.tasks.list(limit=2)
        assert [task.id for task in newest] == made[3:]
        older = await hub.tasks.list(limit=2, before=newest[0].id, to="support", state="unfinished")
        assert [task.id for task in older] == made[1:3]
        assert [task.id for task in await hub.tasks.list(before=older[0].id)] == made[:1]
        with pytest.raises(NotFound):
            await hub.tasks.list(before="t-nowhere")


async def test_a_task_that_moves_on_while_tasks_are_listed_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States are read one after the other, and between any two of them something happens."""
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("dev", external=True)
        store = store_of(hub)
        records = store.records
        for moment in range(len(TaskState)):
            given = await hub.delegate("dev", f"work {moment}")
            looks = 0

            async def moving(lookup: Any, given: Any = given, moment: int = moment) -> Any:
                nonlocal looks
                found, looks = await records(lookup), looks + 1
                if looks == moment + 1:
                    monkeypatch.setattr(store, "records", records)
                    await hub.acting_as("dev").tasks.update(given.id, "done", result="so it is")
                    monkeypatch.setattr(store, "records", moving)
                return found

            monkeypatch.setattr(store, "records", moving)
            listed = [task.id for task in await hub.tasks.list()]
            monkeypatch.setattr(store, "records", records)
            assert listed.count(given.id) == 1, moment
