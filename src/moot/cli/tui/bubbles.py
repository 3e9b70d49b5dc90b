"""An entry of the transcript as lines of a terminal: three kinds of bubbles, a day, a notice, a remark.

One's own words stand at the right; in a direct conversation the other's stand free, as an assistant's do; where several
speak, each has its bar, mark and name in its colour. The text itself has the terminal's own colours. Markdown of
agents is drawn as it grows, piece by piece: what stands before the last blank line is drawn once.

Above: transcript.py. Below: rich. Not here: scrolling, keys, what is selected.
"""

from collections.abc import Mapping
from functools import lru_cache
from io import StringIO
from typing import Final

from msgspec import Struct
from rich.console import Console
from rich.markdown import Markdown
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from moot.cli.terminal.screen import ASCII_MARKS, ASCII_SIGNS, clock_time, safe
from moot.cli.tui.chat_state import ChatState, Entry
from moot.rules.palette import COLOURS, chosen_index

Line = list[Segment]
MAX_TEXT_COLUMNS: Final = 100
"""Longer lines are hard to read."""
MAX_BUBBLE_COLUMNS: Final = 120
"""With margins and bar: on a wide screen, what belongs together stays together."""
NARROW: Final = 80
INDENT: Final = 2
OWN_SHARE: Final = 0.75
DIM: Final = Style(dim=True)
OWN: Final = Style(color="blue", bold=True)
BLANK: Final[Line] = []


class Look(Struct, frozen=True):
    """How a chat is drawn: on which background, with which characters."""

    light: bool = False
    ascii: bool = False
    wishes: Mapping[str, str] = {}
    """Colours that owners chose for their agents."""

    def style(self, name: str) -> Style:
        colour = COLOURS[chosen_index(name, self.wishes.get(name, ""))]
        return Style(color=(colour.light if self.light else colour.dark).text)

    def fit(self, text: str) -> str:
        if self.ascii:
            for sign, plain in {
                **ASCII_MARKS,
                **ASCII_SIGNS,
                "┃": "|",
                "⋯": "...",
                "◔": "",
                "↓": "v",
            }.items():
                text = text.replace(sign, plain)
        return text


class _ChatMarkdown(Markdown):
    """Markdown as in a chat: a line break in the text is a line break on the screen."""

    def __init__(self, text: str, *, light: bool) -> None:
        super().__init__(text, code_theme="ansi_light" if light else "ansi_dark", hyperlinks=False)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":
                    child.type = "hardbreak"


@lru_cache(maxsize=1)
def _console() -> Console:
    return Console(
        file=StringIO(),  # nothing is written: it only draws
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        width=MAX_TEXT_COLUMNS,
    )


@lru_cache(maxsize=2_000)
def _markdown(text: str, width: int, light: bool) -> tuple[tuple[Segment, ...], ...]:
    """The lines of a text, without padding on the right."""
    console = _console()
    options = console.options.update(width=max(1, width), height=None)
    lines = console.render_lines(_ChatMarkdown(text, light=light), options, pad=False)
    return tuple(tuple(_without_padding(line)) for line in _trim(lines))


def _without_padding(line: Line) -> Line:
    """The line without trailing blanks, unless these have a background colour."""
    line = list(line)
    while line and (line[-1].style is None or line[-1].style.bgcolor is None):
        last = line.pop()
        if last.text.rstrip():
            return [*line, Segment(last.text.rstrip(), last.style)]
    return line


def _trim(lines: list[Line]) -> list[Line]:
    def is_blank(line: Line) -> bool:
        return not "".join(segment.text for segment in line).strip()

    while lines and is_blank(lines[-1]):
        lines = lines[:-1]
    while lines and is_blank(lines[0]):
        lines = lines[1:]
    return lines


def markdown_lines(text: str, width: int, *, light: bool, grows: bool = False) -> list[Line]:
    """A text in Markdown. One that grows is drawn in pieces, of which only the last one is new."""
    lines: list[Line] = []
    for piece in _pieces(safe(text)) if grows else (safe(text),):
        drawn_piece = _markdown(piece, width, light) if piece.strip() else ()
        if drawn_piece:
            lines += [BLANK] if lines else []
            lines += map(list, drawn_piece)
    return lines


def _pieces(text: str) -> list[str]:
    """Cut at blank lines outside of code: what stands before the last one does not change any more."""
    pieces, is_code = [""], False
    for line in text.splitlines(keepends=True):
        pieces[-1] += line
        if line.lstrip().startswith(("```", "~~~")):
            is_code = not is_code
        elif not line.strip() and not is_code:
            pieces.append("")
    return pieces


def text_lines(text: str, width: int, style: Style | None = None) -> list[Line]:
    """A text without markup, wrapped to a width."""
    whole = Text(safe(text), style=style or Style())
    console = _console()
    return [
        [Segment(part.plain, part.style if isinstance(part.style, Style) else Style.parse(part.style or ""))]
        for part in whole.wrap(console, max(1, width), tab_size=4)
    ]


