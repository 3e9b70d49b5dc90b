"""Asking inside a home: answers find their question, the asker is not asked back, and time is the clock's."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import NotPermitted, Passed, TimedOut, TurnFailed
from moot.flow import give_up
from moot.flow.send import Send
from moot.model.records.wait import WAITS
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("K-13")
START = 1_800_000_000.0


@agent("calc")
async def calc(turn: Any) -> str:
    return f"{turn.text} = {eval(turn.text)}"


def asker(heard: list[str]) -> Any:
    @agent("asker")
    async def ask(turn: Any) -> str:
        heard.append(turn.text)
        answers = await asyncio.gather(*(turn.hub.ask("calc", f"{n}*{n}", timeout=40) for n in (2, 3)))
        return "; ".join(answer.text for answer in answers)

    return ask


async def test_five_questions_at_once_have_five_answers(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[calc]) as hub:
        answers = await asyncio.gather(*(hub.ask("calc", f"{n}+1", timeout=40) for n in range(5)))
        assert [answer.text for answer in answers] == [f"{n}+1 = {n + 1}" for n in range(5)]
        assert [turn.reason for turn in await hub.turns(agent="calc")] == ["ask"] * 5


async def test_who_awaits_an_answer_gets_no_turn_for_it(tmp_path: Path) -> None:
    heard: list[str] = []
    async with Hub.open(tmp_path, agents=[calc, asker(heard)]) as hub:
        assert (await hub.ask("asker", "please", timeout=40)).text == "2*2 = 4; 3*3 = 9"
        await hub.settled(timeout=40)
        assert heard == ["please"]
        assert [turn.state for turn in await hub.turns(agent="asker")] == ["said"]
        pair = (await hub.turns(agent="calc"))[0].conversation
        answer = (await hub.messages(pair))[-1]
        parts = {part.agent: part for part in (await hub.why(answer.id)).agents}
        assert (parts["asker"].duty, parts["asker"].rule) == ("observes", "ask")
        assert parts["asker"].reason == "asker was waiting for it, as the answer to its question"
        assert (parts["calc"].rule, parts["calc"].reason) == ("self", "calc wrote it")


async def test_the_time_out_is_the_clocks(tmp_path: Path) -> None:
    clock, begun = ManualClock(start=START), asyncio.Event()

    @agent("slow")
    async def slow(turn: Any) -> str:
        begun.set()
        await asyncio.Event().wait()
        return "never"

    async with Hub.open(tmp_path, agents=[slow], clock=clock) as hub:
        asking = asyncio.create_task(hub.ask("slow", "well?", timeout=3600))
        await asyncio.wait_for(begun.wait(), PATIENCE)
        await clock.advance(10)
        assert not asking.done()
        clock.set(START + 3601)
        with pytest.raises(TimedOut, match="slow did not answer within 3600 s"):
            await asyncio.wait_for(asking, PATIENCE)


async def test_who_gives_up_is_called_by_the_answer_after_all(tmp_path: Path) -> None:
    begun, go = asyncio.Event(), asyncio.Event()
    heard: list[str] = []

    @agent("slow")
    async def slow(turn: Any) -> str:
        begun.set()
        await go.wait()
        return "at last"

    @agent("hasty")
    async def hasty(turn: Any) -> str:
        heard.append(turn.text)
        if len(heard) == 1:
            asking = asyncio.create_task(turn.hub.ask("slow", "well?", timeout=3600))
            await begun.wait()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            go.set()
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[slow, hasty]) as hub:
        with pytest.raises(Passed):
            await hub.ask("hasty", "go", timeout=40)
        await hub.settled(timeout=40)
        assert heard == ["go", "at last"]


async def test_an_interrupted_question_is_answered_once_it_goes_on(tmp_path: Path) -> None:
    begun, seen = asyncio.Event(), []

    @agent("arya")
    async def arya(turn: Any) -> str:
        seen.append([message.text for message in turn.new])
        if len(seen) == 1:
            begun.set()
            await asyncio.Event().wait()
        return "bonjour"

    async with Hub.open(tmp_path, agents=[arya]) as hub:
        asking = asyncio.create_task(hub.ask("arya", "greet", timeout=40))
        await asyncio.wait_for(begun.wait(), PATIENCE)
        pair = await hub.conversations.implicit(["arya"])
        await hub.post(pair.id, "in French", interrupt=True)
        assert (await asyncio.wait_for(asking, PATIENCE)).text == "bonjour"
        assert seen == [["greet"], ["greet", "in French"]]


async def test_a_question_stopped_for_good_is_told(tmp_path: Path) -> None:
    begun = asyncio.Event()

    @agent("arya")
    async def arya(turn: Any) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    async with Hub.open(tmp_path, agents=[arya]) as hub:
        asking = asyncio.create_task(hub.ask("arya", "greet", timeout=40))
        await asyncio.wait_for(begun.wait(), PATIENCE)
        pair = await hub.conversations.implicit(["arya"])
        await hub.conversations.stop(pair.id)
        with pytest.raises(TurnFailed, match="it was interrupted"):
            await asyncio.wait_for(asking, PATIENCE)


async def test_questions_to_an_absent_agent_do_not_keep_a_conversation_from_settling(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[[agents]]\nname = "away"\nbrain = "external"\n')
    async with Hub.open(tmp_path) as hub:
        outcomes = await asyncio.gather(
            *(hub.ask("away", str(n), timeout=0.2) for n in range(3)), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [TimedOut] * 3
        await hub.settled(timeout=40)
        assert sorted(turn.state for turn in await hub.turns(agent="away")) == ["owed", "waiting", "waiting"]


async def test_an_answer_heard_together_with_the_interruption_is_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events that come late come together: what counts is how the question ended, not what was heard first."""
    begun, again = asyncio.Event(), asyncio.Event()

    @agent("arya")
    async def arya(turn: Any) -> str:
        if begun.is_set():
            again.set()
            return "at last"
        begun.set()
        await asyncio.Event().wait()
        return ""

    async with Hub.open(tmp_path, agents=[arya]) as hub:
        questions = hub._core.questions
        heard: list[Any] = []
        tell = questions._ended
        monkeypatch.setattr(questions, "_ended", heard.append)
        asking = asyncio.create_task(hub.ask("arya", "greet", timeout=40))
        await asyncio.wait_for(begun.wait(), PATIENCE)
        pair = await hub.conversations.implicit(["arya"])
        await hub.post(pair.id, "go on", interrupt=True)
        await asyncio.wait_for(again.wait(), PATIENCE)
        await hub.settled(timeout=40)
        for turn in heard:
            tell(turn)
        assert (await asyncio.wait_for(asking, PATIENCE)).text == "at last"


