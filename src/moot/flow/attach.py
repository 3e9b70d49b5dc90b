"""Attach: a host says which agents it runs. Its lease is the presence of all of them.

Several hosts may run the same agent: the registry names the one that came first, for as long as it is there."""

from msgspec import Struct, structs

from moot.model.change import Decision, DropHost, PutHost
from moot.model.event import EventType
from moot.model.ids import HostId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Host
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Attach(Struct, frozen=True, gc=False):
    """Also the heartbeat: the same host again only moves its lease."""

    host: HostId
    pid: int
    agents: tuple[ParticipantId, ...]
    socket: str = ""
    watches: bool = False
    machine: str = ""
    dead: tuple[HostId, ...] = ()
    """Hosts whose process is known to be gone."""
    left: tuple[ParticipantId, ...] = ()
    """Agents that it no longer runs: they are away, unless another host has taken them since."""


def scope(command: Attach) -> Scope:
    return Scope(names=(*command.agents, *command.left), hosts=True)


def decide(command: Attach, seen: Seen, at: Moment) -> Decision[Host]:
    draft = Draft(seen, at)
    hosts = {host.id: host for host in seen.hosts()}
    for gone in command.dead:
        draft.add(DropHost(gone))
    before = hosts.get(command.host)
    host = Host(
        id=command.host,
        pid=command.pid,
        agents=command.agents,
        lease_until=at.now + at.terms.lease_seconds,
        started_at=before.started_at if before else at.now,
        socket=command.socket,
        watches=command.watches,
        machine=command.machine,
    )
    for agent in command.agents:
        participant = draft.participant(agent)
        other = (
            hosts.get(participant.host)
            if participant.host is not None and participant.host not in command.dead
            else None
        )
        if other is not None and other.id != command.host and other.runs(agent, at.now):
            continue
        if participant.host != command.host:
            draft.put_participant(
                structs.replace(
                    participant, host=command.host, live_until=host.lease_until, last_active=at.now
                )
            )
        if participant.host != command.host or before is None:
            draft.emit(EventType.AGENT_STATUS, by=agent, body={"status": "idle", "reachability": "live"})
    for agent in command.left:
        participant = draft.participant(agent)
        if participant.host == command.host:
            draft.put_participant(structs.replace(participant, host=None, live_until=0.0))
            draft.emit(EventType.AGENT_STATUS, by=agent, body={"status": "offline", "reachability": "away"})
    draft.add(PutHost(host))
    return Decision(draft.changes(), host)
