"""What a path names, found for a caller and asked for. What it may not see is refused as if it were not there."""

from collections.abc import Mapping

from msgspec import Struct

from moot import shapes
from moot.doors.http.api.route import About, Route
from moot.doors.lookup import around, conversation, looked_up, place
from moot.errors import NotFound
from moot.flow.steps.admission import Admission, InConversation, OfHub, OfPerson, OfTurn, Subject
from moot.hub import Hub
from moot.model.ids import TurnId
from moot.rules.access import HOUSE, Action, Person, Place, Principal, Seat, Standing, authorize, hidden

__all__ = ["Found", "conversation", "heard", "named_by", "pair", "place"]


def admission(route: Route, who: Principal, path: Mapping[str, str]) -> Admission:
    """On whose credential, and to what, a route does what it does: for its decision to settle."""
    assert route.action is not None
    token = None if who.by_owner else who.token
    return Admission(who.id, route.action, _subject_of(route.about, path), token)


def _subject_of(about: About, path: Mapping[str, str]) -> Subject:
    match about:
        case About.CONVERSATION:
            return InConversation(path["id"])
        case About.SEAT:
            return InConversation(path["id"], path["name"])
        case About.MESSAGE:
            return InConversation(path["id"].rpartition(":")[0])
        case About.TURN:
            return OfTurn(TurnId(int(path["id"])))
        case About.AGENT:
            return OfPerson(path["name"])
        case About.HOUSE:
            return OfHub()


class Found(Struct, frozen=True):
    conversation: shapes.Conversation | None = None
    agent: str = ""


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
            found = await looked_up(hub, who, path["id"], path["id"])
            authorize(who, action, Seat(place(found, path["id"]), path["name"]))
            return found
        case About.MESSAGE:
            return await around(hub, who, path["id"], action)
        case About.TURN:
            return await _of_turn(hub, who, path["id"], action)
        case _:
            raise AssertionError(f"{about} is in no conversation")


async def _of_turn(hub: Hub, who: Principal, turn: str, action: Action) -> shapes.Conversation:
    try:
        where = (await hub.turn(turn, given=False)).conversation
    except NotFound:
        if who.standing is Standing.OWNER:
            raise
        raise hidden(Place(turn, frozenset())) from None
    found = await looked_up(hub, who, where, turn)
    authorize(who, action, place(found, turn))
    return found


# --- for sockets -----------------------------------------------------------------------------------------


async def heard(hub: Hub, who: Principal, path: Mapping[str, str]) -> shapes.Conversation:
    """The conversation that the path names, for who may read it; whether it may speak is asked each time it does."""
    return await conversation(hub, who, path["id"])


async def pair(hub: Hub, who: Principal, path: Mapping[str, str]) -> shapes.Conversation:
    """The caller's own conversation with somebody, the same that `hub.send` uses; one that it has left is not."""
    authorize(who, Action.LOOK, HOUSE)
    authorize(who, Action.POST, HOUSE)
    found = await hub.conversations.implicit([path["name"]])
    authorize(who, Action.READ, place(found, path["name"]))
    return found
