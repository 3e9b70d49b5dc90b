"""Start the server as a client would, and see how long its first answer takes."""

import json
import select
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from moot.cli.mcp.clients.entry import server
from moot.cli.mcp.clients.known import Client
from moot.errors import McpClient

LONGEST: Final = 30.0
HELLO: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "moot-install", "version": "1"},
    },
}


def seconds_to_start(patience: float = LONGEST) -> float | None:
    """How long it takes; None where no answer came in time, or none that a client could use.

    In a home that is made for it, where no hub runs: a server that starts makes itself known as an agent, and is at its
    slowest where it has to open a home itself.
    """
    with TemporaryDirectory(prefix="moot-probe-") as home:
        return _seconds(server(Path(home) / "home", client="probe").argv, patience)


def _seconds(argv: tuple[str, ...], patience: float) -> float | None:
    began = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], patience)
        answered = bool(ready) and b'"result"' in process.stdout.readline()
        return time.monotonic() - began if answered else None
    except OSError:  # it ended before it was asked
        return None
    finally:
        process.kill()
        process.communicate()


def too_slow(client: Client, took: float | None) -> McpClient:
    allowed = client.patience or LONGEST
    needed = f"its first answer took {took:.1f} s" if took is not None else "it did not answer at all"
    return McpClient(
        f"{client.name} gave up after {allowed:.0f} s",
        detail=f"moot mcp was started the way {client.name} starts it: {needed}",
        fix=("moot doctor mcp",),
        client=client.name,
    )
