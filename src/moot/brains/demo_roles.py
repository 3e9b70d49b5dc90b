"""The trades the demo brain can play: the words that identify a role, the questions that suit it, what it says.

Above: brains/demo.py builds sentences from these. Below: nothing.
Not here: who may speak. A trade only says which of the agents present a question suits best.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct


class Trade(Struct, frozen=True):
    name: str
    known_by: tuple[str, ...]
    """Beginnings of words that give the trade away in a role, or in a name."""
    asked_with: tuple[str, ...]
    """Beginnings of words in a question that suit it."""
    request: str
    """How a peer asks it."""
    would: tuple[str, ...]
    """What it tells a person, behind "As ROLE I would"."""
    adds: tuple[str, ...]
    """What it tells a peer; {quote} and {topic} stand for the person's words."""
    then: str = ""
    """The trade it hands on to when the question suits nobody else."""


TRADES: Final = (
    Trade(
        name="analyst",
        known_by=("analy", "research", "data", "financ", "econom"),
        asked_with=("analy", "compar", "earning", "figure", "margin", "market", "number", "price", "revenue"),
        request="which number decides it?",
        would=(
            "start with three facts: what changed, by how much, and compared with what.",
            "look for one number first: the one that would change the decision.",
        ),
        adds=(
            "{quote} needs three facts: what changed, by how much, and compared with what.",
            "One number decides {quote}: the one that would change what we do.",
        ),
        then="writer",
    ),
    Trade(
        name="writer",
        known_by=("writ", "edit", "author", "copy", "journal", "docs"),
        asked_with=(
            "draft",
            "headline",
            "letter",
            "phras",
            "sentence",
            "summar",
            "text",
            "title",
            "word",
            "writ",
        ),
        request="two lines please.",
        would=(
            "say first what changed, then why it matters, and stop there.",
            "put the news into the first line and leave out the rest.",
        ),
        adds=(
            'Draft: "{topic}: three points that matter."',
            "Two lines on {quote}: what changed, and what it means for the reader.",
            "{quote} in one line: what is new, and what to do about it.",
        ),
        then="critic",
    ),
    Trade(
        name="critic",
        known_by=("critic", "review", "skeptic", "sceptic", "test", "audit", "quality"),
        asked_with=(
            "check",
            "critic",
            "doubt",
            "fail",
            "flaw",
            "miss",
            "problem",
            "review",
            "risk",
            "sure",
            "wrong",
        ),
        request="what is missing?",
        would=(
            "ask what would prove it wrong before asking what supports it.",
            "name the one claim that everything else rests on, and doubt that.",
        ),
        adds=(
            "Missing in {quote}: what would prove it wrong, and who would notice.",
            "One doubt about {quote}: which claim does the rest stand on?",
        ),
    ),
    Trade(
        name="engineer",
        known_by=("engineer", "develop", "program", "backend", "frontend", "devops", "architect"),
        asked_with=(
            "api",
            "bug",
            "build",
            "code",
            "crash",
            "database",
            "deploy",
            "fix",
            "implement",
            "stream",
        ),
        request="what would it take?",
        would=(
            "take the smallest step that can be measured, and measure it.",
            "make it fail on purpose first, so that the fix can be seen to work.",
        ),
        adds=(
            "{quote}: the smallest step that can be measured, then the next.",
            "For {quote} I would write the failing test first.",
        ),
        then="critic",
    ),
    Trade(
        name="manager",
        known_by=("manag", "lead", "plan", "product", "coordinat", "owner"),
        asked_with=("deadline", "decid", "decision", "plan", "priorit", "schedul", "team", "when", "who"),
        request="who does it, and by when?",
        would=(
            "settle who decides, by when, and what may be left out.",
            "cut it in two: what must be done this week, and what need not.",
        ),
        adds=("{quote}: one owner, one date, one thing left out on purpose.",),
        then="engineer",
    ),
    Trade(
        name="support",
        known_by=("support", "customer", "service", "care"),
        asked_with=("complain", "customer", "help", "refund", "ticket", "user"),
        request="what do people tell us?",
        would=("answer the person first and look for the cause right after.",),
        adds=("On {quote} people want two things: an answer now, and a date for the rest.",),
        then="engineer",
    ),
)

ANY: Final = Trade(
    name="",
    known_by=(),
    asked_with=(),
    request="what do you say?",
    would=(
        "take it in order: what is known, what is not, and what to do first.",
        "begin with the part that cannot be undone.",
    ),
    adds=("{quote}: what is known, what is not, and what to do first.",),
)
"""For a role that is none of the trades."""


def words_of(text: str) -> list[str]:
    """Lower case, without @names: they say nothing about the subject of a question."""
    return re.findall(r"\w+", re.sub(r"@\S+", " ", text).lower())


def trade_of(role: str, name: str = "") -> Trade:
    """By the role; if that names no trade, by the name."""
    for text in (role, name):
        for word in words_of(text):
            found = next((trade for trade in TRADES if word.startswith(trade.known_by)), None)
            if found is not None:
                return found
    return ANY


def fit(question: str, role: str, name: str = "") -> int:
    """How many words of the question belong to this role: its trade's words, and those of the role itself."""
    trade = trade_of(role, name)
    own = {word for word in words_of(role) if len(word) > len("the")}
    return sum(1 for word in set(words_of(question)) if word.startswith(trade.asked_with) or word in own)


def best(question: str, roles: Mapping[str, str]) -> str | None:
    """The agent, out of name → role, whom the question suits best; None if it suits none."""
    fits = {name: fit(question, role, name) for name, role in roles.items()}
    found = max(fits, key=lambda name: fits[name], default=None)
    return found if found is not None and fits[found] else None


def next_after(trade: Trade, roles: Mapping[str, str]) -> str | None:
    """The first agent, out of name → role, whose trade takes over from this one."""
    takers: Sequence[str] = [
        name for name, role in roles.items() if trade.then and trade_of(role, name).name == trade.then
    ]
    return takers[0] if takers else None
