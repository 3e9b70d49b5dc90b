"""A prompt's lines in the form that providers accept, with the same content.

Above: the adapters. Below: the prompt. Not here: the format of any provider.

Providers refuse some lists, so: blank texts are left out; a call without a result gets one that says so; a result
without a call becomes a plain text; results come directly after their calls; the list neither begins nor ends with the
assistant; and, for providers that require it, neighbours of one role become one message (K-06).
"""

import json
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from moot.model.json import JsonObject
from moot.model.prompt import Prompt, PromptLine, PromptRole, ToolCall

BEGINNING: Final = "(The conversation begins here.)"
YOUR_TURN: Final = "(It is your turn.)"
NO_RESULT: Final = "(There is no result: the tool was interrupted.)"


class MarkedLine(Struct, frozen=True):
    """A line, and whether the mark for the provider's cache comes after it."""

    line: PromptLine
    marked: bool = False


class MergedLines(Struct, frozen=True):
    """Neighbouring lines of one role, as one message."""

    role: PromptRole
    lines: tuple[MarkedLine, ...]


def repair_lines(prompt: Prompt) -> tuple[MarkedLine, ...]:
    """The lines of a prompt in a form that providers accept; the last stable one is marked."""
    found = [
        MarkedLine(line, marked=number == prompt.stable)
        for number, line in enumerate(prompt.lines, start=1)
        if line.calls or line.answers or line.content.strip()
    ]
    if prompt.stable and found and not any(place.marked for place in found):
        found = _move_mark(found, prompt)
    lines = _put_results_after_calls(found)
    if not lines or lines[0].line.role == "assistant":
        lines.insert(0, MarkedLine(PromptLine("user", BEGINNING)))
    if lines[-1].line.role == "assistant":
        lines.append(MarkedLine(PromptLine("user", YOUR_TURN)))
    return tuple(lines)


def merge_lines(lines: Iterable[MarkedLine]) -> tuple[MergedLines, ...]:
    """One message for neighbours of one role."""
    found: list[tuple[PromptRole, list[MarkedLine]]] = []
    for place in lines:
        if not found or found[-1][0] != place.line.role:
            found.append((place.line.role, []))
        found[-1][1].append(place)
    return tuple(MergedLines(role, tuple(places)) for role, places in found)


def arguments_of(call: ToolCall) -> JsonObject:
    """For providers that take parsed arguments; the model sees broken ones as it wrote them."""
    try:
        parsed = json.loads(call.arguments or "{}")
    except ValueError:
        return {"unreadable": call.arguments}
    return parsed if isinstance(parsed, dict) else {"unreadable": call.arguments}


def _move_mark(lines: list[MarkedLine], prompt: Prompt) -> list[MarkedLine]:
    """The last stable line was blank: the mark goes to the stable one before it."""
    position = sum(
        1 for line in prompt.lines[: prompt.stable] if line.calls or line.answers or line.content.strip()
    )
    return [structs.replace(place, marked=number == position) for number, place in enumerate(lines, start=1)]


def _put_results_after_calls(source: Sequence[MarkedLine]) -> list[MarkedLine]:
    lines: list[MarkedLine] = []
    start = 0
    for end in range(1, len(source) + 1):
        if end == len(source) or source[end].line.role == "assistant":
            lines += _repair_group(source[start:end])
            start = end
    return lines


def _repair_group(group: Sequence[MarkedLine]) -> list[MarkedLine]:
    """`group` is an assistant's line and all lines up to its next one."""
    called = [call.id for call in group[0].line.calls] if group else []
    head = list(group[:1]) if group and group[0].line.role == "assistant" else []
    results: dict[str, MarkedLine] = {}
    others: list[MarkedLine] = []
    for place in group[len(head) :]:
        answers = place.line.answers
        if answers in called and answers not in results:
            results[answers] = place
        else:
            others.append(structs.replace(place, line=structs.replace(place.line, answers="")))
    missing = {id_: MarkedLine(PromptLine("user", NO_RESULT, answers=id_)) for id_ in called}
    return [*head, *({**missing, **results}[id_] for id_ in called), *others]
