"""Questions and tasks that say what the answer has to look like: who answers otherwise is told so, and who asked."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import BadValue, Conflict, TurnFailed, WouldDeadlock
from tests.support.waiting import until

pytestmark = pytest.mark.req("M-05")
COUNT = {"type": "object", "properties": {"open": {"type": "integer"}}, "required": ["open"]}


def answering(name: str, *answers: str, given: list[list[str]] | None = None) -> Any:
    """Says one of these after the other; notes what is new to it each time."""
    left = list(answers)

    @agent(name)
    async def think(turn: Any) -> str:
        if given is not None:
            given.append([message.text for message in turn.new])
        return left.pop(0)

    return think


async def test_an_answer_that_fits_carries_its_value(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[answering("desk", '```json\n{"open": 2}\n```')]) as hub:
        answer = await hub.ask("desk", "how many?", shape=COUNT, timeout=40)
        assert answer.metadata["answer"] == {"open": 2}
        question = await hub.message(f"{answer.conversation}:1")
        assert question.metadata["shape"] == COUNT


async def test_who_answers_otherwise_is_told_once_what_is_expected(tmp_path: Path) -> None:
    given: list[list[str]] = []
    async with Hub.open(tmp_path, agents=[answering("desk", "two", '{"open": 2}', given=given)]) as hub:
        answer = await hub.ask("desk", "how many?", shape=COUNT, timeout=40)
        assert (answer.text, answer.metadata["answer"]) == ('{"open": 2}', {"open": 2})
        said = await hub.messages(answer.conversation)
        assert [message.text for message in said][:2] == ["how many?", "two"]
        assert said[1].metadata["partial"]
        assert given[0] == ["how many?"]
        assert given[1][0] == "how many?"
        assert "it is not JSON" in given[1][1]
        assert '"required":["open"]' in given[1][1]
        assert [turn.state for turn in await hub.turns(agent="desk")] == ["cancelled", "said"]


async def test_who_asked_is_told_what_was_expected_and_what_was_said(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[answering("desk", "two", "I said two", "free")]) as hub:
        with pytest.raises(TurnFailed, match="does not fit what was asked for") as failed:
            await hub.ask("desk", "how many?", shape=COUNT, timeout=40)
        assert failed.value.facts["expected"] == COUNT
        assert failed.value.facts["answer"] == "I said two"
        assert "I said two" in failed.value.detail
        [_, turn] = await hub.turns(agent="desk")
        assert (turn.state, (await hub.turn(turn.id)).kept) == ("failed", "I said two")
        assert (await hub.ask("desk", "and now?", timeout=40)).text == "free", "the next question is free"


async def test_an_agent_that_asks_hears_the_refusal_and_a_ring_is_still_seen(tmp_path: Path) -> None:
    """The asker goes on waiting while the other one is asked again: asked back meanwhile, it would close a ring."""
    rings: list[list[str]] = []

    @agent("desk")
    async def desk(turn: Any) -> str:
        if len(turn.new) == 1:
            return "two"
        try:
            await turn.hub.ask("boss", "what do you mean?", timeout=40)
        except WouldDeadlock as refused:
            rings.append(refused.facts["ring"])
        return '{"open": 2}'

    @agent("boss")
    async def boss(turn: Any) -> str:
        return str((await turn.hub.ask("desk", "how many?", shape=COUNT, timeout=40)).metadata["answer"])

    async with Hub.open(tmp_path, agents=[desk, boss]) as hub:
        assert (await hub.ask("boss", "go", timeout=40)).text == "{'open': 2}"
        assert rings == [["desk", "boss", "desk"]]


async def test_agents_choose_too(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[answering("desk", "Not today.", "perhaps", "hm")]) as hub:
        answer = await hub.ask("desk", "deploy?", choices=["yes", "not today"], timeout=40)
        assert answer.metadata["answer"] == "not today"
        with pytest.raises(TurnFailed, match="not one of"):
            await hub.ask("desk", "deploy?", choices=["yes", "no"], timeout=40)


async def test_where_a_shape_makes_no_sense_it_is_refused_and_nothing_is_asked(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[answering("desk", "x"), answering("other", "x")]) as hub:
        await hub.conversations.create("room", participants=["desk", "other"])
        for attempt, says in (
            (hub.ask("desk", "?", shape={"pattern": "x"}), "pattern"),
            (hub.ask("desk", "?", shape=COUNT, choices=["a"]), "choices and a shape"),
            (hub.acting_as("desk").ask("user", "?", shape=COUNT), "answers in words"),
            (hub.post("room", "@desk ?", intent="ask", shape=COUNT), "in a group"),
            (
                hub.post(f"{(await hub.conversations.implicit(['desk'])).id}", "?", shape=COUNT),
                "only a question",
            ),
        ):
            with pytest.raises(BadValue, match=says):
                await attempt
        assert await hub.turns() == []


async def test_a_key_with_another_shape_is_another_question(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[answering("desk", '{"open": 2}')]) as hub:
        first = await hub.ask("desk", "how many?", shape=COUNT, idempotency_key="k", timeout=40)
        again = await hub.ask("desk", "how many?", shape=COUNT, idempotency_key="k", timeout=40)
        assert again.id == first.id
        with pytest.raises(Conflict):
            await hub.ask("desk", "how many?", shape={"type": "integer"}, idempotency_key="k", timeout=40)


@pytest.mark.parametrize(
    ("answers", "state", "result"),
    [
        (('{"open": 2}',), "done", '{"open": 2}'),
        (("two", '{"open": 2}'), "done", '{"open": 2}'),
        (("two", "I said two"), "failed", "I said two"),
    ],
)
async def test_a_task_may_ask_for_a_shape(
    tmp_path: Path, answers: tuple[str, ...], state: str, result: str
) -> None:
    async with Hub.open(tmp_path, agents=[answering("desk", *answers)]) as hub:
        task = await hub.delegate("desk", "count them", shape=COUNT)
        done = await until(lambda: hub.tasks.get(task.id), lambda found: found.state in ("done", "failed"))
        assert done.state == state
        assert result in str(done.result)


async def test_a_worker_that_goes_on_gives_its_result_in_the_shape_later(tmp_path: Path) -> None:
    @agent("desk")
    async def desk(turn: Any) -> str:
        await turn.hub.tasks.update(turn.trigger.metadata["task"], "working", note="half of it")
        return "I am at it"

    async with Hub.open(tmp_path, agents=[desk]) as hub:
        task = await hub.delegate("desk", "count them", shape=COUNT)
        await hub.settled(timeout=40)
        assert (await hub.tasks.get(task.id)).state == "working"
        worker = hub.acting_as("desk").tasks
        with pytest.raises(BadValue, match="does not fit what was asked for") as refused:
            await worker.update(task.id, "done", result="two")
        assert refused.value.facts["expected"] == COUNT
        assert (await hub.tasks.get(task.id)).state == "working"
        assert (await worker.update(task.id, "done", result='{"open": 2}')).state == "done"


async def test_an_outside_agent_is_told_in_the_answer_to_its_reply_and_replies_again(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("desk", external=True)
        direct = await hub.conversations.implicit(["desk"])
        asked = await hub.post(direct.id, "how many?", intent="ask", shape=COUNT)
        mailbox = hub.acting_as("desk").mailbox
        [message] = (await mailbox.check()).messages
        assert message.metadata["shape"] == COUNT
        with pytest.raises(TurnFailed, match="does not fit: it is not JSON"):
            await mailbox.reply(asked.id, "two")
        answer = await mailbox.reply(asked.id, '{"open": 2}')
        assert answer is not None
        assert (await hub.message(answer.id)).metadata["answer"] == {"open": 2}


async def test_the_same_key_gives_the_same_task(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        for name in ("boss", "desk"):
            await hub.agents.create(name)
        await hub.links.create("boss", "desk", relationship="superior")
        boss = hub.acting_as("boss")
        first = await boss.delegate("desk", "count them", idempotency_key="k")
        assert (await boss.delegate("desk", "count them", idempotency_key="k")).id == first.id
        with pytest.raises(Conflict, match="already used"):
            await boss.delegate("desk", "count others", idempotency_key="k")
        with pytest.raises(Conflict, match="already used"):
            await boss.send("desk", "a message", idempotency_key="k")
        await boss.send("desk", "a message", idempotency_key="m")
        with pytest.raises(Conflict, match="already used"):
            await boss.delegate("desk", "a message", idempotency_key="m")
        assert (await hub.delegate("desk", "count them", idempotency_key="k")).id != first.id, "another's key"
        assert len(await hub.tasks.list()) == 2
        await hub.tasks.update(first.id, "cancelled")
        assert (await boss.delegate("desk", "count them", idempotency_key="k")).state == "cancelled"
