"""Conversations as a caller names them, if it may see them: anything else is refused as if it did not exist."""

from moot import shapes
from moot.errors import MootError, NotFound
from moot.hub import Hub
from moot.model.records.link import is_channel
from moot.ports import ConversationVersion
from moot.rules.access import (
    NO_CONVERSATION,
    Action,
    ConversationTarget,
    Principal,
    Standing,
    authorize,
    hidden,
)


def target_of(conversation: shapes.Conversation, ref: str = "") -> ConversationTarget:
    """`ref` is what the caller wrote: a refusal repeats that, not the id it stands for."""
    members = frozenset(seat.name for seat in conversation.participants)
    return ConversationTarget(ref or conversation.id, members, is_channel(conversation.id))


async def conversation(
    hub: Hub, caller: Principal, ref: str, action: Action = Action.READ
) -> shapes.Conversation:
    """By name or id, if the caller may do this to it."""
    place = await look_up(hub, caller, ref, ref)
    authorize(caller, action, target_of(place, ref))
    return place


async def look_up(hub: Hub, caller: Principal, ref: str, shown_ref: str) -> shapes.Conversation:
    try:
        return await hub.conversations.get(ref)
    except NotFound:
        if caller.standing is Standing.OWNER:
            raise
        raise hidden(ConversationTarget(shown_ref, frozenset())) from None


async def version(hub: Hub, caller: Principal, ref: str) -> ConversationVersion:
    """How far a conversation has come that the caller may read: who is in it and that are seen by one look."""
    try:
        current = await hub.conversations.version(ref, caller.id)
    except NotFound:
        if caller.standing is Standing.OWNER:
            raise
        raise hidden(ConversationTarget(ref, NO_CONVERSATION)) from None
    members = frozenset((caller.name,)) if current.has_member else NO_CONVERSATION
    authorize(caller, Action.READ, ConversationTarget(ref, members, is_channel(current.id)))
    return current


async def around(
    hub: Hub, caller: Principal, message: str, action: Action = Action.READ
) -> shapes.Conversation:
    """The conversation that contains a message, by the message's address."""
    conversation = await look_up(hub, caller, message.rpartition(":")[0], message)
    authorize(caller, action, target_of(conversation, message))
    return conversation


def without_hints(error: MootError, caller: Principal) -> MootError:
    """Without suggestions: a name close to a wrong one may be a conversation that the caller must not know of."""
    if not isinstance(error, NotFound) or caller.standing is Standing.OWNER:
        return error
    public = set(error.facts.get("available", ()))
    error.suggestions = tuple(name for name in error.suggestions if name in public)
    return error
