"""Heartbeat: sessions of outside agents gave a sign of life."""

from msgspec import Struct, structs

from moot.flow.steps.reach import emit_reach, keep_hooks
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import REACH_SECONDS, Kind, Reach
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Sign(Struct, frozen=True, gc=False):
    """An agent's session gave a sign of life."""

    agent: ParticipantId
    reach: Reach = Reach.ON_DEMAND
    seconds: float = REACH_SECONDS
    """For how long that is good."""
    door: str = ""


class Heartbeat(Struct, frozen=True, gc=False):
    """All sessions of one process at once."""

    signs: tuple[Sign, ...]


def scope(command: Heartbeat) -> Scope:
    return Scope(names=tuple(sign.agent for sign in command.signs))


def decide(command: Heartbeat, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    for sign in command.signs:
        agent = seen.participant(sign.agent)
        if agent is None or agent.kind is not Kind.EXTERNAL:
            continue
        alive = structs.replace(
            agent,
            reach=keep_hooks(agent, sign.reach, at.now),
            reach_until=max(agent.reach_until, at.now + sign.seconds),
            last_active=at.now,
            door=sign.door or agent.door,
        )
        emit_reach(draft, agent, alive)
        draft.put_participant(alive)
    return Decision(draft.changes(), None)
