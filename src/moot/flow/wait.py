"""Wait: an outside agent waits for messages, and is live for as long."""

from msgspec import Struct, structs

from moot.errors import NotFound
from moot.flow.steps.reach import emit_reach
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import REACH_SECONDS, Kind, Reach
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class WaitUntil(Struct, frozen=True, gc=False):
    """An outside agent has a wait open until then; 0 closes it."""

    agent: ParticipantId
    until: float


def scope(command: WaitUntil) -> Scope:
    return Scope(names=(command.agent,))


def decide(command: WaitUntil, seen: Seen, at: Moment) -> Decision[None]:
    agent = seen.participant(command.agent)
    if agent is None or agent.kind is not Kind.EXTERNAL:
        raise NotFound(f"{command.agent} is not an outside agent", ref=command.agent)
    draft = Draft(seen, at)
    reach = agent.reach if agent.reachable(at.now) is not Reach.AWAY else Reach.ON_DEMAND
    until = max(agent.reach_until, at.now + REACH_SECONDS)
    waits = structs.replace(
        agent, live_until=command.until, last_active=at.now, reach=reach, reach_until=until
    )
    emit_reach(draft, agent, waits)
    draft.put_participant(waits)
    return Decision(draft.changes(), None)
