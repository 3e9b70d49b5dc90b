"""What a path names, found for a caller and asked for. What it may not see is refused as if it were not there."""

from collections.abc import Mapping

from msgspec import Struct

from moot import shapes
from moot.doors.access import HOUSE, Action, Person, Place, Principal, Seat, Standing, authorize, hidden
from moot.doors.http.table import About, Route
from moot.errors import NotFound
from moot.hub import Hub


class Found(Struct, frozen=True):
    conversation: shapes.Conversation | None = None
    agent: str = ""


def place(found: shapes.Conversation, ref: str = "") -> Place:
    """`ref` is what the caller wrote: a refusal repeats that, not the id it stands for."""
    return Place(ref or found.id, frozenset(seat.name for seat in found.participants))


async def conversation(
    hub: Hub, who: Principal, ref: str, action: Action = Action.READ
) -> shapes.Conversation:
    """By name or id, if the caller may do this to it."""
    found = await _looked_up(hub, who, ref, ref)
    authorize(who, action, place(found, ref))
    return found


async def _looked_up(hub: Hub, who: Principal, ref: str, told: str) -> shapes.Conversation:
    try:
        return await hub.conversations.get(ref)
    except NotFound:
        if who.standing is Standing.OWNER:
            raise
        raise hidden(Place(told, frozenset())) from None


async def named_by(route: Route, hub: Hub, who: Principal, path: Mapping[str, str]) -> Found:
    """What the route is about, once it is clear that the caller may do to it what the route does."""
    action = route.action
    if action is None:
        return Found()
    if route.about is About.AGENT:
        authorize(who, Action.LOOK, HOUSE)
        name = (await hub.agents.get(path["name"])).name
        authorize(who, action, Person(name))
        return Found(agent=name)
    if route.about is About.HOUSE:
        authorize(who, action, HOUSE)
        return Found()
    return Found(await _conversation_of(route.about, hub, who, path, action))


async def _conversation_of(
    about: About, hub: Hub, who: Principal, path: Mapping[str, str], action: Action
) -> shapes.Conversation:
    match about:
        case About.CONVERSATION:
            return await conversation(hub, who, path["id"], action)
        case About.SEAT:
            found = await _looked_up(hub, who, path["id"], path["id"])
            authorize(who, action, Seat(place(found, path["id"]), path["name"]))
            return found
        case About.MESSAGE:
            return await _around(hub, who, path["id"].rpartition(":")[0], path["id"], action)
        case About.TURN:
            return await _of_turn(hub, who, path["id"], action)
        case _:
            raise AssertionError(f"{about} is in no conversation")


async def _around(hub: Hub, who: Principal, ref: str, told: str, action: Action) -> shapes.Conversation:
    found = await _looked_up(hub, who, ref, told)
    authorize(who, action, place(found, told))
    return found


async def _of_turn(hub: Hub, who: Principal, turn: str, action: Action) -> shapes.Conversation:
    try:
        where = (await hub.turn(turn, given=False)).conversation
    except NotFound:
        if who.standing is Standing.OWNER:
            raise
        raise hidden(Place(turn, frozenset())) from None
    return await _around(hub, who, where, turn, action)


# --- for sockets -----------------------------------------------------------------------------------------


async def heard(hub: Hub, who: Principal, path: Mapping[str, str]) -> shapes.Conversation:
    """The conversation that the path names, for who may read it; whether it may speak is asked each time it does."""
    return await conversation(hub, who, path["id"])


async def pair(hub: Hub, who: Principal, path: Mapping[str, str]) -> shapes.Conversation:
    """The caller's own conversation with somebody, the same that `hub.send` uses."""
    authorize(who, Action.LOOK, HOUSE)
    authorize(who, Action.POST, HOUSE)
    return await hub.conversations.implicit([path["name"]])
