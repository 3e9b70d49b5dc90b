"""What a hostile or broken CLI tries on its host, and what a kill at a bad moment leaves behind: nothing."""

import asyncio
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from moot.brains.command.drivers.claude import key_helper
from moot.brains.command.program import cli_process
from moot.brains.command.program.cli_process import CliProcess
from tests.coding.test_drivers import DRIVERS, SPOKEN, session
from tests.coding.test_interjection import direct
from tests.coding.test_keeper import HOST, STUBBORN, alive, gone, stubborn
from tests.coding.workshop import Workshop
from tests.support.waiting import until

HOPPING = (
    "import os, sys\n"
    "print(os.getpid(), flush=True)\n"
    "while True:\n"
    "    if os.fork(): os._exit(0)\n"
    "    os.setsid()\n"
)


async def test_killed_with_its_keeper_nothing_of_a_program_stays(tmp_path: Path) -> None:
    """The keeper is killed with -9: what the program had started in sessions of its own is nobody's child then."""
    process, pids = await stubborn(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    await process.end()
    assert not [pid for pid in pids if alive(pid)]


async def test_what_host_and_keeper_left_when_both_were_killed_is_swept_by_the_next_host(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOST, STUBBORN, str(run)), stdout=asyncio.subprocess.PIPE
    )
    assert host.stdout is not None
    keeper, *pids = [int(word) for word in (await host.stdout.readline()).split()]
    for pid in (keeper, host.pid):
        os.kill(pid, signal.SIGKILL)
    await host.wait()
    await asyncio.to_thread(cli_process.sweep, run)
    await gone(pids, 5.0)
    assert list(run.iterdir()) == []


async def test_a_program_that_hops_from_process_to_process_is_caught(tmp_path: Path) -> None:
    process = await CliProcess.start(
        [sys.executable, "-c", HOPPING], cwd=tmp_path, environ=os.environ, grace=0.1
    )
    async for _ in process.lines():
        break
    mine = f"MOOT_PROCESS={process.mark}".encode()
    await process.end()

    async def left() -> list[int]:
        return [
            int(name)
            for name in os.listdir("/proc")
            if name.isdigit() and mine in _environ(int(name)).split(b"\0") and alive(int(name))
        ]

    await until(left, lambda pids: not pids, 5)


def _environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("kind", [*SPOKEN, "template"])
async def test_a_project_that_is_gone_is_said_and_nothing_breaks(workshop: Workshop, kind: str) -> None:
    brain = kind if kind in SPOKEN else "command:cat"
    workshop.agent("arya", brain)
    async with workshop.hub() as hub:
        workshop.project("arya").rmdir()
        await hub.send("arya", "! say hello")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=20)
        said = (await hub.messages(where))[-1]
    assert said.sender == "system"
    assert str(workshop.project("arya")) in said.text
    workshop.project("arya").mkdir(exist_ok=True)


async def test_a_cli_that_starts_and_never_speaks_is_ended_and_named(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.brains.command.drivers.claude.OPEN_SECONDS", 0.3)
    workshop.script("claude", "exec sleep 300")
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", "hello")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=20)
        said = (await hub.messages(where))[-1]
    assert "did not answer within" in said.text


@pytest.mark.parametrize("kind", SPOKEN)
async def test_a_flood_of_words_does_not_pile_up_in_the_host(workshop: Workshop, kind: str) -> None:
    """Nobody reads what it says meanwhile: the pipe fills, and the CLI waits."""
    async with session(workshop, kind) as one:
        words = one.driver.prompt("! flood 30000")
        await anext(words)
        loop = asyncio.get_running_loop()
        seen = [(0, loop.time())]

        async def rests() -> bool:
            now = len(one.driver._cli.waiting)  # type: ignore[attr-defined]
            if now != seen[-1][0]:
                seen.append((now, loop.time()))
            return loop.time() - seen[-1][1] > 0.5

        await until(rests, bool, 30)
        assert seen[-1][0] < 2_000
        await words.aclose()  # type: ignore[attr-defined]


async def test_calls_of_moots_tools_are_counted_too(workshop: Workshop) -> None:
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", "\n".join(["! moot list_agents {}"] * 130))
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=60)
        said = (await hub.messages(where, limit=500))[-1]
    assert "kept calling tools" in said.text


@pytest.mark.parametrize("kind", SPOKEN)
async def test_a_tool_that_fails_while_another_runs_is_answered(workshop: Workshop, kind: str) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        text = '! beside sleep 0.3 ; send_to_agent {"target": 7, "message": ["x"]}\n! say goes on'
        answer = await hub.ask("arya", text, timeout=20)
    assert answer.text.endswith("goes on")


def test_a_key_file_in_a_folder_with_a_quote_in_its_name_is_one_word() -> None:
    file = Path("/home/o'neil/; touch x/a.key")
    assert shlex.split(key_helper(file)) == ["cat", str(file)]


@pytest.mark.parametrize("kind", DRIVERS)
async def test_a_driver_that_was_never_opened_can_be_closed(kind: str) -> None:
    await DRIVERS[kind]().close()
