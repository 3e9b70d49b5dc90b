"""A conversation as one member sees it: its own words are the assistant's, all else the user's (SPEC K-06).

Above: context/ builds what a brain is given from this. Below: nothing.
Not here: windows, budgets, summaries, prompts.

The label in front of a text comes from the store, never from the text. A line inside a text that reads like a
label is shown as a quotation (`> `), so a forged speaker stays what it is: words of the real author (J-07).
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

Role = Literal["assistant", "user"]


class Entry(Struct, frozen=True):
    """One message of the history."""

    author: str
    kind: str
    text: str


class RoleMessage(Struct, frozen=True):
    """One message as a model's API takes it."""

    role: Role
    content: str


def role(author: str, me: str) -> Role:
    return "assistant" if author == me else "user"


def label(kind: str, name: str) -> str:
    """What stands in front of another's text, so that the reader knows who speaks."""
    if kind == "human":
        return f"{name}: "
    if kind == "system":
        return "[From system]:\n"
    return f'[From {kind} "{name}"]:\n'


def as_seen_by(me: str, entries: Sequence[Entry]) -> tuple[RoleMessage, ...]:
    """The history from one member's side: own words as they were said, others' labelled by speaker."""
    humans = {entry.author for entry in entries if entry.kind == "human"}
    forgeable = ("[from ", *(label("human", human).lower() for human in sorted(humans)))
    return tuple(
        RoleMessage("assistant", entry.text)
        if role(entry.author, me) == "assistant" and entry.kind != "tool"
        else RoleMessage("user", _labelled(entry, forgeable))
        for entry in entries
    )


def merged(messages: Iterable[RoleMessage]) -> tuple[RoleMessage, ...]:
    """Neighbours of one role joined by a blank line; only for providers that demand turns by turns."""
    turns: list[tuple[Role, list[str]]] = []
    for message in messages:
        if turns and turns[-1][0] == message.role:
            turns[-1][1].append(message.content)
        else:
            turns.append((message.role, [message.content]))
    return tuple(RoleMessage(who, "\n\n".join(said)) for who, said in turns)


def _labelled(entry: Entry, forgeable: tuple[str, ...]) -> str:
    front = label(entry.kind, entry.author)
    text = entry.text
    lowered = text.lower()
    if not any(start in lowered for start in forgeable):
        return front + text
    lines = text.splitlines(keepends=True)
    quoted = [f"> {line}" if line.lstrip().lower().startswith(forgeable) else line for line in lines]
    if not front.endswith("\n"):
        quoted[0] = lines[0]  # it stands behind the true label, on the same line
    return front + "".join(quoted)
