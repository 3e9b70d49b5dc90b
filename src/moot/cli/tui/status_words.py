"""What an agent does, in the words that all surfaces share (UX 4.3): the shape says who, the fill whether at work.

Above: header, activity line and menus. Below: chat_state.py. Not here: colours (bubbles.py), layout.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from moot.cli.tui.chat_state import ChatState, Doing
from moot.rules.palette import AWAY, HOLLOW

AT_WORK: Final = ("thinking", "tool", "streaming")
GLYPHS: Final = {
    "thinking": "◔",
    "tool": "⚙",
    "passed": "–",  # noqa: RUF001  a dash is what it is
    "cooldown": "◷",
    "rate_limited": "⏳",
    "paused": "‖",
    "error": "!",
}
NO_PROGRESS_SECONDS: Final = 120
PASSED_SECONDS: Final = 10
DONE_SECONDS: Final = 3600
MAX_WORDS: Final = 40
UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


def mark(filled: str, doing: Doing) -> str:
    if doing.state in ("offline", "removed"):
        return AWAY
    return filled if doing.state in AT_WORK else HOLLOW.get(filled, filled)


def words(doing: Doing, now: float, *, asks: bool = False) -> str:
    """The state in words, with the time where that matters."""
    elapsed = _seconds(doing.since, now)
    glyph = GLYPHS.get(doing.state, "")
    match doing.state:
        case "thinking" | "tool" | "streaming":
            stalled = f", no progress for {elapsed // 60:.0f} min" if elapsed >= NO_PROGRESS_SECONDS else ""
            text = f"{doing.label} {elapsed:.0f}s{stalled}"
        case "offline":
            text = f"away, last seen {span(elapsed)}" if doing.since else "away"
        case "passed" if elapsed > PASSED_SECONDS:
            return "idle"
        case "paused":
            text = f"{doing.label}, /continue"
        case "error":
            text = f"{doing.label[: MAX_WORDS - len('! , /retry')]}, /retry"
        case "idle" if asks:
            return "? asks you"
        case "idle":
            is_news = doing.since and 1 <= elapsed < DONE_SECONDS
            return f"done {span(elapsed)} ago" if is_news and elapsed >= UNITS[-1][1] else "idle"
        case _:
            text = doing.label
    phrase = f"{glyph} {text}".strip()
    return phrase if len(phrase) <= MAX_WORDS else f"{phrase[: MAX_WORDS - 1]}…"


def span(seconds: float) -> str:
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


def _seconds(since: str | None, now: float) -> float:
    return max(0.0, now - datetime.fromisoformat(since).timestamp()) if since else 0.0


def is_idle(text: str) -> bool:
    return text == "idle" or text.startswith("done ")


def agent_rows(state: ChatState, now: float, *, only_busy: bool = False) -> list[tuple[str, str, str]]:
    """(name, mark, words) of the agents here, or of those that are not idle."""
    rows = [
        (
            seat.name,
            mark(seat.mark, doing),
            words(doing, now, asks=seat.name in state.asking),
        )
        for seat in state.members
        for doing in (state.agents.get(seat.name, Doing("offline", "away", reach="away")),)
    ]
    return [row for row in rows if not (only_busy and is_idle(row[2]))]


def joined_names(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
