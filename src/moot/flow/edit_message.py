"""Edit and delete: a new version of a message, refused when the caller saw another one. Neither makes turns."""

from msgspec import Struct, structs

from moot.errors import BadText, Conflict, NotFound, NotPermitted
from moot.flow.steps import find, obligations
from moot.model.change import Decision, ForgetSummaries, ReviseMessage
from moot.model.event import EventType
from moot.model.ids import ConversationId, ParticipantId, address
from moot.model.message import Message, Revision
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.ports import Scope
from moot.rules import audit
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room


class EditMessage(Struct, frozen=True, gc=False):
    """`text` None deletes."""

    author: ParticipantId
    conversation: ConversationId
    seq: int
    version: int
    text: str | None


def scope(command: EditMessage) -> Scope:
    place = (command.conversation, command.seq)
    return Scope(
        conversations=(command.conversation,),
        names=(command.author,),
        messages=(place,),
        people_before=(place,) if command.text is None else (),
    )


def decide(command: EditMessage, seen: Seen, at: Moment) -> Decision[Message]:
    draft = Draft(seen, at)
    room = find.open_room(draft, command.conversation)
    if command.text == "":
        raise BadText("an edit needs a text", fix=("delete the message instead",))
    message = _checked(command, room)
    deleted = command.text is None
    revised = structs.replace(
        message,
        text=command.text or "",
        version=message.version + 1,
        metadata={**message.metadata, "deleted": True} if deleted else message.metadata,
    )
    _chain(room, command.author, message, revised)
    draft.emit(
        EventType.MESSAGE_DELETED if deleted else EventType.MESSAGE_EDITED,
        room,
        by=command.author,
        seq=message.seq,
    )
    if deleted:
        _withdraw(room, message.seq)
    return Decision(draft.changes(), revised)


def mark_deleted(room: Room, by: ParticipantId, message: Message) -> None:
    """A message that was deleted where it comes from."""
    deleted = structs.replace(
        message, text="", version=message.version + 1, metadata={**message.metadata, "deleted": True}
    )
    _chain(room, by, message, deleted)


def _checked(command: EditMessage, room: Room) -> Message:
    """The message as it stands, if the caller may change it and has seen this version of it."""
    where = address(command.conversation, command.seq)
    message = room.draft.seen.message(command.conversation, command.seq)
    if message is None:
        raise NotFound(f"there is no message {where}", what="message", ref=where)
    by = room.draft.participant(command.author)
    own = message.author == by.id
    if not own and not (by.kind is Kind.HUMAN and command.text is None):
        raise NotPermitted(
            f"{where} was written by {message.author}; only its author may change it",
            detail="a person may delete any message",
        )
    if message.is_deleted:
        raise Conflict(f"{where} was deleted", current_version=message.version)
    if message.version != command.version:
        raise Conflict(
            f"{where} is now at version {message.version}, and you saw {command.version}",
            fix=("read it again and repeat the change",),
            current_version=message.version,
            current_text=message.text,
        )
    return message


def _chain(room: Room, by: ParticipantId, before: Message, after: Message) -> None:
    conversation = room.conversation
    revision = Revision(
        conversation=room.id,
        seq=after.seq,
        version=after.version,
        was_hash=audit.text_hash(before.text),
        text_hash=audit.text_hash(after.text),
        by=by,
        at=room.now,
        chain_place=conversation.chain_length + 1,
        hash="",
    )
    revision = structs.replace(revision, hash=audit.revision_hash(conversation.chain, revision))
    room.talk(chain_length=revision.chain_place, chain=revision.hash, updated_at=room.now)
    room.draft.add(ReviseMessage(after, revision))


def _withdraw(room: Room, seq: int) -> None:
    """Unfinished turns owed only by the deleted message are not asked for any more; a summary may quote it."""
    if seq <= room.conversation.summarised:
        room.put_conversation(structs.replace(room.conversation, summarised=0))
        room.draft.add(ForgetSummaries(room.id))
    before = max((s for s in room.draft.seen.said_by_people(room.id) if s < seq), default=0)
    if room.conversation.last_human == seq:
        room.talk(last_human=before)
    room.floor.withdraw(room, seq, before)
    obligations.move_on(room)
