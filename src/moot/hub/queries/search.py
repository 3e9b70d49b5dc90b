"""Search for the hub: what the names in it stand for, what was found, and which filter was too much.

Whoever is not the owner finds only what lies in its own conversations, and cannot tell a foreign conversation from
one that is not there.
"""

from moot import shapes
from moot.errors import BadValue, NotFound
from moot.hub.core import Core
from moot.model.hint import Act, Hint
from moot.model.ids import SYSTEM, TOOL, ParticipantId
from moot.model.query import Query
from moot.rules.words import search
from moot.rules.words.search import Filter, Operator, ParsedSearch

MAX_HITS = 1000
"""Hits of one search; and how far those are counted that a filter removed."""


async def hits(core: Core, me: ParticipantId, text: str, limit: int) -> list[shapes.Hit]:
    if not text.strip():
        raise BadValue(
            "the search is empty",
            detail="expected words, a phrase in quotes, or an operator such as from:arya",
        )
    parsed = search.parse(text, core.parts.clock.now())
    query = await _query(core, me, parsed)
    hits_found = await core.parts.store.search(query, min(limit, MAX_HITS))
    return [
        shapes.Hit(shapes.Message.of(message, core.directory.name), piece) for message, piece in hits_found
    ]


async def narrowest(core: Core, me: ParticipantId, text: str) -> shapes.Removed | None:
    """The operator without which the search would find most; the first of equals."""
    parsed = search.parse(text, core.parts.clock.now())
    worst: shapes.Removed | None = None
    for operator in dict.fromkeys(each.operator for each in parsed.filters):
        query = await _query(core, me, parsed.without(operator))
        count = await core.parts.store.count(query, MAX_HITS)
        if count > (worst.hits if worst else 0):
            typed = " ".join(str(each) for each in parsed.filters if each.operator is operator)
            worst = shapes.Removed(typed, count)
    return worst


async def _query(core: Core, me: ParticipantId, parsed: ParsedSearch) -> Query:
    reader = None if me == core.user else me
    resolved = {
        each: await _resolve(core, reader, each) for each in parsed.filters if each.operator in search.NAMING
    }
    return search.query(parsed, resolved, reader)


async def _resolve(core: Core, reader: ParticipantId | None, each: Filter) -> tuple[str, ...]:
    if each.operator is Operator.IN:
        return await _places(core, reader, each.value.removeprefix("#"))
    name = each.value.removeprefix("@")
    if name in (SYSTEM, TOOL):
        return (name,)
    participant = await core.parts.store.participant(name.lower())
    if participant is not None:
        return (participant.id,)
    try:
        return ((await core.directory.participant(name)).id,)
    except NotFound as missing:  # nobody wants to make an agent by searching
        facts = missing.facts
        raise NotFound(
            missing.title,
            what="agent",
            detail=missing.detail,
            fix=(Hint(Act.LIST_AGENTS),),
            suggestions=missing.suggestions,
            **facts,
        ) from None


async def _places(core: Core, reader: ParticipantId | None, ref: str) -> tuple[str, ...]:
    """By id or name; by name also those that were archived under it."""
    store = core.parts.store
    conversation = await store.conversation(ref)
    archived = await store.conversations(archived=True, kind=None) if conversation is None else []
    places = [conversation.id] if conversation else [one.id for one in archived if one.name == ref]
    if reader is not None:
        members = {where: await store.members(where) for where in places}
        places = [where for where in places if reader in {one.participant for one in members[where]}]
    if places:
        return tuple(places)
    if reader is not None:
        raise NotFound(f'no conversation of yours is called "{ref}"', what="conversation", ref=ref)
    await core.directory.conversation(ref)  # says that there is none, and what comes near
    raise AssertionError("a conversation that was not there is there")
