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
    who = find.participant(seen, command.agent)
    if not who.speaks_in_turns:
        raise NotPermitted(f"{who.name} is a person; only agents can be removed")
    if who.removed:
        return Decision([], who)
    acts.enter(draft, AuditedAct.AGENT_REMOVED, command.author, f"agent {who.id}")
    who = leave(draft, who, command.conversations)
    return Decision(draft.changes(), who)


def leave(draft: Draft, who: Participant, conversations: tuple[ConversationId, ...]) -> Participant:
    """Remove the agent, and drop what it has not begun."""
    who = structs.replace(who, paused=True, removed_at=draft.at.now)
    draft.put_participant(who)
    draft.emit(EventType.AGENT_STATUS, by=who.id, body={"removed": True, "paused": True})
    drop_turns(draft, who, conversations)
    return who
