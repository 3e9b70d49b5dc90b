"""Archive, dissolve, bring back, or erase a conversation. Archiving cancels open turns and drops queued rounds."""

from enum import StrEnum

from msgspec import Struct, structs

from moot.errors import Conflict
from moot.flow.steps import look
from moot.model.change import Decision, DropConversation
from moot.model.conversation import Conversation
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.round import RoundState
from moot.model.turn import Rule
from moot.ports import Scope
from moot.rules.draft import Draft, Room, Seen
from moot.rules.floor import seats


class Fate(StrEnum):
    ARCHIVE = "archive"
    DISSOLVE = "dissolve"
    """Archive, and let go of the chat elsewhere that it was bound to."""
    UNARCHIVE = "unarchive"
    ERASE = "erase"


class Archive(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    """Archived ones answer to their id only."""
    fate: Fate = Fate.ARCHIVE
    name: str = ""
    """The name the conversation has, to see whether it is still free."""
    quiet_since: float | None = None
    """Archive only what is settled and was not touched since; housekeeping asks so."""


def scope(command: Archive) -> Scope:
    return Scope(refs=(command.conversation, command.name), names=(command.author,))


def decide(command: Archive, seen: Seen, at: Moment) -> Decision[Conversation]:
    found = look.conversation(seen, command.conversation)
    draft = Draft(seen, at)
    room = draft.room(found)
    if command.fate is Fate.ERASE:
        draft.add(DropConversation(found.id))
        draft.emit("conversation.deleted", room, by=command.author, body={"name": found.name})
        return Decision(draft.others, found)
    archived = command.fate is not Fate.UNARCHIVE
    bound = {"channel_type": "", "channel_group_id": ""} if command.fate is Fate.DISSOLVE else {}
    if (archived == found.archived and not (bound and found.channel_type)) or _is_busy(command, room):
        return Decision([], found)
    if not archived and (holder := seen.find(found.name)) is not None and holder.id != found.id:
        raise Conflict(
            f'another conversation is called "{found.name}" by now',
            fix=(f"moot conv rename {holder.id} OTHER",),
            conversation=holder.id,
        )
    if archived:
        for turn in [*room.turns.values(), *room.asks.all()]:
            seats.cancel(room, turn, Rule.DELETED)
        for round_ in list(room.rounds.values()):
            room.put_round(structs.replace(round_, state=RoundState.CLOSED, line=(), blocked=()))
    room.put_conversation(
        structs.replace(found, archived=archived, updated_at=at.now, stalled=0, blocked=(), **bound)
    )
    draft.emit("conversation.archived" if archived else "conversation.unarchived", room, by=command.author)
    return Decision(draft.changes(), room.conversation)


def _is_busy(command: Archive, room: Room) -> bool:
    """Somebody is at it: a turn is open or owed, a round waits, or something was said meanwhile."""
    if command.quiet_since is None:
        return False
    waiting = any(round_.state is not RoundState.CLOSED for round_ in room.rounds.values())
    return bool(room.turns) or waiting or room.conversation.updated_at > command.quiet_since
