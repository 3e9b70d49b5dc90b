"""Detach: a host goes in good order, or is found to have gone."""

from msgspec import Struct, structs

from moot.model.change import Decision, DropHost
from moot.model.event import EventType
from moot.model.ids import HostId, ParticipantId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Detach(Struct, frozen=True, gc=False):
    host: HostId
    lapsed: bool = False
    """Said by another process: only if no heartbeat has come in time."""
    agents: tuple[ParticipantId, ...] = ()
    """Agents it ran; one that another host runs too stays present."""


def scope(command: Detach) -> Scope:
    return Scope(names=command.agents, hosts=True)


def decide(command: Detach, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    for host in seen.hosts():
        if host.id == command.host and not (command.lapsed and host.lease_until > at.now):
            draft.add(DropHost(host.id))
            for agent in host.agents:
                _leave(draft, command, agent)
    return Decision(draft.changes(), None)


def _leave(draft: Draft, command: Detach, agent: ParticipantId) -> None:
    others = [host for host in draft.seen.hosts() if host.id != command.host]
    other = next((host for host in others if host.runs(agent, draft.at.now)), None)
    if other is None:
        draft.emit(EventType.AGENT_STATUS, by=agent, body={"status": "offline", "reachability": "away"})
    elif agent in command.agents and (participant := draft.participant(agent)).host == command.host:
        draft.put_participant(structs.replace(participant, host=other.id, live_until=other.lease_until))