def entry_lines(entry: Entry, state: ChatState, look: Look, width: int) -> list[Line]:
    """All lines of an entry, with a blank one after it."""
    width = min(width, MAX_BUBBLE_COLUMNS)
    room = max(10, min(width, MAX_TEXT_COLUMNS + INDENT * 2) - INDENT)
    match entry.kind:
        case "day" | "tick":
            return [*_rule(look.fit(safe(entry.text)), width), BLANK]
        case "notice" | "remark":
            lines = text_lines(look.fit(entry.text), max(10, width - INDENT * 2), DIM)
            return [*([Segment(" " * INDENT), *line] for line in lines), BLANK]
        case _ if entry.progress is not None:
            return _own(entry, look, width)
        case _:
            return _others(entry, state, look, width, room)


def _rule(text: str, width: int) -> list[Line]:
    """A small notice with a rule, on several lines if it is too long for one."""
    parts = text_lines(text, max(10, width - INDENT * 2 - len("── ")), DIM)
    texts = ["".join(segment.text for segment in part) for part in parts]
    lines = [f"{' ' * INDENT}{'── ' if not number else '   '}{part}" for number, part in enumerate(texts)]
    last = f"{lines[-1]} "
    return [[Segment(line, DIM)] for line in (*lines[:-1], last + "─" * (width - len(last) - INDENT))]


def _own(entry: Entry, look: Look, width: int) -> list[Line]:
    body = text_lines(look.fit(entry.text), int(max(20, min(MAX_TEXT_COLUMNS, (width - INDENT) * OWN_SHARE))))
    bar = look.fit("┃")
    widest = max([Segment.get_line_length(line) for line in body] or [0])
    left = max(0, width - widest - len(bar) - 1 - INDENT)
    head = f"you {clock_time(entry.at)}"
    steps = _receipt(entry, short=width < NARROW)
    gap = max(0, width - len(head) - len(steps) - 1 - len(bar) - 1 - INDENT)
    lines: list[Line] = [
        [Segment(" " * gap), Segment(head, OWN), Segment(f" {look.fit(steps)} ", DIM), Segment(bar, OWN)]
    ]
    for line in body:
        short = widest - Segment.get_line_length(line)
        lines.append([Segment(" " * left), *line, Segment(" " * (short + 1)), Segment(bar, OWN)])
    return [*lines, BLANK]


def _receipt(entry: Entry, *, short: bool) -> str:
    """Queued, delivered, answered: each step that is reached has a tick."""
    progress = entry.progress
    if progress is None:
        return ""
    steps = (("queued", True), ("delivered", progress.delivered), ("answered", progress.answered))
    if short:
        return "".join("✓" if is_reached else "·" for _, is_reached in steps)
    return " ".join(f"{'✓' if is_reached else '·'}{name}" for name, is_reached in steps)


def _others(entry: Entry, state: ChatState, look: Look, width: int, room: int) -> list[Line]:
    is_agent = entry.author in ("agent", "external")
    style = look.style(entry.sender) if is_agent else Style(bold=True)
    sign = f"{state.marks.get(entry.sender, '●')} " if is_agent else ""
    name = look.fit(f"{sign}{entry.sender}")
    chip = f"  {entry.chip}" if entry.chip else ""
    about = " · ".join(part for part in (clock_time(entry.at), entry.reason, entry.number) if part)
    gap = width - INDENT * 2 - len(name) - len(chip) - len(about)
    head: list[Line] = [
        [
            Segment(" " * INDENT),
            Segment(name, style + Style(bold=True)),
            Segment(chip, DIM),
            Segment(" " * max(2, gap)),
            Segment(look.fit(about), DIM),
        ]
    ]
    if gap < INDENT:
        head = [head[0][:3], [Segment(" " * INDENT), Segment(look.fit(about)[: width - INDENT * 2], DIM)]]
    is_free = not state.is_group and is_agent
    bar: Line = (
        [Segment(" " * INDENT)] if is_free else [Segment(" " * INDENT), Segment(look.fit("┃ "), style)]
    )
    inner = room - INDENT * 2
    grows = entry.kind == "stream"
    text = f"… {entry.text}" if entry.is_late else entry.text
    body = (
        markdown_lines(look.fit(text), inner, light=look.light, grows=grows)
        if is_agent
        else text_lines(look.fit(text), inner)
    )
    if grows and not entry.ending:
        body = [*body[:-1], [*(body[-1] if body else []), Segment("▌" if not look.ascii else "_", style)]]
    if entry.ending:
        body = [*body, [Segment(look.fit(f"⋯ {entry.ending}"), DIM)]]
    return [*head, *([*bar, *line] for line in body), BLANK]
