"""What a turn read and said is let go of when the turn ends: nothing of it waits for the garbage collector.

A hub collects seldom (hub/process/tuning.py). What lay about in rings until then would make it several times as large.
"""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent

WAYS = ("@scout hello", "@scout stream", "@scout pass", "@scout fail", "@scout post")
SETTINGS = "[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n"


@agent("scout")
async def scout(turn: Any) -> str | None:
    """Does what the text says."""
    assert turn.messages
    await turn.prompt()
    if "fail" in turn.text:
        raise ValueError("on purpose")
    if "pass" in turn.text:
        return PASS
    if "stream" in turn.text:
        await turn.say("piece by ")
        await turn.say("piece")
        return None
    if "post" in turn.text:
        await turn.hub.post(turn.conversation.id, "by the way")
    return "it is so"


@contextmanager
def rings() -> Iterator[Counter[str]]:
    """What of ours nobody holds any more after the block, and yet is there."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        kinds = [type(thing) for thing in gc.garbage]
        found.update(kind.__qualname__ for kind in kinds if kind.__module__.startswith("moot."))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def talk(hub: Hub, text: str) -> None:
    await hub.post("room", text)
    await hub.settled("room", timeout=40)


@pytest.mark.parametrize("text", WAYS)
async def test_a_turn_leaves_nothing_for_the_garbage_collector(tmp_path: Path, text: str) -> None:
    (tmp_path / "moot.toml").write_text(SETTINGS)
    async with Hub.open(tmp_path, agents=[scout]) as hub:
        await hub.conversations.create("room", participants=["scout"])
        await talk(hub, text)
        with rings() as left:
            for _ in range(3):
                await talk(hub, text)
        assert not left
