"""What a hostile or broken CLI tries on its host, and what a kill at a bad moment leaves behind: nothing."""

import asyncio
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from moot.brains.command.driver import CliDied, PromptEnded, PromptEnding, TextDelta
from moot.brains.command.drivers.claude import key_helper
from moot.brains.command.drivers.template import TemplateDriver
from moot.brains.command.program import cli_process
from moot.brains.command.program.cli_process import CliProcess
from tests.coding.test_drivers import DRIVERS, SPOKEN, session
from tests.coding.test_interjection import direct
from tests.coding.test_keeper import HOST, STUBBORN, alive, gone, stubborn
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE, until

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
    await gone(pids)
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

    await until(left, lambda pids: not pids)


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
        await hub.settled(where, timeout=PATIENCE)
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
        await hub.settled(where, timeout=PATIENCE)
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
            now = len(one.driver._cli.events)  # type: ignore[attr-defined]
            if now != seen[-1][0]:
                seen.append((now, loop.time()))
            return loop.time() - seen[-1][1] > 0.5

        await until(rests, bool)
        assert seen[-1][0] < 2_000
        await words.aclose()  # type: ignore[attr-defined]


async def test_calls_of_moots_tools_are_counted_too(workshop: Workshop) -> None:
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", "\n".join(["! moot list_agents {}"] * 130))
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=2 * PATIENCE)
        said = (await hub.messages(where, limit=500))[-1]
    assert "kept calling tools" in said.text


@pytest.mark.parametrize("kind", SPOKEN)
async def test_a_tool_that_fails_while_another_runs_is_answered(workshop: Workshop, kind: str) -> None:
    workshop.agent("arya", kind)
    async with workshop.hub() as hub:
        text = '! beside sleep 0.3 ; send_to_agent {"target": 7, "message": ["x"]}\n! say goes on'
        answer = await hub.ask("arya", text, timeout=PATIENCE)
    assert answer.text.endswith("goes on")


def test_a_key_file_in_a_folder_with_a_quote_in_its_name_is_one_word() -> None:
    file = Path("/home/o'neil/; touch x/a.key")
    assert shlex.split(key_helper(file)) == ["cat", str(file)]


@pytest.mark.parametrize("kind", DRIVERS)
async def test_a_driver_that_was_never_opened_can_be_closed(kind: str) -> None:
    await DRIVERS[kind]().close()


# --- programs that are not what they seem -----------------------------------------------------------------------

ANSWERS_THEN = (
    "import json, os, sys, time\n"
    "first = json.loads(sys.stdin.readline())\n"
    "answer = {'subtype': 'success', 'request_id': first['request_id'], 'response': {}}\n"
    "print(json.dumps({'type': 'control_response', 'response': answer}), flush=True)\n"
)
"""Opens a session as claude does; what it does then is appended."""
ENDS = "print(json.dumps({'type': 'result', 'subtype': 'success', 'result': 'fine'}), flush=True)\nsys.stdin.read()\n"


def claude_that(workshop: Workshop, *lines: str) -> None:
    program = workshop.root / "program.py"
    program.write_text(ANSWERS_THEN + "\n".join(lines) + "\n")
    workshop.script("claude", f'exec "{sys.executable}" "{program}"')


async def test_a_line_of_a_hundred_megabytes_is_dropped_and_the_next_one_read(workshop: Workshop) -> None:
    claude_that(
        workshop,
        "sys.stdin.readline()",
        "for _ in range(100): sys.stdout.write('x' * 1_000_000)",
        "print(flush=True)",
        ENDS,
    )
    async with session(workshop, "claude") as one:
        events = await one.prompt("go on")
        process = one.driver._cli.process  # type: ignore[attr-defined]
        assert process.dropped == 1
    assert events[-1] == PromptEnded(PromptEnding.END, text="fine")


async def test_a_cli_that_never_reads_its_input_is_named_and_does_not_hang(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_process, "READ_SECONDS", 0.2)
    claude_that(workshop, "time.sleep(300)")
    async with session(workshop, "claude") as one:
        with pytest.raises(CliDied, match="does not read what it is given"):
            await one.prompt("x" * 1_000_000)


async def test_a_cli_that_closes_its_output_and_lives_on_is_ended(workshop: Workshop) -> None:
    claude_that(workshop, "sys.stdin.readline()", "os.close(1)", "time.sleep(300)")
    async with session(workshop, "claude") as one:
        with pytest.raises(CliDied, match="ended in the middle of its answer"):
            await one.prompt("go on")
        assert not one.driver.alive
    assert not [line for line in workshop.processes() if "program.py" in line]


async def test_a_template_that_writes_before_it_has_read_everything_gets_all_of_it(
    workshop: Workshop,
) -> None:
    DRIVERS["cat"] = lambda: TemplateDriver(["cat"])
    try:
        async with session(workshop, "cat") as one:
            events = await asyncio.wait_for(one.prompt("x" * 1_000_000), PATIENCE)
    finally:
        del DRIVERS["cat"]
    assert sum(len(piece.text) for piece in events if isinstance(piece, TextDelta)) == 1_000_000


@pytest.mark.parametrize("kind", [*SPOKEN, "template"])
async def test_a_folder_that_was_swapped_for_a_link_is_not_entered(workshop: Workshop, kind: str) -> None:
    """It was looked at when the hub started; whoever may write beside it puts a link in its place since."""
    elsewhere = workshop.project("elsewhere")
    workshop.agent("arya", kind if kind in SPOKEN else "command:touch entered")
    async with workshop.hub() as hub:
        workshop.project("arya").rmdir()
        (workshop.root / "projects" / "arya").symlink_to(elsewhere)
        await hub.send("arya", "! run touch entered")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        said = (await hub.messages(where))[-1]
    assert said.sender == "system"
    assert f"leads to {elsewhere} now" in said.text
    assert list(elsewhere.iterdir()) == []


async def test_a_program_that_is_not_there_is_said_once(workshop: Workshop) -> None:
    (workshop.bin / "claude").unlink()
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", "hello")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        said = (await hub.messages(where))[-1]
    assert said.text == "[arya could not answer: claude could not be started: No such file or directory]"


async def test_no_token_reaches_a_prompt_through_a_link_in_place_of_a_role(workshop: Workshop) -> None:
    workshop.agent("arya", "claude")
    secret = workshop.root / "secret"
    secret.write_text("moot_planted_token")
    workshop.write()
    role = workshop.home.path / "agents" / "arya"
    role.mkdir(mode=0o700, parents=True)
    for name in ("ROLE.md", "SOUL.md", "IDENTITY.md", "USER.md"):
        (role / name).symlink_to(secret)
    async with workshop.hub() as hub:
        answer = await hub.ask("arya", "! prompt", timeout=PATIENCE)
    assert "moot_planted_token" not in answer.text
