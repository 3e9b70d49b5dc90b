"""A model server for `moot demo --with-fake-model`: the scripted one of moot.testing, as a process of its own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from moot.errors import HubAbsent

START_SECONDS = 20.0


@asynccontextmanager
async def fake_model() -> AsyncIterator[str]:
    """Its address, for as long as the block lasts."""
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "moot.testing.fake_llm",
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert server.stdout is not None
        line = await asyncio.wait_for(server.stdout.readline(), START_SECONDS)
        if not line:
            raise HubAbsent("the fake model server did not start", fix=("python -m moot.testing.fake_llm",))
        yield line.decode().strip()
    finally:
        with suppress(ProcessLookupError):
            server.terminate()
        await server.wait()
