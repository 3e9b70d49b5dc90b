"""A turn of a coding CLI that does not end as it should: its seat, its process and its costs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec import structs

from moot.brains.command.command_brain import CliPlan, CommandBrain
from moot.brains.command.driver import (
    CliDied,
    CliError,
    CliEvent,
    CliSetup,
    Driver,
    OpenedSession,
    PromptEnded,
    PromptEnding,
    TextDelta,
    ToolBegan,
    UsageReport,
)
from moot.brains.command.drivers.persistent_cli import PersistentCli
from moot.brains.command.process_pool import ProcessPool
from moot.brains.command.program.cli_process import CliProcess
from moot.brains.command.project_locks import ProjectLocks
from moot.errors import StoreUnwritable
from moot.model.prompt import Usage
from moot.model.records.cli_session import CliSession
from tests.support.waiting import PATIENCE

END = PromptEnded(PromptEnding.END)
Said = Sequence[CliEvent | Exception]


class ScriptedDriver:
    """Says what it is told to, prompt by prompt; its sessions outlive it."""

    name = "scripted"
    keeps_partial = True

    def __init__(self, prompts: list[Said]) -> None:
        self._prompts = prompts
        self.alive = False
        self.interrupts = 0
        self._stopped = asyncio.Event()

    async def open(self, place: CliSetup, resume: str | None) -> OpenedSession:
        self.alive = True
        return OpenedSession("session", "1", resumed=bool(resume))

    async def prompt(self, text: str) -> AsyncIterator[CliEvent]:
        for one in self._prompts.pop(0):
            if isinstance(one, Exception):
                raise one
            yield one
            if isinstance(one, PromptEnded):
                return
        await self._stopped.wait()
        yield PromptEnded(PromptEnding.INTERRUPTED)

    async def interrupt(self) -> None:
        self.interrupts += 1
        self._stopped.set()

    async def close(self) -> None:
        self.alive = False
        self._stopped.set()


class FakeTurn:
    agent, steps, new, messages, closing, reads_to = "arya", (), (), (), "go on", 1
    reason = "direct"
    trigger = SimpleNamespace(id="c:1", seq=1, kind="human")

    def __init__(self, rows: dict[str, CliSession], number: int = 1, where: str = "c") -> None:
        self._rows = rows
        self.id = str(number)
        self.conversation = SimpleNamespace(id=where)
        self.said = ""
        self.spent: list[Usage] = []
        self.late: list[Usage] = []
        self.fails: dict[str, BaseException] = {}

    def _meets(self, what: str) -> None:
        if what in self.fails:
            raise self.fails.pop(what)

    async def prompt(self) -> Any:
        return SimpleNamespace(system="you are arya", tools=(), lines=())

    async def session(self) -> CliSession | None:
        return self._rows.get(self.conversation.id)

    def new_session(self, driver: str, session: str, project: str, version: str) -> CliSession:
        return CliSession("arya", self.conversation.id, driver, session, project, version)  # type: ignore[arg-type]

    async def keep_session(self, session: CliSession | None) -> None:
        self._meets("keep_session")
        assert session is not None
        self._rows[self.conversation.id] = structs.replace(session, turn=int(self.id))

    async def say(self, chunk: str) -> None:
        self._meets("say")
        self.said += chunk

    async def begin_step(self, *_: Any, **__: Any) -> Any:
        self._meets("begin_step")

    async def end_step(self, *_: Any) -> None:
        return None

    async def is_stopping(self) -> bool:
        return False

    def wait_for(self, what: str) -> None:
        return None

    def begin_answer(self) -> None:
        self.said = ""

    def spend(self, usage: Usage) -> None:
        self.spent.append(usage)

    async def charge_late(self, usage: Usage) -> None:
        self.late.append(usage)


class Desk:
    """One agent whose CLI says `prompts`, one after the other, with room for one process."""

    def __init__(self, tmp_path: Path, *prompts: Said) -> None:
        self.rows: dict[str, CliSession] = {}
        self.drivers: list[ScriptedDriver] = []
        self.pool = ProcessPool(1, 600.0)
        self._prompts = list(prompts)
        make: Callable[[], Driver] = self._made
        plan = CliPlan("arya", tmp_path, make, {}, tmp_path / "run")
        self.brain = CommandBrain(plan, self.pool, ProjectLocks(plan.run_folder), {})

    def _made(self) -> ScriptedDriver:
        self.drivers.append(ScriptedDriver(self._prompts))
        return self.drivers[-1]

    def turn(self, number: int = 1, where: str = "c") -> FakeTurn:
        return FakeTurn(self.rows, number, where)

    async def answer(self, turn: FakeTurn) -> str | None:
        async with asyncio.timeout(PATIENCE):
            return await self.brain.think(turn)  # type: ignore[arg-type]


@pytest.fixture
def desk(tmp_path: Path) -> Callable[..., Desk]:
    return lambda *prompts: Desk(tmp_path, *prompts)


@pytest.mark.parametrize("trouble", [StoreUnwritable("away"), asyncio.CancelledError()])
@pytest.mark.parametrize("where", ["say", "keep_session"])
async def test_a_turn_that_ends_before_its_prompt_gives_its_seat_back(
    desk: Callable[..., Desk], where: str, trouble: BaseException
) -> None:
    here = desk([TextDelta("hello"), END])
    turn = here.turn()
    turn.fails[where] = trouble
    with pytest.raises(type(trouble)):
        await here.answer(turn)
    assert await here.answer(here.turn(2, where="elsewhere")) == "hello"


async def test_a_cli_whose_step_could_not_be_written_is_stopped_before_its_next_prompt(
    desk: Callable[..., Desk],
) -> None:
    here = desk([ToolBegan("t", "Bash")], [TextDelta("the next answer"), END])
    turn = here.turn()
    turn.fails["begin_step"] = StoreUnwritable("away")
    with pytest.raises(StoreUnwritable):
        await here.answer(turn)
    assert here.drivers[0].interrupts == 1
    assert await here.answer(here.turn(2)) == "the next answer"


async def test_a_cli_that_may_still_be_at_work_is_not_prompted_again(desk: Callable[..., Desk]) -> None:
    here = desk([TextDelta("half"), CliDied("nobody understands it")], [TextDelta("whole"), END])
    assert await here.answer(here.turn()) == "whole"
    first, second = here.drivers
    assert not first.alive
    assert second.alive


async def test_whatever_a_driver_stumbles_over_is_told_and_is_no_silence(desk: Callable[..., Desk]) -> None:
    here = desk([KeyError("type")], [KeyError("type")])
    with pytest.raises(CliError, match="could not be followed: KeyError"):
        await here.answer(here.turn())


@pytest.mark.req("M-04")
@pytest.mark.parametrize("how", [PromptEnding.ERROR, PromptEnding.LIMIT])
async def test_what_a_failed_prompt_cost_is_charged_once(
    desk: Callable[..., Desk], how: PromptEnding
) -> None:
    used = Usage(10, 10, calls=1)
    here = desk(
        [UsageReport(used, 1.0), PromptEnded(how, "overloaded")],
        [TextDelta("hi"), UsageReport(used, 1.2), END],
    )
    first, second = here.turn(1), here.turn(2)
    with pytest.raises(CliError, match="overloaded"):
        await here.answer(first)
    assert await here.answer(second) == "hi"
    assert [one.cost_usd for one in first.spent] == [pytest.approx(1.0)]
    assert [one.cost_usd for one in second.spent] == [pytest.approx(0.2)]


@pytest.mark.req("M-04")
async def test_what_a_cli_cost_before_it_died_is_charged_too(desk: Callable[..., Desk]) -> None:
    used = Usage(10, 10, calls=1)
    here = desk([UsageReport(used, 1.0), CliDied("killed")], [TextDelta("hi"), UsageReport(used, 1.5), END])
    turn = here.turn()
    assert await here.answer(turn) == "hi"
    assert [one.cost_usd for one in turn.spent] == [pytest.approx(1.0), pytest.approx(0.5)]


@pytest.mark.req("M-04")
async def test_what_a_cli_cost_that_went_round_in_circles_is_charged(desk: Callable[..., Desk]) -> None:
    here = desk([*(ToolBegan(str(n), "Bash") for n in range(101)), UsageReport(Usage(10, 10, calls=1), 1.0)])
    turn = here.turn()
    with pytest.raises(CliError, match="kept calling tools"):
        await here.answer(turn)
    assert [one.cost_usd for one in turn.spent] == [pytest.approx(1.0)]


async def test_an_answer_is_not_lost_with_the_row_of_its_session(desk: Callable[..., Desk]) -> None:
    here = desk([TextDelta("hello"), PromptEnded(PromptEnding.END)])
    turn = here.turn()
    kept = turn.keep_session

    async def keep(session: CliSession | None) -> None:
        if session is not None and not session.open:
            raise StoreUnwritable("away")
        await kept(session)

    turn.keep_session = keep  # type: ignore[method-assign]
    assert await here.answer(turn) == "hello"


async def test_nothing_is_kept_for_a_conversation_whose_turns_are_over(desk: Callable[..., Desk]) -> None:
    here = desk([TextDelta("hello"), END])
    await here.answer(here.turn())
    assert not here.brain._locks


async def test_a_program_that_nobody_understands_any_more_is_dead_and_named() -> None:
    cli = PersistentCli("claude")
    cli.process = cast(CliProcess, SimpleNamespace(alive=True, last_words=""))

    async def send() -> None:
        cli.end_output("AttributeError: no get")

    assert cli.alive
    with pytest.raises(CliDied, match="claude said something that Moot does not understand: AttributeError"):
        _ = [one async for one in cli.prompt(send)]
    assert not cli.alive
