"""Detach: a host goes in good order, or is found to have gone."""

from msgspec import Struct

from moot.model.change import Decision, DropHost
from moot.model.event import EventType
from moot.model.ids import HostId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Detach(Struct, frozen=True, gc=False):
    host: HostId
    lapsed: bool = False
    """Said by another process: only if no heartbeat has come in time."""


def scope(command: Detach) -> Scope:
    return Scope(hosts=True)


def decide(command: Detach, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    for host in seen.hosts():
        if host.id == command.host and not (command.lapsed and host.lease_until > at.now):
            draft.add(DropHost(host.id))
            for agent in host.agents:
                draft.emit(
                    EventType.AGENT_STATUS, by=agent, body={"status": "offline", "reachability": "away"}
                )
    return Decision(draft.changes(), None)
