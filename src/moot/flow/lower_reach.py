"""Lower reach: outside agents whose signs of life stopped are less reachable, one level at a time."""

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import REACH_SECONDS, Kind, Participant, Reach
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class LowerReach(Struct, frozen=True, gc=False):
    """Leases of these may have run out; what has is taken back, one level at a time."""

    agents: tuple[ParticipantId, ...]


def scope(command: LowerReach) -> Scope:
    return Scope(names=command.agents)


def decide(command: LowerReach, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    for agent in command.agents:
        participant = seen.participant(agent)
        if participant is not None and has_lapsed(participant, at.now):
            draft.put_participant(lowered(participant, at.now))
            draft.emit(
                EventType.AGENT_STATUS, by=agent, body={"reachability": participant.reachable(at.now).value}
            )
    return Decision(draft.changes(), None)


def has_lapsed(participant: Participant, now: float) -> bool:
    """Whether the stored reach is better than the one that still holds."""
    if participant.kind is not Kind.EXTERNAL:
        return False
    waited = 0.0 < participant.live_until <= now
    return waited or (participant.reach is not Reach.AWAY and participant.reach_until <= now)


def lowered(participant: Participant, now: float) -> Participant:
    """Its reach as it is now, stored."""
    level = participant.reachable(now)
    if participant.live_until <= now:
        participant = structs.replace(participant, live_until=0.0)
    if participant.reach_until > now:
        return participant
    until = participant.reach_until + REACH_SECONDS if level is Reach.ON_DEMAND else 0.0
    return structs.replace(participant, reach=level, reach_until=until)
