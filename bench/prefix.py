"""prefix: how much of an agent's prompt the last one already had, over 51 turns in a group of 6 model agents.

No provider takes part: prompts are compared byte by byte as they are made. `reused` is the share of the last prompt
that the next one begins with (what a provider's cache can hold), `known` the share of the next one that is not new.
"""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from moot import Hub
from moot.brains.code import AgentSpec
from moot.context.prompt import common_prefix, flattened

NAMES = ("ann", "ben", "cat", "dan", "eve", "fay")
ROUNDS = 17
SIZES = ((20, 2_000), (20, 8_000), (100, 32_000))
SETTINGS = """
[groups]
cooldown_seconds = 0.0
reactive_round = false
[limits]
agent_turns_per_hour = 100000
"""
QUESTION = "It matters because of this and that. " * 4
ANSWER = "something of ordinary length about the matter, with a reason and an example. " * 3


def listener(name: str, prompts: list[bytes], messages: int, tokens: int) -> AgentSpec:
    async def think(turn: Any) -> str:
        prompts.append(flattened(await turn.prompt()))
        return f"{name} says {ANSWER}"

    return AgentSpec(
        name, think, role="an engineer", prompted=True, context_messages=messages, context_tokens=tokens
    )


async def prompts_of(messages: int, tokens: int) -> dict[str, list[bytes]]:
    """Every prompt of every agent, in order. Each round mentions three agents; the cap lets three speak."""
    given: dict[str, list[bytes]] = {name: [] for name in NAMES}
    with TemporaryDirectory() as folder:
        (Path(folder) / "moot.toml").write_text(SETTINGS)
        specs = [listener(name, given[name], messages, tokens) for name in NAMES]
        async with Hub.open(folder, agents=specs) as hub:
            await hub.conversations.create("group", participants=list(NAMES))
            for n in range(ROUNDS):
                called = " ".join(f"@{NAMES[(n * 3 + k) % len(NAMES)]}" for k in range(3))
                await hub.post("group", f"{called} what about point {n}? {QUESTION}")
                await hub.settled("group", timeout=60)
    return given


def shares(given: dict[str, list[bytes]]) -> tuple[float, float, int]:
    """Reused, known, and bytes of a prompt on average."""
    pairs = [pair for prompts in given.values() for pair in pairwise(prompts)]
    common = sum(common_prefix(before, after) for before, after in pairs)
    before, after = sum(len(b) for b, _ in pairs), sum(len(a) for _, a in pairs)
    return common / before, common / after, after // len(pairs)


async def run() -> list[str]:
    lines = ["prefix: 51 turns, 6 agents, every prompt against the agent's last one"]
    for messages, tokens in SIZES:
        reused, known, size = shares(await prompts_of(messages, tokens))
        lines.append(
            f" context_messages {messages:4}, context_tokens {tokens:6}: "
            f"reused {reused:.3f}, known {known:.3f}, {size} bytes on average"
        )
    return lines
