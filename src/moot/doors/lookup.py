"""Conversations as a caller names them, if it may: what it may not see is refused as if it were not there."""

from moot import shapes
from moot.errors import MootError, NotFound
from moot.hub import Hub
from moot.rules.access import Action, Place, Principal, Standing, authorize, hidden


def place(found: shapes.Conversation, ref: str = "") -> Place:
    """`ref` is what the caller wrote: a refusal repeats that, not the id it stands for."""
    return Place(ref or found.id, frozenset(seat.name for seat in found.participants))


async def conversation(
    hub: Hub, who: Principal, ref: str, action: Action = Action.READ
) -> shapes.Conversation:
    """By name or id, if the caller may do this to it."""
    found = await looked_up(hub, who, ref, ref)
    authorize(who, action, place(found, ref))
    return found


async def looked_up(hub: Hub, who: Principal, ref: str, told: str) -> shapes.Conversation:
    try:
        return await hub.conversations.get(ref)
    except NotFound:
        if who.standing is Standing.OWNER:
            raise
        raise hidden(Place(told, frozenset())) from None


async def around(hub: Hub, who: Principal, message: str, action: Action = Action.READ) -> shapes.Conversation:
    """The conversation that a message is in, by the message's address."""
    found = await looked_up(hub, who, message.rpartition(":")[0], message)
    authorize(who, action, place(found, message))
    return found


def without_hints(error: MootError, who: Principal) -> MootError:
    """What comes near a wrong name may be a conversation that the caller must not know of."""
    if not isinstance(error, NotFound) or who.standing is Standing.OWNER:
        return error
    public = set(error.facts.get("available", ()))
    error.suggestions = tuple(name for name in error.suggestions if name in public)
    return error
