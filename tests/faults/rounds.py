"""A process that plays one round and may die in it: three agents, one person, `hi @b @a`.

Started as a program it has everything imported and waits for cases on standard input; each case is played by a
fork of it, so a case costs no process start. A case is a line `{"home", "failpoint", "seconds", "again"}`; the
answer is a line with the signal or the exit code the fork ended with.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import json

from moot import failpoints
from moot.brains.code import AgentSpec
from moot.errors import Conflict, StoreUnwritable
from moot.hub import Hub
from moot.model.prompt import ToolCall, ToolResult, ToolSpec
from tests.support.ledger import INFO, OK, Ledger, Op, body_sha, now

AGENTS = ("a", "b", "c")
USES_A_TOOL = "b"
ROOM = "room"
COOLDOWN = 0.1
SETTLED, UNSETTLED, BROKEN, STUNG = 0, 3, 4, 5
"""Exit codes; STUNG: settled, although its failpoint was met."""
HARD_LIMIT = 60
"""Seconds after which a case hangs."""


def agent(name: str, home: Path) -> AgentSpec:
    """Says who it is, and notes every time it is asked to think: that may happen again after a crash."""

    async def think(turn: Any) -> str:
        with (home / "thoughts").open("ab") as file:
            file.write(f"{name} {turn.id}\n".encode())
        if name == USES_A_TOOL:
            await use(turn)
        return f"{name} answers what was said so far, {len(turn.messages)} messages in all"

    return AgentSpec(name, think)


class Ruler:
    """A tool that does no harm when it is run again."""

    spec = ToolSpec("ruler", "measures", {"type": "object"}, idempotent=True)

    async def run(self, arguments: dict[str, Any], turn: Any) -> ToolResult:
        return ToolResult("twelve")


async def use(turn: Any) -> None:
    """Call the tool once; after a crash, go on from what is written down."""
    if not turn.steps:
        await turn.use(Ruler(), ToolCall("c1", "ruler", "{}"), answer=0, said="")
    elif not turn.steps[-1].seq:
        await turn.run_step(Ruler(), turn.steps[-1])


async def play(home: Path, seconds: float, again: bool) -> None:
    """The whole round, from wherever an earlier process left it. What goes wrong ends the process at once: a
    hub that is closed in good order takes its agents away, and nobody polls who is away."""
    asyncio.get_running_loop().call_later(seconds, os._exit, UNSETTLED)
    with Ledger(home / "ledger.jsonl") as book:
        async with Hub.open(home, agents=[agent(name, home) for name in AGENTS]) as hub:
            try:
                await rounds(hub, book, again)
            except (OSError, StoreUnwritable):
                os._exit(BROKEN)


async def rounds(hub: Hub, book: Ledger, again: bool) -> None:
    try:
        made = await hub.conversations.create(
            ROOM, participants=AGENTS, settings={"cooldown_seconds": COOLDOWN}
        )
    except Conflict:
        made = await hub.conversations.get(ROOM)
    await post(hub, book, made.id, "k1", "hi @b @a")
    await hub.settled(ROOM, timeout=HARD_LIMIT)
    if again:
        await post(hub, book, made.id, "k2", "and now? @b")
        await hub.settled(ROOM, timeout=HARD_LIMIT)


async def post(hub: Hub, book: Ledger, conv: str, key: str, text: str) -> None:
    begun = now()
    op = Op("post", conv, "user", INFO, key, body_sha(text), begun, begun)
    book.add(op)
    receipt = await hub.post(conv, text, idempotency_key=key)
    book.add(Op("post", conv, "user", OK, key, op.body_sha, begun, now(), receipt.id, receipt.seq))


def one(case: dict[str, Any]) -> int:
    """Play a case in this very process; the exit code."""
    home = Path(case["home"])
    home.mkdir(exist_ok=True)
    try:
        asyncio.run(play(home, case.get("seconds", HARD_LIMIT), case.get("again", False)))
    except OSError:
        return BROKEN
    return STUNG if case.get("failpoint") and not failpoints.is_armed() else SETTLED


def fork(case: dict[str, Any], play_one: Callable[[dict[str, Any]], int]) -> dict[str, int]:
    child = os.fork()
    if child == 0:
        signal.alarm(HARD_LIMIT)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # answers are the parent's; the child may log
        failpoints.arm(case.get("failpoint", ""))
        code = BROKEN
        try:
            code = play_one(case)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return {"signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "code": status >> 8}


def main(play_one: Callable[[dict[str, Any]], int] = one) -> None:
    for line in sys.stdin.buffer:
        answer = fork(json.decode(line), play_one)
        sys.stdout.buffer.write(json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
