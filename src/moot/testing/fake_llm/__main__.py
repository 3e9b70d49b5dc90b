"""The fake model server by hand: prints its address, runs until stopped."""

import argparse
import asyncio
import contextlib
import sys

from moot.testing.fake_llm.answers import Answer, Fault
from moot.testing.fake_llm.persona import reply
from moot.testing.fake_llm.script import Script
from moot.testing.fake_llm.server import FakeLLM


async def serve(port: int, script: Script) -> None:
    async with FakeLLM(script, port=port) as llm:
        sys.stdout.write(f"{llm.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m moot.testing.fake_llm", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port (0 picks a free one)")
    parser.add_argument("--text", help="always answer with this text")
    parser.add_argument("--fault", choices=[fault.value for fault in Fault], help="always fail this way")
    options = parser.parse_args()
    fixed = options.text is not None or options.fault is not None
    script = Answer(options.text or "", fault=Fault(options.fault or "ok")) if fixed else reply
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(options.port, script))


if __name__ == "__main__":
    main()
