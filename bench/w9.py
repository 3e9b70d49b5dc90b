"""W9, cold-start: `moot --version`, `--help`, `send` to a running hub, and a hub until it has accepted its first message.

A send goes to an agent that is there, and to one that is away, of whom there is more to say. Beside them `python -c pass`,
the limit, and two programs that send without the command line: by the light client, and by a line that blocks. Bytecode is
warm: the first start of each is not counted. Which imports cost most is asked of the interpreter itself. Peers come later.
"""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import processes
from bench.measure import Table, load
from bench.pairs import text
from moot.client import RemoteHub
from moot.errors import HubAbsent

ROUNDS = 15
DEAREST = 12
SETTINGS = """
[[agents]]
name = "arya"
brain = "external"
[[agents]]
name = "brienne"
brain = "demo"
[limits]
agent_turns_per_hour = 1000000
"""
CLIENT = """
import asyncio, sys
from pathlib import Path
from moot.client import RemoteHub

async def main():
    async with RemoteHub.open(Path(sys.argv[1])) as hub:
        await hub.send("arya", "hello")

asyncio.run(main())
"""

BLOCKING = """
import sys
from moot.client.transport.blocking_socket import BlockingConnection

BlockingConnection.find(sys.argv[1]).call("send", target="arya", text="hello")
"""


async def start(*command: str) -> float:
    """Milliseconds from nothing to the end of a program."""
    begun = time.perf_counter()
    done = subprocess.run(  # noqa: ASYNC221  nothing else runs meanwhile
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=processes.with_bytecode(),
        check=False,
    )
    taken = time.perf_counter() - begun
    assert done.returncode == 0, f"{command} ended with {done.returncode}"
    return taken * 1000


def new_home(home: Path) -> Path:
    home.mkdir()
    (home / "moot.toml").write_text(SETTINGS)
    return home


async def first_send(home: Path) -> float:
    """Milliseconds from the start of `moot up` until a message was accepted."""
    socket = home / "run" / "hub.sock"
    begun = time.perf_counter()
    process = subprocess.Popen(  # noqa: ASYNC220  starting is what is measured
        [moot(), "--home", str(home), "up", "--quiet"],
        stdout=subprocess.DEVNULL,
        env=processes.with_bytecode(),
    )
    try:
        while True:
            try:
                async with RemoteHub.open(socket) as hub:
                    await hub.send("arya", text(0, 0))
                    return (time.perf_counter() - begun) * 1000
            except HubAbsent:
                await asyncio.sleep(0.002)
    finally:
        processes.end(process)


def moot() -> str:
    return str(Path(sys.executable).with_name("moot"))


def dearest_imports(*command: str) -> list[str]:
    """The modules that cost a program most by themselves, in milliseconds."""
    told = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=processes.with_bytecode(),
        check=True,
        text=True,
    )
    rows = [line.split("|") for line in told.stderr.splitlines() if line.count("|") == 2]
    costs = [
        (int(own.split(":")[1]), name.strip()) for own, _, name in rows if own.split(":")[1].strip().isdigit()
    ]
    total = sum(cost for cost, _ in costs) / 1000
    dear = ", ".join(f"{name} {cost / 1000:.1f}" for cost, name in sorted(costs, reverse=True)[:DEAREST])
    return [f"    {len(costs)} modules, {total:.0f} ms: {dear}"]


async def run(rounds: int = ROUNDS) -> list[str]:
    table = Table("W9 cold-start", "ms")
    lines = ["W9 cold-start (from nothing to the end of the program; smaller is better)"]
    with TemporaryDirectory() as folder, processes.hub(Path(folder) / "home", SETTINGS) as hub:
        home, program, blocking = str(hub.home), Path(folder) / "client.py", Path(folder) / "blocking.py"
        program.write_text(CLIENT)
        blocking.write_text(BLOCKING)
        sending = (moot(), "--home", home, "send", "--no-wait", "brienne", "hello")
        to_who_is_away = (*sending[:-2], "arya", "hello")
        fresh = iter(range(10**6))
        contenders: dict[str, Any] = {
            "python -c pass": lambda: start(sys.executable, "-c", "pass"),
            "python -c 'import asyncio'": lambda: start(sys.executable, "-c", "import asyncio"),
            "moot --version": lambda: start(moot(), "--version"),
            "moot --help": lambda: start(moot(), "--help"),
            "moot send": lambda: start(*sending),
            "moot send, agent away": lambda: start(*to_who_is_away),
            "light client": lambda: start(sys.executable, str(program), str(hub.socket)),
            "a client that blocks": lambda: start(sys.executable, str(blocking), str(hub.socket)),
            "hub until the first send": lambda: first_send(new_home(Path(folder) / f"fresh{next(fresh)}")),
        }
        for contender in contenders.values():
            await contender()
        await table.run(contenders, rounds)
        for name in list(contenders)[1:]:
            table.notes[f"{name} over bare Python"] = table.ratio(name, "python -c pass")
        table.notes["machine"] = load()
        table.save()
        table.show(lines)
        lines.append("  imports of moot send")
        lines += dearest_imports("-m", "moot", *sending[1:])
        lines.append("  imports of the light client")
        lines += dearest_imports(str(program), str(hub.socket))
    return lines
