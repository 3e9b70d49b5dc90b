"""Where a text is code, read as CommonMark reads it: fenced blocks and code spans.

Above: rules/mentions asks, only for texts that hold a backtick or a tilde fence. Below: nothing.
Not here: drawing Markdown, or any other of its blocks.

What is shown as code names nobody, so this follows the renderers. Two readings are our own, on purpose:
  - a fence may be indented to any depth and follow `>` or a list marker, as models write them;
  - an indented block is not code: a list item's second paragraph looks the same, and a lost mention is worse.

It is written for hostile texts: every stretch is read a fixed number of times, whatever the text, and past
10,000 runs of backticks the rest counts as code.
"""

import re
from collections.abc import Iterator
from itertools import islice

_ticks = re.compile(r"``*").finditer  # begins with a letter as is, which re finds 4 times faster than "`+"
_ticks_or_tildes = re.compile(r"``*|~~~~*").finditer
# What may stand before a fence on its line: quote marks, list markers, white space. No two steps start with
# the same letter, so nothing is tried twice.
_containers = re.compile(r"(?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*").match
_lead = re.compile(r"[ \t]*").match
_quoted_lead = re.compile(r"[ \t>]*").match
# The first line that is outside the quote, or the list item, a fence was opened in.
_unquoted = re.compile(r"\n(?![ \t]*>)").search
_unindented = re.compile(r"\n(?=[^ \t>\n])").search
# A line that ends the paragraph before it: blank, heading, list item. No code span reaches across.
_next_block = re.compile(r"\n[ \t>]*(?:\n|#{1,6}[ \t]|[-*+][ \t]|\d{1,9}[.)][ \t])").search

_MAX_RUNS = 10_000
_MIN_FENCE_CHARACTERS = 3


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Half-open ranges of code, in order, none overlapping."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")  # same length, one kind of line end
    over = next(islice(_runs(text), _MAX_RUNS, None), None) if len(text) > _MAX_RUNS else None
    if over is None:
        return _read(text)
    return [*_read(text[: over.start()]), (over.start(), len(text))]


def _runs(text: str) -> Iterator[re.Match[str]]:
    return _ticks_or_tildes(text) if "~" in text else _ticks(text)


def _read(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    runs: list[tuple[int, int]] = []  # backtick runs of the paragraph being read
    read_to = 0
    fence: _Fence | None = None
    for run in _runs(text):
        start, end = run.span()
        if fence is not None:
            left_at = fence.left_at(start, end)
            if left_at < 0:
                continue
            found.append((fence.start, left_at))
            fence = None
            read_to = left_at
            if left_at >= end:
                continue
        newline = text.rfind("\n", read_to, start)
        if newline >= 0 or read_to == 0 or text[read_to - 1] == "\n":  # the first run on its line
            fence = _opened(text, newline + 1 if newline >= 0 else read_to, start, end)
            if fence is not None or (runs and _next_block(text, read_to, start)):
                found += _spans(text, runs)
                runs = []
        if fence is None and text[start] == "`":
            runs.append((start, end))
        read_to = end
    if fence is None:
        return found + _spans(text, runs)
    # Never closed: code to the end of the text, or of the quote or list it stands in.
    left_at = fence.left_at(len(text), len(text))
    return [*found, (fence.start, left_at if left_at >= 0 else len(text))]


class _Fence:
    """An open fenced block: knows the line that closes it, or leaves the quote or list it stands in."""

    __slots__ = ("_leaves", "_mark", "_read_to", "_size", "_text", "start")

    def __init__(self, text: str, line: int, start: int, end: int, body: int) -> None:
        before = text[line:start]
        self.start = start
        self._text = text
        self._mark = text[start]
        self._size = end - start
        self._leaves = _unquoted if ">" in before else _unindented if before.strip() else None
        self._read_to = body  # the start of a line, or inside one whose first run was looked at

    def left_at(self, start: int, end: int) -> int:
        """Where the block ends if it ends at or before this run; -1 while it goes on."""
        text, read_to = self._text, self._read_to
        if start < read_to:
            return -1  # still on the opening line
        self._read_to = end
        newline = text.rfind("\n", read_to - 1, start)
        if newline < 0:
            return -1  # not the first run on its line
        outside = self._leaves(text, read_to - 1, start + 1) if self._leaves else None
        if outside is not None:
            return outside.end()
        lead = (_quoted_lead if self._leaves is _unquoted else _lead)(text, newline + 1, start)
        if end - start < self._size or text[start] != self._mark or lead is None or lead.end() != start:
            return -1
        line_end = text.find("\n", end)
        if line_end < 0:
            line_end = len(text)
        return -1 if text[end:line_end].strip(" \t") else min(line_end + 1, len(text))


def _opened(text: str, line: int, start: int, end: int) -> _Fence | None:
    """The fence this run opens, if it opens one: three or more, first on its line."""
    if end - start < _MIN_FENCE_CHARACTERS:
        return None
    before = _containers(text, line, start)
    if before is None or before.end() != start:
        return None
    line_end = text.find("\n", end)
    if line_end < 0:
        line_end = len(text)
    if text[start] == "`" and text.find("`", end, line_end) >= 0:
        return None  # a span on one line: ```like this```
    return _Fence(text, line, start, end, min(line_end + 1, len(text)))


def _spans(text: str, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Code spans of one paragraph: from a run of backticks to the next run of the same length."""
    opens = [start + 1 if start and _escaped(text, start) else start for start, _ in runs]
    closed_by = [0] * len(runs)
    next_of_size: dict[int, int] = {}
    for i in range(len(runs) - 1, -1, -1):
        start, end = runs[i]
        closed_by[i] = next_of_size.get(end - opens[i], 0)
        next_of_size[end - start] = i
    found: list[tuple[int, int]] = []
    i = 0
    while i < len(runs):
        if closed_by[i]:
            found.append((opens[i], runs[closed_by[i]][1]))
            i = closed_by[i]
        i += 1
    return found


def _escaped(text: str, start: int) -> bool:
    """Whether a backslash takes the first backtick's meaning: an odd number of them stands before it."""
    first = start
    while first and text[first - 1] == "\\":
        first -= 1
    return (start - first) % 2 == 1