async def test_a_deleted_question_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[[agents]]\nname = "away"\nbrain = "external"\n')
    async with Hub.open(tmp_path) as hub:
        pair = await hub.conversations.implicit(["away"])
        await hub.post(pair.id, "some background")
        asking = asyncio.create_task(hub.ask("away", "well?", timeout=500))
        found = await until(lambda: hub.messages(pair.id), lambda found: len(found) == 2)
        await hub.delete(found[-1].id, version=1)
        with pytest.raises(TurnFailed, match="deleted"):
            await asyncio.wait_for(asking, PATIENCE)


async def test_deleting_many_at_once_leaves_the_newest_that_stands_as_the_cause(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[[agents]]\nname = "away"\nbrain = "external"\n')
    async with Hub.open(tmp_path) as hub:
        pair = await hub.conversations.implicit(["away"])
        sent = [await hub.post(pair.id, f"number {n}") for n in range(30)]
        await asyncio.gather(*(hub.delete(receipt.id, version=1) for receipt in sent[7:]))
        found = await store_of(hub).conversation(pair.id)
        assert found is not None
        assert found.last_human == 7


async def test_nobody_joins_a_direct_conversation_by_finding_it(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[calc, asker([])]) as hub:
        made = await hub.conversations.create("pair", participants=["calc"], kind="direct")
        again = await hub.conversations.create("pair", participants=["calc"], kind="direct", exist_ok=True)
        assert again.id == made.id
        with pytest.raises(NotPermitted, match="direct conversation"):
            await hub.conversations.create("pair", participants=["asker"], kind="direct", exist_ok=True)


async def killed_while_it_asks(home: Path, whom: str, question: str) -> None:
    """A process in which x asks, and which dies before it can say that x has given up."""
    dying = Hub.open(home)
    hub = await dying.__aenter__()
    for name in ("x", "b"):
        await hub.agents.create(name, external=True)
    asking = asyncio.ensure_future(hub.acting_as("x").ask(whom, question, timeout=300))
    store = store_of(hub)
    await until(lambda: store.records(WAITS.all()), bool)
    transact = store.transact

    async def unless_given_up(verb: Any, command: Any) -> Any:
        return None if verb is give_up else await transact(verb, command)

    store.transact = unless_given_up
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await dying.__aexit__(None, None, None)


@pytest.mark.req("M-05")
async def test_an_answer_calls_whoever_asked_in_a_process_that_was_killed(tmp_path: Path) -> None:
    await killed_while_it_asks(tmp_path, "b", "where do the logs of the last night lie?")
    async with Hub.open(tmp_path) as hub:
        asker, asked = hub.acting_as("x").mailbox, hub.acting_as("b").mailbox
        [question] = (await asked.check(handed=())).messages
        await asked.reply(question.id, "below /var/log, in the folder of that day")
        [answer] = (await asker.check(handed=())).messages
        assert answer.text == "below /var/log, in the folder of that day"
        assert not (await asker.check(handed=None)).messages, "once"


@pytest.mark.req("M-05", "M-08")
async def test_what_a_person_decides_calls_whoever_asked_in_a_process_that_was_killed(tmp_path: Path) -> None:
    await killed_while_it_asks(tmp_path, "user", "may I take the logs of the last night away?")
    async with Hub.open(tmp_path) as hub:
        [asked] = await hub.decisions.list()
        await hub.decisions.answer(asked.id, "yes, but keep a copy of them somewhere")
        [answer] = (await hub.acting_as("x").mailbox.check(handed=())).messages
        assert answer.text == "yes, but keep a copy of them somewhere"


@pytest.mark.req("M-05")
@pytest.mark.parametrize("is_posted", [False, True], ids=["while it is posted", "once it is posted"])
@pytest.mark.parametrize("whom", ["b", "user"])
async def test_who_gives_up_before_it_waits_is_called_by_the_answer(
    tmp_path: Path, whom: str, is_posted: bool
) -> None:
    """A question that was handed in is stored, whatever becomes of its asker meanwhile."""
    async with Hub.open(tmp_path) as hub:
        for name in ("x", "b"):
            await hub.agents.create(name, external=True)
        store = store_of(hub)
        transact = store.transact

        async def given_up_at(verb: Any, command: Any) -> Any:
            done = asyncio.ensure_future(transact(verb, command))
            if isinstance(command, Send):
                await asyncio.wait([done], timeout=None if is_posted else 0)
                asking.cancel()
            return await done

        store.transact = given_up_at
        asking = asyncio.ensure_future(hub.acting_as("x").ask(whom, "where do the logs lie?", timeout=300))
        with pytest.raises(asyncio.CancelledError):
            await asking
        if whom == "user":
            [asked] = await until(hub.decisions.list, bool)
            await hub.decisions.answer(asked.id, "below /var/log")
        else:
            [question] = (await hub.acting_as("b").mailbox.wait(timeout=PATIENCE)).messages
            await hub.acting_as("b").mailbox.reply(question.id, "below /var/log")
        [answer] = (await hub.acting_as("x").mailbox.check(handed=())).messages
        assert answer.text == "below /var/log"
