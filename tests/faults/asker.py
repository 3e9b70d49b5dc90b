"""A process in which an outside agent asks and waits: `python -m tests.faults.asker HOME WHOM QUESTION`.

It says what it heard, and on which line: a test kills it before it can.
"""

import asyncio
import sys
from pathlib import Path

from moot.hub import Hub

SECONDS = 300.0


async def main(home: Path, whom: str, question: str) -> None:
    async with Hub.open(home) as hub:
        answer = await hub.acting_as("x").ask(whom, question, timeout=SECONDS)
        print(answer.text, flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
