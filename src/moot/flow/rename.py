"""Rename a participant. Its old names stay its own."""

from msgspec import Struct, structs

from moot.errors import BadName
from moot.flow.steps import acts, find
from moot.flow.steps.registry import answered_to, checked_name, give_way
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

MAX_NAMES = 32
"""Maximum number of names of a participant, former ones included: nobody else can take them, and every mention is
compared with each."""


class Rename(Struct, frozen=True, gc=False):
    agent: str
    name: str
    author: ParticipantId = SYSTEM


def scope(command: Rename) -> Scope:
    return Scope(names=(command.agent,), records=(acts.HEAD,), everyone=True)


def decide(command: Rename, seen: Seen, at: Moment) -> Decision[Participant]:
    agent = find.participant(seen, command.agent)
    if agent.name == command.name:
        return Decision([], agent)
    others = [p for p in seen.everyone() if p.id != agent.id]
    if command.name not in agent.aliases:  # one that it has had is its own
        checked_name(command.name, answered_to(others), at.terms.user)
        _has_room_for_a_name(agent)
    aliases = tuple(dict.fromkeys((*agent.aliases, agent.name)))
    renamed = structs.replace(
        agent, name=command.name, aliases=tuple(a for a in aliases if a != command.name)
    )
    draft = Draft(seen, at)
    give_way(draft, others, command.name)
    draft.put_participant(renamed)
    body = {"name": command.name, "previous_name": agent.name}
    acts.enter(draft, AuditedAct.AGENT_RENAMED, command.author, f"agent {agent.id}", body)
    draft.emit(EventType.AGENT_RENAMED, by=agent.id, body=body)
    return Decision(draft.changes(), renamed)


def _has_room_for_a_name(participant: Participant) -> None:
    if len(participant.aliases) + 1 >= MAX_NAMES:
        raise BadName(
            f"{participant.name} has already had {len(participant.aliases) + 1} names",
            detail=(
                f"a participant keeps its former names, at most {MAX_NAMES} in all; it can take one "
                "of those again"
            ),
            suggestions=participant.aliases[-3:],
            problem="too many",
        )
