"""Depart: the session of an outside agent has ended."""

from msgspec import Struct, structs

from moot.flow.steps.reach import emit_reach
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Kind, Reach
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Depart(Struct, frozen=True, gc=False):
    """A session has ended."""

    agent: ParticipantId
    pid: int = 0
    """Only if no other process has taken over since."""


def scope(command: Depart) -> Scope:
    return Scope(names=(command.agent,))


def decide(command: Depart, seen: Seen, at: Moment) -> Decision[None]:
    agent = seen.participant(command.agent)
    if agent is None or agent.kind is not Kind.EXTERNAL or agent.config.pid != command.pid:
        return Decision([], None)
    draft = Draft(seen, at)
    config = structs.replace(agent.config, pid=0, machine="")
    gone = structs.replace(agent, reach=Reach.AWAY, reach_until=0.0, live_until=0.0, config=config)
    emit_reach(draft, agent, gone)
    draft.put_participant(gone)
    return Decision(draft.changes(), None)
