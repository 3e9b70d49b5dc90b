"""A prompt's lines as providers accept them, without changing what was said.

Above: the adapters. Below: the prompt. Not here: any provider's own words.

What providers refuse, and what becomes of it here: blank texts are left out; a call without a result gets one that
says so; a result without a call becomes a plain text; results stand directly behind their calls; the list neither
begins nor ends with the assistant; and, for those that insist on it, neighbours of one role are one message (K-06).
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


class Placed(Struct, frozen=True):
    """A line with whether the provider's cache is worth a mark behind it."""

    line: PromptLine
    marked: bool = False


class MergedLines(Struct, frozen=True):
    """Neighbours of one role, as one message."""

    role: PromptRole
    lines: tuple[Placed, ...]


def placed(prompt: Prompt) -> tuple[Placed, ...]:
    """The lines of a prompt, mended; the last stable one is marked."""
    found = [
        Placed(line, marked=number == prompt.stable)
        for number, line in enumerate(prompt.lines, start=1)
        if line.calls or line.answers or line.content.strip()
    ]
    if prompt.stable and found and not any(place.marked for place in found):
        found = _marked_again(found, prompt)
    lines = _results_behind_their_calls(found)
    if not lines or lines[0].line.role == "assistant":
        lines.insert(0, Placed(PromptLine("user", BEGINNING)))
    if lines[-1].line.role == "assistant":
        lines.append(Placed(PromptLine("user", YOUR_TURN)))
    return tuple(lines)


def merged(lines: Iterable[Placed]) -> tuple[MergedLines, ...]:
    """One message for neighbours of one role."""
    found: list[tuple[PromptRole, list[Placed]]] = []
    for place in lines:
        if not found or found[-1][0] != place.line.role:
            found.append((place.line.role, []))
        found[-1][1].append(place)
    return tuple(MergedLines(role, tuple(places)) for role, places in found)


def arguments_of(call: ToolCall) -> JsonObject:
    """For providers that take arguments parsed; broken ones are shown to the model as what they were."""
    try:
        parsed = json.loads(call.arguments or "{}")
    except ValueError:
        return {"unreadable": call.arguments}
    return parsed if isinstance(parsed, dict) else {"unreadable": call.arguments}


def _marked_again(lines: list[Placed], prompt: Prompt) -> list[Placed]:
    """The last stable line was blank: the mark goes to the stable one before it."""
    kept = sum(
        1 for line in prompt.lines[: prompt.stable] if line.calls or line.answers or line.content.strip()
    )
    return [structs.replace(place, marked=number == kept) for number, place in enumerate(lines, start=1)]


def _results_behind_their_calls(source: Sequence[Placed]) -> list[Placed]:
    lines: list[Placed] = []
    start = 0
    for end in range(1, len(source) + 1):
        if end == len(source) or source[end].line.role == "assistant":
            lines += _mended(source[start:end])
            start = end
    return lines


def _mended(group: Sequence[Placed]) -> list[Placed]:
    """An assistant's line and what was said up to its next one."""
    called = [call.id for call in group[0].line.calls] if group else []
    head = list(group[:1]) if group and group[0].line.role == "assistant" else []
    results: dict[str, Placed] = {}
    others: list[Placed] = []
    for place in group[len(head) :]:
        answers = place.line.answers
        if answers in called and answers not in results:
            results[answers] = place
        else:
            others.append(structs.replace(place, line=structs.replace(place.line, answers="")))
    missing = {id_: Placed(PromptLine("user", NO_RESULT, answers=id_)) for id_ in called}
    return [*head, *({**missing, **results}[id_] for id_ in called), *others]
