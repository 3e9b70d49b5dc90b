"""Pause or resume an agent. What a paused one has not begun is let go."""

from msgspec import Struct, structs

from moot.flow.steps import find
from moot.flow.steps.registry import drop_turns
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ConversationId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Pause(Struct, frozen=True, gc=False):
    agent: str
    paused: bool
    conversations: tuple[ConversationId, ...] = ()
    """Where the agent has open turns, as the caller found them; a later one is stopped when claimed."""


def scope(command: Pause) -> Scope:
    return Scope(names=(command.agent,), conversations=command.conversations)


def decide(command: Pause, seen: Seen, at: Moment) -> Decision[Participant]:
    draft = Draft(seen, at)
    who = structs.replace(find.participant(seen, command.agent), paused=command.paused)
    draft.put_participant(who)
    draft.emit(EventType.AGENT_STATUS, by=who.id, body={"paused": command.paused})
    if command.paused:
        drop_turns(draft, who, command.conversations)
    return Decision(draft.changes(), who)
