"""The process of an outside agent that asked is killed: the answer wakes the agent exactly once, whenever it is stored,
also before anybody can know that the process is dead."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot.hub import Hub
from moot.model.records.wait import WAITS, Wait
from tests.faults import asker
from tests.support.beneath import store_of
from tests.support.processes import end, start, stop
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("M-05")
QUESTION, ANSWER = "where do the logs of the last night lie?", "below /var/log, in the folder of that day"


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    (tmp_path / "moot.toml").write_text("[host]\nsweep_seconds = 1.0\nlease_seconds = 600.0\n")
    async with Hub.open(tmp_path) as hub:
        for name in ("x", "b"):
            await hub.agents.create(name, external=True)
        yield hub


async def asking(hub: Hub, home: Path, whom: str) -> tuple[subprocess.Popen[bytes], Wait]:
    process = start(asker.__name__, str(home), whom, QUESTION)
    [wait] = await until(lambda: store_of(hub).records(WAITS.all()), bool, PATIENCE)
    return process, wait


async def answered(hub: Hub, whom: str) -> None:
    if whom == "user":
        [decision] = await hub.decisions.list()
        await hub.decisions.answer(decision.id, ANSWER)
        return
    asked = hub.acting_as("b").mailbox
    [question] = (await asked.check(handed=())).messages
    await asked.reply(question.id, ANSWER)


async def heard_once(hub: Hub) -> None:
    box = hub.acting_as("x").mailbox
    found = await until(lambda: box.check(handed=()), lambda found: bool(found.messages), PATIENCE)
    assert [message.text for message in found.messages] == [ANSWER]
    assert not (await box.check(handed=None)).messages, "once"
    turns = await hub.turns(agent="x")
    assert [turn.state for turn in turns] == ["passed"]
    assert not await store_of(hub).records(WAITS.all())


@pytest.mark.parametrize("whom", ["b", "user"])
async def test_an_answer_between_the_death_and_its_discovery_wakes_the_asker_once(
    hub: Hub, tmp_path: Path, whom: str
) -> None:
    """The process is stopped first, so that it cannot hear the answer, and whoever looks takes it for alive."""
    process, wait = await asking(hub, tmp_path, whom)
    try:
        await stop([process.pid], tmp_path)
        await answered(hub, whom)
        assert not await hub.turns(agent="x"), "it is waiting, as far as anybody knows"
        [kept] = await store_of(hub).records(WAITS.all())
        assert (kept.host, kept.answer) == (wait.host, 2), "the row says so until somebody has heard it"
    finally:
        end(process)
    await heard_once(hub)


@pytest.mark.parametrize("whom", ["b", "user"])
async def test_an_answer_after_the_death_wakes_the_asker_once(hub: Hub, tmp_path: Path, whom: str) -> None:
    """Whether or not the death is known by then."""
    process, _ = await asking(hub, tmp_path, whom)
    end(process)
    await answered(hub, whom)
    await heard_once(hub)


async def test_a_process_that_lives_hears_it_and_its_agent_gets_no_turn(hub: Hub, tmp_path: Path) -> None:
    process, _ = await asking(hub, tmp_path, "b")
    try:
        await answered(hub, "b")
        assert process.stdout is not None
        assert process.stdout.readline().decode().strip() == ANSWER
        assert process.wait(PATIENCE) == 0
    finally:
        end(process)
    assert not await store_of(hub).records(WAITS.all())
    assert not await hub.turns(agent="x")


async def test_a_question_that_failed_between_the_death_and_its_discovery_is_told(
    hub: Hub, tmp_path: Path
) -> None:
    process, _ = await asking(hub, tmp_path, "b")
    try:
        await stop([process.pid], tmp_path)
        asked: Any = hub.acting_as("b").mailbox
        [question] = (await asked.check(handed=())).messages
        await asked.reply(question.id, "[PASS]")
    finally:
        end(process)
    box = hub.acting_as("x").mailbox
    found = await until(lambda: box.check(handed=()), lambda found: bool(found.messages), PATIENCE)
    assert [message.text for message in found.messages] == ["[b gave no answer to question #1]"]
    assert not (await box.check(handed=None)).messages, "once"
