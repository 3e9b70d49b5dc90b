"""What a path names, looked up for a caller and authorised. What the caller may not see is refused as if it did not
exist."""

from collections.abc import Mapping

from msgspec import Struct

from moot import shapes
from moot.doors.http.api.route import Route, SubjectKind
from moot.doors.lookup import around, conversation, look_up, target_of, version
from moot.errors import NotFound
from moot.flow.steps.admission import Admission, InConversation, OfHub, OfPerson, OfTurn, Subject
from moot.hub import Hub
from moot.model.ids import TurnId
from moot.model.records.link import CHANNEL
from moot.ports import ConversationVersion
from moot.rules.access import (
    HUB_TARGET,
    Action,
    ConversationTarget,
    MembershipTarget,
    PersonTarget,
    Principal,
    Standing,
    authorize,
    hidden,
)

__all__ = ["PathSubject", "conversation", "named_by", "pair", "readable", "target_of"]


def admission(route: Route, caller: Principal, path: Mapping[str, str]) -> Admission:
    """The credential and the subject of a route, for its decision to check."""
    assert route.action is not None
    token = None if caller.by_owner else caller.token
    return Admission(caller.id, route.action, _subject_of(route.about, path), token)


def _subject_of(about: SubjectKind, path: Mapping[str, str]) -> Subject:
    match about:
        case SubjectKind.CONVERSATION | SubjectKind.LINK:
            return InConversation(_ref(about, path))
        case SubjectKind.SEAT:
            return InConversation(path["id"], path["name"])
        case SubjectKind.MESSAGE:
            return InConversation(path["id"].rpartition(":")[0])
        case SubjectKind.TURN:
            return OfTurn(TurnId(int(path["id"])))
        case SubjectKind.AGENT:
            return OfPerson(path["name"])
        case SubjectKind.HUB:
            return OfHub()


def _ref(about: SubjectKind, path: Mapping[str, str]) -> str:
    """The conversation that a path names; of a link, its channel."""
    return CHANNEL + path["id"].removeprefix(CHANNEL) if about is SubjectKind.LINK else path["id"]


class PathSubject(Struct, frozen=True):
    conversation: shapes.Conversation | None = None
    agent: str = ""
    version: ConversationVersion | None = None


async def named_by(route: Route, hub: Hub, caller: Principal, path: Mapping[str, str]) -> PathSubject:
    """What the route is about, once it is certain that the caller may do this to it."""
    action = route.action
    if action is None:
        return PathSubject()
    if route.about is SubjectKind.AGENT:
        authorize(caller, Action.LOOK, HUB_TARGET)
        name = (await hub.agents.get(path["name"])).name
        authorize(caller, action, PersonTarget(name))
        return PathSubject(agent=name)
    if route.about is SubjectKind.HUB:
        authorize(caller, action, HUB_TARGET)
        return PathSubject()
    if route.glances:
        return PathSubject(version=await version(hub, caller, _ref(route.about, path)))
    return PathSubject(await _conversation_of(route.about, hub, caller, path, action))


async def _conversation_of(
    about: SubjectKind, hub: Hub, caller: Principal, path: Mapping[str, str], action: Action
) -> shapes.Conversation:
    match about:
        case SubjectKind.CONVERSATION:
            return await conversation(hub, caller, path["id"], action)
        case SubjectKind.SEAT:
            place = await look_up(hub, caller, path["id"], path["id"])
            authorize(caller, action, MembershipTarget(target_of(place, path["id"]), path["name"]))
            return place
        case SubjectKind.MESSAGE:
            return await around(hub, caller, path["id"], action)
        case SubjectKind.TURN:
            return await _of_turn(hub, caller, path["id"], action)
        case _:
            raise AssertionError(f"{about} is not in any conversation")


async def _of_turn(hub: Hub, caller: Principal, turn: str, action: Action) -> shapes.Conversation:
    try:
        where = (await hub.turn(turn, given=False)).conversation
    except NotFound:
        if caller.standing is Standing.OWNER:
            raise
        raise hidden(ConversationTarget(turn, frozenset())) from None
    place = await look_up(hub, caller, where, turn)
    authorize(caller, action, target_of(place, turn))
    return place


# --- for sockets -----------------------------------------------------------------------------------------


async def readable(hub: Hub, caller: Principal, path: Mapping[str, str]) -> shapes.Conversation:
    """The conversation that the path names, for whoever may read it; whether it may speak is checked each time it
    does."""
    return await conversation(hub, caller, path["id"])


async def pair(hub: Hub, caller: Principal, path: Mapping[str, str]) -> shapes.Conversation | None:
    """Where the caller and somebody talk, the same place that `hub.send` uses; None where they never have. One that the
    caller has left is not there for it."""
    authorize(caller, Action.LOOK, HUB_TARGET)
    authorize(caller, Action.POST, HUB_TARGET)
    place = await hub.conversations.pair_with(path["name"])
    if place is not None:
        authorize(caller, Action.READ, target_of(place, path["name"]))
    return place
