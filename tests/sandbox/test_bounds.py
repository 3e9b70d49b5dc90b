"""Time, output, processes, memory, files: each runs out, says so, and leaves nothing running."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from moot.tools import Bounds
from tests.sandbox.conftest import BOUNDS, World
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("K-10")

MIB = 1024 * 1024
BOTH = pytest.mark.parametrize("walled", [True, False], ids=["sandboxed", "unsandboxed"])
Alive = Callable[[], list[str]]


def bounds(**more: float) -> Bounds:
    return structs.replace(BOUNDS, **more)


async def nothing_left(alive: Alive) -> None:
    async with asyncio.timeout(PATIENCE):
        while alive():  # noqa: ASYNC110 - other people's processes send no event
            await asyncio.sleep(0.02)


async def until_ready(world: World) -> None:
    """The program itself has begun, not only what starts it."""
    async with asyncio.timeout(PATIENCE):
        while not (world.project / "ready").exists():  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)


@BOTH
async def test_what_takes_too_long_is_stopped(walled: bool, world: World, alive: Alive) -> None:
    script = f"echo started; : > ready; sleep 100; echo {world.project}"
    result = await world.run(["sh", "-c", script], walled=walled, bounds=bounds(seconds=0.5))
    first, *said = result.text.splitlines()
    assert (first, result.failed) == ("stopped: it ran longer than 0.5 seconds", True)
    if (world.project / "ready").exists():  # on a busy machine it may be stopped before it has begun
        assert said == ["started"]
    assert alive() == []


@BOTH
async def test_what_is_asked_to_end_may_tidy_up(walled: bool, world: World) -> None:
    script = "trap 'echo tidied; exit' TERM; echo listens; : > ready; while :; do sleep 0.05; done"
    limits = bounds(seconds=0.7, grace_seconds=PATIENCE)
    result = await world.run(["sh", "-c", script], walled=walled, bounds=limits)
    if (world.project / "ready").exists():  # as above
        said = [line for line in result.text.splitlines() if line in ("listens", "tidied")]
        assert said == ["listens", "tidied"]


@BOTH
async def test_what_will_not_end_is_ended(walled: bool, world: World, alive: Alive) -> None:
    script = f"trap '' TERM HUP INT; echo deaf; while :; do sleep 0.05; done; : {world.project}"
    result = await world.run(["sh", "-c", script], walled=walled, bounds=bounds(seconds=0.5))
    assert result.text.startswith("stopped: it ran longer")
    assert alive() == []


DAEMON = """
import os, sys, time
if os.fork():
    while not os.path.exists('beat'): time.sleep(0.02)
    sys.exit(print('left'))
os.setsid()
if os.fork(): sys.exit()
for fd in (0, 1, 2): os.close(fd)
import signal
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
beat = 0
while True:
    beat += 1
    open('beat', 'w').write(str(beat))
    time.sleep(0.02)
"""


@BOTH
async def test_a_daemon_does_not_outlive_the_call(walled: bool, world: World) -> None:
    result = await world.attempt(DAEMON, walled=walled)
    assert result.text == "exit code 0\nleft"
    beat = world.project / "beat"
    assert beat.exists()
    seen = beat.read_text()
    await asyncio.sleep(0.3)
    assert beat.read_text() == seen


@BOTH
async def test_cancelling_ends_everything_first(walled: bool, world: World, alive: Alive) -> None:
    script = f"trap '' TERM; sleep 99 & : > ready; : {world.project}; while :; do sleep 0.05; done"
    call = asyncio.ensure_future(world.run(["sh", "-c", script], walled=walled))
    await until_ready(world)
    assert alive() != []
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert alive() == []


@BOTH
async def test_nothing_outlives_a_killed_moot(walled: bool, world: World, alive: Alive) -> None:
    program = f"""
import asyncio
from pathlib import Path
from moot.tools import Sandbox, ShellTool
project = Path({str(world.project)!r})
sandbox = Sandbox.find() if {walled} else None
tool = ShellTool(("sh",), project, sandbox=sandbox, hidden=(project / "state/inner/.moot",))
script = "sleep 99 & : > ready; trap '' TERM; while :; do sleep 0.05; done; : {world.project}"
asyncio.run(tool.run({{"argv": ["sh", "-c", script]}}, None))
"""
    moot = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    try:
        await until_ready(world)
        assert alive() != []
    finally:
        moot.kill()
        await moot.wait()
    await nothing_left(alive)


FORKS = """
import os, sys, time
made = 0
while made < 2000:
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        made += 1
        time.sleep(0.002)
    except OSError as error:
        print('no more after', made, flush=True)
        sys.exit(3)
print('ESCAPED', made, flush=True)
time.sleep(60)
"""
BOMB = """
import os, time
end = time.time() + 8
while time.time() < end:
    try: os.fork()
    except OSError: pass
    time.sleep(0.02)
