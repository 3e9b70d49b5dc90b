"""What a person means by a word: a name, an id, or the beginning of an id that no other shares. Names win.

Above: every command that takes one. Below: the hub, which knows names and whole ids only; programs have those.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from moot import shapes
from moot.cli.terminal.phrases import title
from moot.errors import NotFound
from moot.model.hint import Act, Hint
from moot.rules.words.mentions import nearest

if TYPE_CHECKING:
    from moot.hub import Hub

MAX_LISTED = 10


async def place(hub: Hub, ref: str, *, may_be_made: bool = False) -> shapes.Conversation:
    """The conversation that is meant; an archived one by its id, or by its name if no other has it now. `may_be_made`:
    the person wants to talk there, and could create it."""
    ref = ref.lstrip("#")
    try:
        return await hub.conversations.get(ref)
    except NotFound as missing:
        every = [*await hub.conversations.list(), *await hub.conversations.list(archived=True)]
        put_away = [each for each in every if each.archived and each.name == ref]
        if put_away:
            return max(put_away, key=lambda each: each.updated_at or "")
        people = [each.name for each in await hub.agents.list()]
        missing = _apart(missing, [each.name for each in every], people, "is an agent", "agents show")
        missing = _among_places(missing, [each.name for each in every], may_be_made=may_be_made)
        return await hub.conversations.get(only(ref, {each.id: title(each) for each in every}, missing))


async def agent(hub: Hub, name: str) -> str:
    """The name of the agent that is meant."""
    name = name.lstrip("@")
    try:
        return (await hub.agents.get(name)).name
    except NotFound as missing:
        every = {each.id: each.name for each in await hub.agents.list()}
        places = [each.name for each in await hub.conversations.list()]
        missing = _apart(missing, [*every.values()], places, "is a conversation", "conv show")
        return every[only(name, every, missing)]


def names_in(typed: Iterable[str]) -> tuple[str, ...]:
    """With or without `@` and commas, each once."""
    words = [word.strip().lstrip("@") for part in typed for word in part.split(",")]
    return tuple(dict.fromkeys(word for word in words if word))


async def agents(hub: Hub, names: Iterable[str]) -> list[str]:
    return [await agent(hub, name) for name in names]


def prefix_notes(typed: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """A note for each word that is only the beginning of a name, before something is sent to that agent."""
    for word, name in zip((each.lstrip("@") for each in typed), names, strict=False):
        if word != name and name.startswith(word):
            yield f'"{word}" is taken for {name}'


def only(prefix: str, ids: dict[str, str], missing: NotFound) -> str:
    """The one id with this prefix, or a refusal that lists them."""
    matching = [id for id in ids if prefix and id.startswith(prefix)]
    if len(matching) == 1:
        return matching[0]
    raise _ambiguous(prefix, matching, ids) if matching else missing


def _apart(
    missing: NotFound, own: Sequence[str], others: Sequence[str], is_what: str, shown_by: str
) -> NotFound:
    """The refusal with suggestions only of the requested kind. If the name is one of the other kind, or nothing else is
    similar, it says so: the same word would be refused again."""
    bare = str(missing.facts.get("ref", "")).lstrip("#@")
    alike = () if bare in others else tuple(name for name in missing.suggestions if name in own)
    near = (bare,) if bare in others else () if alike else nearest(bare, others)
    facts = {**missing.facts, "other": near[0]} if near else missing.facts
    return NotFound(
        missing.title,
        what=missing.what,
        detail=f"{near[0]} {is_what}" if near else missing.detail,
        fix=(f"moot {shown_by} {shlex.quote(near[0])}", *missing.fix) if near else missing.fix,
        suggestions=alike,
        **facts,
    )


def _among_places(missing: NotFound, names: Sequence[str], *, may_be_made: bool) -> NotFound:
    """The refusal with the existing conversations, and without the hint to create one unless `may_be_made`."""
    detail = f"conversations: {', '.join(names[:MAX_LISTED])}" if names else "there are no conversations yet"
    ways = [
        way
        for way in missing.fix
        if may_be_made or not isinstance(way, Hint) or way.act is not Act.NEW_CONVERSATION
    ]
    return NotFound(
        missing.title,
        what=missing.what,
        detail=missing.detail if "other" in missing.facts else detail,
        fix=tuple(ways),
        suggestions=missing.suggestions,
        **missing.facts,
    )


def _ambiguous(prefix: str, matching: Sequence[str], ids: dict[str, str]) -> NotFound:
    candidates = [f"{id}  {ids[id]}" for id in matching[:MAX_LISTED]]
    more = [f"and {len(matching) - MAX_LISTED} more"] if len(matching) > MAX_LISTED else []
    return NotFound(
        f'"{prefix}" matches {len(matching)} ids',
        detail="\n".join([*candidates, *more]),
        fix=("type more of the id, or the name",),
        ref=prefix,
        available=list(matching[:50]),
    )
