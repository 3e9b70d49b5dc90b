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

MAX_START_SECONDS: Final = 30.0
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


def seconds_to_start(patience: float = MAX_START_SECONDS) -> float | None:
    """How long the server takes to answer; None if no usable answer came in time.

    It runs in a temporary home without a hub: a starting server registers an agent, and is slowest when it has to open
    a home itself.
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
        has_answered = bool(ready) and b'"result"' in process.stdout.readline()
        return time.monotonic() - began if has_answered else None
    except OSError:  # it ended before it was asked
        return None
    finally:
        process.kill()
        process.communicate()


def too_slow(client: Client, seconds: float | None) -> McpClient:
    allowed = client.patience or MAX_START_SECONDS
    needed = f"its first answer took {seconds:.1f} s" if seconds is not None else "it did not answer at all"
    return McpClient(
        f"{client.name} gave up after {allowed:.0f} s",
        detail=f"moot mcp was started the way {client.name} starts it: {needed}",
        fix=("moot doctor mcp",),
        client=client.name,
    )
