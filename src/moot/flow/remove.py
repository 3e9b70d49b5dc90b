"""Remove an agent. What it said stays; whoever is enrolled under its name again takes up where it left."""

from msgspec import Struct, structs

from moot.errors import NotPermitted
from moot.flow.steps import acts, find
from moot.flow.steps.registry import drop_turns
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import SYSTEM, ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Remove(Struct, frozen=True, gc=False):
    agent: str
    conversations: tuple[ConversationId, ...] = ()
    """Where the agent has open turns, as with `Pause`."""
    author: ParticipantId = SYSTEM


def scope(command: Remove) -> Scope:
    return Scope(names=(command.agent,), conversations=command.conversations, records=(acts.HEAD,))


def decide(command: Remove, seen: Seen, at: Moment) -> Decision[Participant]:
    draft = Draft(seen, at)
    agent = find.participant(seen, command.agent)
    if not agent.speaks_in_turns:
        raise NotPermitted(f"{agent.name} is a person; only agents can be removed")
    if agent.removed:
        return Decision([], agent)
    acts.enter(draft, AuditedAct.AGENT_REMOVED, command.author, f"agent {agent.id}")
    agent = leave(draft, agent, command.conversations)
    return Decision(draft.changes(), agent)


def leave(draft: Draft, participant: Participant, conversations: tuple[ConversationId, ...]) -> Participant:
    """Remove the agent, and drop what it has not begun."""
    participant = structs.replace(participant, paused=True, removed_at=draft.at.now)
    draft.put_participant(participant)
    draft.emit(EventType.AGENT_STATUS, by=participant.id, body={"removed": True, "paused": True})
    drop_turns(draft, participant, conversations)
    return participant
