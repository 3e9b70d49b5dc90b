"""The demo brain: scripted, deterministic, and marked as such on every message. No model is called.

It quotes the question, speaks in its role, mentions the peer whose role fits best, and otherwise passes. Some names
make it misbehave on purpose: `flaky` fails, `slow` exceeds its time, `thanks-…` thanks without end. With a role of the
help desk it plays its part there (demo_desk.py).
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256

from moot.brain import HostedTurn
from moot.brains.demo_desk import PARTS
from moot.brains.demo_roles import ANY, best, next_after, trade_of
from moot.model.prompt import ModelAnswer, Prompt
from moot.rules.words.silence import PASS

WORDS_PER_SECOND = 25
THINK_SECONDS = 0.3
"""Before the first word or the pass, so that a reader sees who is thinking."""
SENTENCE_PAUSE_WORDS = 4
"""The pause after a sentence, in words."""
MAX_QUOTE_CHARACTERS = 60
MAX_QUOTES = 12

OPENINGS = (
    "You asked about {quote}. {seen} I would {would}",
    "On {quote}: {seen} I would {would}",
    "So, {quote}. {seen} I would {would}",
)
_INTRODUCTION = re.compile(
    r"(?:(?:and|hey|hi|now|okay|ok|please|so|then|well)\b[,\s]*"
    r"|(?:how|what)\s+about\s+"
    r"|(?:analy[sz]e|check|compare|discuss|draft|explain|review|summari[sz]e|write)\s+(?:(?:me|us)\s+)?)+",
    re.IGNORECASE,
)
"""What comes before the subject of a request."""


class DemoBrain:
    name = "demo/1"

    def __init__(self, seed: int = 1, fast: bool = False) -> None:
        self._seed = seed
        self._fast = fast

    async def think(self, turn: HostedTurn) -> str | None:
        if turn.agent == "flaky":
            raise RuntimeError("the demo agent flaky fails on purpose")
        if turn.agent == "slow":
            await asyncio.sleep(3600)
        reply = await self._reply(turn)
        await self._wait(THINK_SECONDS)
        if reply == PASS:
            return PASS
        for word in reply.split(" "):
            await turn.say(word if not turn.said else f" {word}")
            await self._wait(
                (SENTENCE_PAUSE_WORDS if word.endswith((".", ":", "?")) else 1) / WORDS_PER_SECOND
            )
        return None

    async def _wait(self, seconds: float) -> None:
        if not self._fast:
            await asyncio.sleep(seconds)

    async def _reply(self, turn: HostedTurn) -> str:
        if turn.agent.startswith("thanks-"):
            return _thanks(turn)
        if turn.role in PARTS:
            return await PARTS[turn.role](turn)
        roles = await _roles(turn)
        if not turn.must_answer and turn.conversation.kind != "direct" and not _is_best_suited(turn, roles):
            return PASS
        if turn.trigger.kind == "human":
            opening = self._opening(turn)
            peer = _peer(turn, roles)
            return f"{opening} @{peer}, {trade_of(roles[peer], peer).request}" if peer else opening
        about = next((m.text for m in reversed(turn.messages) if m.kind == "human"), turn.text)
        quote, trade = _topic(about), trade_of(turn.role, turn.agent)
        return self._pick(trade.adds, turn).format(quote=f'"{quote}"', topic=_capital(quote))

    def _opening(self, turn: HostedTurn) -> str:
        trade, role = trade_of(turn.role, turn.agent), turn.role.split(",")[0].strip()
        # A role may be any sentence; only one that names a trade can follow "As".
        seen = f"As {role}" if role and trade is not ANY else f'As "{role}"' if role else "As a demo agent"
        opening = self._pick(OPENINGS, turn).format(
            quote=f'"{_topic(turn.text)}"', seen=seen, would=self._pick(trade.would, turn)
        )
        return re.sub(r"(?<=: )As ", "as ", opening)

    def _pick(self, choices: tuple[str, ...], turn: HostedTurn) -> str:
        """Same words and same seed, same choice."""
        digest = sha256(f"{self._seed}|{turn.agent}|{turn.text}".encode()).digest()
        return choices[digest[0] % len(choices)]


class DemoModel:
    """The demo brain in place of a model: it summarises by quoting the first words of each message."""

    name = "demo"
    _framed = re.compile(r'^\[From (\w+)(?: "([^"]+)")?\]: #(\d+) <[0-9a-f]+>\n([^\n]*)', re.MULTILINE)

    async def complete(self, prompt: Prompt, on_piece: Callable[[str], Awaitable[None]]) -> ModelAnswer:
        content = prompt.lines[-1].content if prompt.lines else ""
        quotes = [
            f"{name or kind}: {_short(text)}"
            for kind, name, _, text in self._framed.findall(content)[-MAX_QUOTES:]
        ]
        text = f"A demo summary, made by quoting: {'; '.join(quotes)}." if quotes else "Nothing was said."
        await on_piece(text)
        return ModelAnswer(text)

    async def close(self) -> None:
        """It holds nothing."""


async def _roles(turn: HostedTurn) -> dict[str, str]:
    """The agents of the conversation that can be reached now, and this one: name → role, in the order they joined."""
    here = [seat.name for seat in turn.conversation.participants if seat.kind == "agent"]
    rows = [await turn.hub.agents.get(name) for name in here]
    return {
        row.name: row.role
        for row in rows
        if row.name == turn.agent or (row.reachability == "live" and row.status != "rate_limited")
    }


def _is_best_suited(turn: HostedTurn, roles: Mapping[str, str]) -> bool:
    """A person asked nobody in particular and nobody has answered yet: the agent whose role fits the words best
    answers; if no role fits, the first one that is polled."""
    if turn.reason != "poll" or turn.trigger.kind != "human" or turn.trigger.mentions:
        return False
    if any(message.seq > turn.trigger.seq and message.kind == "agent" for message in turn.messages):
        return False
    return best(turn.text, roles) in (None, turn.agent)


def _peer(turn: HostedTurn, roles: Mapping[str, str]) -> str | None:
    """The peer to mention: the one whose role fits the words best, or whose trade takes over from this agent's.
    None if the message mentioned others too."""
    if turn.conversation.kind == "direct" or len(turn.trigger.mentions) > 1:
        return None
    peers = {name: role for name, role in roles.items() if name != turn.agent}
    return best(turn.text, peers) or next_after(trade_of(turn.role, turn.agent), peers)


def _thanks(turn: HostedTurn) -> str:
    """Thank the other agent without end, to show how a brake stops it."""
    others = [
        seat.name
        for seat in turn.conversation.participants
        if seat.kind == "agent" and seat.name != turn.agent
    ]
    to = turn.trigger.sender if turn.trigger.sender in others else next(iter(others), "")
    return f"Thank you, @{to}!" if to else "Thank you!"


def _short(text: str) -> str:
    """The person's own words, without the names, shortened."""
    words = _bare(text)
    return (
        words if len(words) <= MAX_QUOTE_CHARACTERS else words[:MAX_QUOTE_CHARACTERS].rsplit(" ", 1)[0] + " …"
    )


def _topic(text: str) -> str:
    """The subject of the request, as the person wrote it, without the "please" and the "analyze" before it."""
    words = _bare(text)
    lead = _INTRODUCTION.match(words)
    return _short(words[lead.end() :] if lead else words) or _short(words)


def _bare(text: str) -> str:
    return " ".join(word for word in text.split() if not word.startswith("@")).strip(" ,.!?:;")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