"""


@pytest.mark.parametrize("script", [FORKS, BOMB], ids=["many children", "a bomb"])
async def test_forking_without_end_is_stopped(script: str, world: World, alive: Alive) -> None:
    result = await world.attempt(script, bounds=bounds())
    assert result.failed
    assert "ESCAPED" not in result.text
    if os.getuid() == 0:  # whom no limit of the kernel binds
        assert result.text.startswith("stopped: it had more than 48 processes")
    await nothing_left(lambda: [line for line in alive() if "attempt.py" in line])
    assert (await world.run(["printf", "well"])).text == "exit code 0\nwell"


@BOTH
async def test_a_flood_is_cut_and_counted(walled: bool, world: World) -> None:
    script = "import sys\nsys.stdout.write('x' * 300_000)\nsys.stderr.write('y' * 10)"
    result = await world.attempt(script, walled=walled, bounds=bounds(output_bytes=1000))
    assert result.text == f"exit code 0\n{'x' * 1000}\n… 299010 more bytes"
    assert not result.failed


@BOTH
async def test_an_endless_flood_is_stopped(walled: bool, world: World) -> None:
    result = await world.run(["yes"], walled=walled, bounds=bounds(output_bytes=10, flood_bytes=MIB))
    first, *shown, last = result.text.splitlines()
    assert first == "stopped: it printed more than 1 MiB"
    assert shown == ["y"] * 5
    assert last.endswith(" more bytes")


@BOTH
async def test_memory_runs_out(walled: bool, world: World) -> None:
    result = await world.attempt(f"x = bytearray({1200 * MIB})\nprint('ESCAPED', len(x))", walled=walled)
    assert "MemoryError" in result.text
    assert "ESCAPED" not in result.text


async def test_memory_of_many_processes_is_added_up(world: World) -> None:
    script = f"import os, time\nfor _ in range(3): os.fork()\nx = b'x' * {40 * MIB}\ntime.sleep(9)\nprint('ESCAPED')"
    result = await world.attempt(script, bounds=bounds(memory_bytes=200 * MIB))
    assert result.text.splitlines()[0] == "stopped: it used more than 200 MiB of memory"


@BOTH
async def test_a_file_cannot_grow_without_end(walled: bool, world: World) -> None:
    script = "f = open('big', 'wb')\nfor _ in range(64): f.write(bytes(1 << 20)); f.flush()\nprint('ESCAPED')"
    result = await world.attempt(script, walled=walled, bounds=bounds(file_bytes=4 * MIB))
    assert result.failed
    assert "ESCAPED" not in result.text
    assert (world.project / "big").stat().st_size == 4 * MIB


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
async def test_scratch_space_runs_out(folder: str, world: World) -> None:
    script = f"for n in range(40): open(f'{folder}/{{n}}', 'wb').write(bytes(1 << 20))\nprint('ESCAPED')"
    result = await world.attempt(script, bounds=bounds(scratch_bytes=4 * MIB))
    assert "No space left" in result.text
    assert "ESCAPED" not in result.text


@BOTH
async def test_processor_time_runs_out(walled: bool, world: World) -> None:
    result = await world.attempt("while True: pass", walled=walled, bounds=bounds(cpu_seconds=1))
    assert result.text.startswith(("ended by signal SIGKILL", "ended by signal SIGXCPU")), result.text


@BOTH
async def test_no_core_is_left_and_few_files_can_be_open(walled: bool, world: World) -> None:
    script = "import resource as r\nprint(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_NOFILE))"
    assert (await world.attempt(script, walled=walled)).text == "exit code 0\n(0, 0) (1024, 1024)"


@BOTH
async def test_nothing_of_ours_is_handed_down(walled: bool, world: World, tmp_path: Path) -> None:
    """No variable, no descriptor, no input; even one that was opened to be inherited."""
    kept = os.open(world.home / "keys.json", os.O_RDONLY)
    os.set_inheritable(kept, True)
    script = (
        "import os, sys\nfound = [name for name in os.environ if 'MOOT' in name]\n"
        "print(found, sys.stdin.read() == '', os.environ['HOME'])\n"
        f"try: print(os.read({kept}, 99))\nexcept OSError: print('closed')"
    )
    try:
        result = await world.attempt(script, walled=walled)
    finally:
        os.close(kept)
    first, second = result.text.splitlines()[1:]
    assert first.startswith("[] True /tmp")
    assert second == "closed"


async def test_many_at_once_do_not_disturb_each_other(world: World) -> None:
    results = await asyncio.gather(*(world.run(["printf", str(number)]) for number in range(12)))
    assert [result.text for result in results] == [f"exit code 0\n{number}" for number in range(12)]
