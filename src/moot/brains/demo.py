"""The demo brain: scripted, deterministic, and marked as such on every message. No model is called.

It quotes the words it was given, speaks in its role, mentions a peer whose role fits, and otherwise passes.
Asked to by its name it misbehaves: `flaky` fails, `slow` outstays its welcome, `thanks-…` thanks without end.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any

from moot.model.prompt import Answered, Prompt
from moot.rules.silence import PASS

WORDS_PER_SECOND = 25
QUOTED = 60
QUOTES = 12

OPENINGS = (
    "You asked about {quote}. As {role} I would start with the three facts that decide it.",
    "On {quote}: from where I sit, as {role}, one thing matters most.",
    "{quote}, then. Seen as {role}: short, and in order.",
)
FOLLOW_UPS = (
    'Draft: "{topic}: three points that matter."',
    "Two lines on {topic}: what changed, and what it costs.",
    "{topic}, in one sentence: less is enough.",
)


class DemoBrain:
    name = "demo/1"

    def __init__(self, seed: int = 1, fast: bool = False) -> None:
        self._seed = seed
        self._fast = fast

    async def think(self, turn: Any) -> str | None:
        if turn.agent == "flaky":
            raise RuntimeError("the demo agent flaky fails on purpose")
        if turn.agent == "slow":
            await asyncio.sleep(3600)
        reply = self._reply(turn)
        if reply == PASS:
            return PASS
        for word in reply.split(" "):
            if not self._fast:
                await asyncio.sleep(1 / WORDS_PER_SECOND)
            await turn.say(word if not turn.said else f" {word}")
        return None

    def _reply(self, turn: Any) -> str:
        if turn.agent.startswith("thanks-"):
            return _thanks(turn)
        if not turn.must_answer and turn.conversation.kind != "direct" and not _is_left_alone(turn):
            return PASS
        role = turn.role or "a demo agent"
        if turn.trigger.kind == "human":
            opening = self._pick(OPENINGS, turn).format(quote=f'"{_topic(turn.text)}"', role=role)
            peer = _peer(turn)
            return f"{opening} @{peer}, two lines please." if peer else opening
        about = next((m.text for m in reversed(turn.messages) if m.kind == "human"), turn.text)
        return self._pick(FOLLOW_UPS, turn).format(topic=_topic(about))

    def _pick(self, choices: tuple[str, ...], turn: Any) -> str:
        """Same words and same seed, same choice."""
        digest = sha256(f"{self._seed}|{turn.agent}|{turn.text}".encode()).digest()
        return choices[digest[0] % len(choices)]


class DemoModel:
    """The demo brain where a model is asked for: sums up by quoting the first words of what was said."""

    name = "demo"
    _said = re.compile(r'^\[From (\w+)(?: "([^"]+)")?\]: #(\d+) <[0-9a-f]+>\n([^\n]*)', re.MULTILINE)

    async def complete(self, prompt: Prompt, said: Callable[[str], Awaitable[None]]) -> Answered:
        given = prompt.lines[-1].content if prompt.lines else ""
        quotes = [
            f"{name or kind}: {_topic(text)}" for kind, name, _, text in self._said.findall(given)[-QUOTES:]
        ]
        text = f"A demo summary, made by quoting: {'; '.join(quotes)}." if quotes else "Nothing was said."
        await said(text)
        return Answered(text)

    async def close(self) -> None:
        """There is nothing to let go."""


def _is_left_alone(turn: Any) -> bool:
    """A person asked nobody in particular, and nobody has answered yet: whoever is asked first does."""
    if turn.reason != "poll" or turn.trigger.kind != "human" or turn.trigger.mentions:
        return False
    return not any(heard.seq > turn.trigger.seq and heard.kind == "agent" for heard in turn.messages)


def _thanks(turn: Any) -> str:
    """Polite without end: for showing how a brake ends it."""
    others = [
        seat.name
        for seat in turn.conversation.participants
        if seat.kind == "agent" and seat.name != turn.agent
    ]
    to = turn.trigger.sender if turn.trigger.sender in others else next(iter(others), "")
    return f"Thank you, @{to}!" if to else "Thank you!"


def _topic(text: str) -> str:
    """The user's own words, without the names, shortened."""
    words = " ".join(word for word in text.split() if not word.startswith("@")).strip(" ,.!?:;")
    return words if len(words) <= QUOTED else words[:QUOTED].rsplit(" ", 1)[0] + " …"


def _peer(turn: Any) -> str | None:
    """The agent behind this one in the group; nobody where the message named somebody else too."""
    if turn.conversation.kind == "direct" or len(turn.trigger.mentions) > 1:
        return None
    agents = [seat.name for seat in turn.conversation.participants if seat.kind == "agent"]
    after = agents[agents.index(turn.agent) + 1 :] if turn.agent in agents else []
    return after[0] if after else None
