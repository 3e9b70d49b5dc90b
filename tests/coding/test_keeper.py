"""Nothing of a CLI outlives it or its host: not what it forks away, not what ignores TERM."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from moot.brains.command.program import cli_process
from moot.brains.command.program.cli_process import CliProcess, started_at
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE, until, within

STUBBORN = (
    "import os, signal, subprocess, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "away = subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0: time.sleep(300)\n"
    "    os._exit(0)\n"
    "print(os.getpid(), away.pid, flush=True)\n"
    "time.sleep(300)\n"
)
HOST = (
    "import asyncio, os, sys\n"
    "from pathlib import Path\n"
    "from moot.brains.command.program.cli_process import CliProcess\n"
    "async def main():\n"
    "    run = Path(sys.argv[2])\n"
    "    words, here = [sys.executable, '-c', sys.argv[1]], Path('/')\n"
    "    process = await CliProcess.start(words, cwd=here, environ=os.environ, run_folder=run)\n"
    "    async for line in process.lines(): print(process.pid, line.decode(), flush=True)\n"
    "asyncio.run(main())\n"
)


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def gone(pids: list[int]) -> None:
    """Within five seconds, which is promised."""

    async def left() -> list[int]:
        return [pid for pid in pids if alive(pid)]

    await within(5.0, left, lambda now: not now)


async def stubborn(tmp_path: Path) -> tuple[CliProcess, list[int]]:
    process = await CliProcess.start(
        [sys.executable, "-c", STUBBORN],
        cwd=tmp_path,
        environ=os.environ,
        run_folder=tmp_path / "run",
        grace=0.2,
    )
    async for line in process.lines():
        return process, [int(word) for word in line.split()]
    raise AssertionError


async def test_a_program_that_ignores_term_and_forks_away_is_gone_when_ended(tmp_path: Path) -> None:
    process, pids = await stubborn(tmp_path)
    assert [mark.name for mark in (tmp_path / "run").iterdir()] == [f"{process.pid}.json"]
    await process.end()
    assert not [pid for pid in (*pids, process.pid) if alive(pid)]
    assert list((tmp_path / "run").iterdir()) == []


async def test_what_a_program_leaves_running_ends_with_it(tmp_path: Path) -> None:
    process, [program, away] = await stubborn(tmp_path)
    os.kill(program, signal.SIGKILL)
    await gone([program, away, process.pid])
    assert await process.exit_code() == 128 + signal.SIGKILL
    await process.end()


async def test_nothing_is_alive_five_seconds_after_its_host_was_killed(tmp_path: Path) -> None:
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOST, STUBBORN, str(tmp_path / "run")), stdout=asyncio.subprocess.PIPE
    )
    assert host.stdout is not None
    pids = [int(word) for word in (await host.stdout.readline()).split()]
    host.kill()
    await host.wait()
    await gone(pids)


def test_what_an_earlier_host_could_not_end_is_swept_by_number_and_start(tmp_path: Path) -> None:
    orphan = subprocess.Popen(["sleep", "300"], start_new_session=True)
    stranger = subprocess.Popen(["sleep", "300"], start_new_session=True)
    run = tmp_path / "run"
    run.mkdir()
    dead = {"host": 1 << 22, "host_started": "1"}
    kept = {"pid": orphan.pid, "started": started_at(orphan.pid), **dead}
    (run / "a.json").write_text(json.dumps(kept))
    (run / "b.json").write_text(json.dumps({"pid": stranger.pid, "started": "1", **dead}))
    (run / "c.json").write_text("no json")
    living = {"host": os.getpid(), "host_started": started_at(os.getpid())}
    (run / "d.json").write_text(
        json.dumps({"pid": stranger.pid, "started": started_at(stranger.pid), **living})
    )
    try:
        assert cli_process.sweep(run) == [orphan.pid]
        assert orphan.wait(PATIENCE) == -signal.SIGKILL
        assert stranger.poll() is None, "the number was given to somebody else meanwhile, or its host lives"
        assert [mark.name for mark in run.iterdir()] == ["d.json"]
    finally:
        for process in (orphan, stranger):
            process.kill()
            process.wait()


async def test_a_flood_of_output_leaves_the_loop_free(tmp_path: Path) -> None:
    process = await CliProcess.start(["yes", "x" * 1000], cwd=tmp_path, environ=os.environ)
    blocked: list[float] = []

    async def beat() -> None:
        """What the loop's own thread does between two beats: waiting for a core of this machine is not counted."""
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0.005)
            blocked.append(time.thread_time() - begun)

    beating = asyncio.create_task(beat())
    read = 0
    async for piece in process.pieces():
        read += len(piece)
        if read > 64 << 20:
            break
    beating.cancel()
    await process.end()
    assert sorted(blocked)[int(len(blocked) * 0.99)] < 0.05


async def test_what_nobody_reads_holds_up_nobody_who_ends_its_program(tmp_path: Path) -> None:
    process = await CliProcess.start(["yes"], cwd=tmp_path, environ=os.environ)
    output: Any = process._process.stdout

    async def is_full() -> bool:
        return bool(output._paused)

    await until(is_full, bool)
    watch = Stopwatch()
    await process.end()
    assert watch.seconds() < cli_process.GRACE_SECONDS


async def test_a_program_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    process = await CliProcess.start(["/nowhere/claude"], cwd=tmp_path, environ=os.environ)
    assert await process.exit_code() == 127
    async for _ in process.pieces():
        pass
    assert process.last_words == "cannot start /nowhere/claude: No such file or directory"
    await process.end()
