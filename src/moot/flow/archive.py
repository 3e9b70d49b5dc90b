"""Archive a conversation: it can be read, not written. Open turns are cancelled and queued rounds dropped."""

from msgspec import Struct

from moot.flow.steps import acts, channel, find, obligations
from moot.flow.steps.put_away import put_away
from moot.model.change import Decision
from moot.model.conversation import Conversation
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.round import RoundState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room


class Archive(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    """Archived ones answer to their id only."""
    quiet_since: float | None = None
    """Archive only what is settled and was not touched since; housekeeping asks so."""


def scope(command: Archive) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author,), records=(acts.HEAD,))


def decide(command: Archive, seen: Seen, at: Moment) -> Decision[Conversation]:
    found = find.conversation(seen, command.conversation)
    draft = Draft(seen, at)
    room = draft.room(found)
    if found.archived or _is_busy(command, room):
        return Decision([], found)
    channel.keeps_its_channel(draft, found)
    obligations.end_with_branch(room, command.author, "archived")
    archived = (
        put_away(room, found, by=command.author) if not room.conversation.archived else room.conversation
    )
    if command.author != SYSTEM:
        where = f"conversation {found.id}"
        acts.enter(draft, AuditedAct.CONVERSATION_ARCHIVED, command.author, where, {"name": found.name})
    return Decision(draft.changes(), archived)


def _is_busy(command: Archive, room: Room) -> bool:
    """Whether it is in use: a turn is open or owed, a round waits, or something was said meanwhile."""
    if command.quiet_since is None:
        return False
    waiting = any(round_.state is not RoundState.CLOSED for round_ in room.rounds.values())
    waiting = waiting or obligations.has_open_task(room)
    return bool(room.turns) or waiting or room.conversation.updated_at > command.quiet_since
