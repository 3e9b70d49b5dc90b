"""Import a batch of messages into a conversation that was begun for it.

What is taken in owes nobody a turn; everybody's cursor stands behind it. Authors, kinds and times are those of the
origin, which `metadata.imported` names; the links of the audit chain are made here, for this store vouches only for
what it was given. Below: post.py makes the messages.
"""

from msgspec import Struct

from moot.errors import Conflict
from moot.flow import edit_message, post
from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.ids import SYSTEM, ConversationId, ParticipantId, RootId, address
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.ports import Scope
from moot.rules import links
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room


class ImportedMessage(Struct, frozen=True, gc=False):
    """One message of the origin, in this store's ids."""

    seq: int
    author: ParticipantId
    kind: Kind
    text: str
    at: float
    root: RootId
    """Empty: it began its own chain."""
    imported: JsonObject
    hop: int = 0
    mentions: tuple[ParticipantId, ...] = ()
    reply_to: int = 0
    intent: str = ""
    deleted: bool = False
    metadata: JsonObject = {}
    key: str = ""


class ImportBatch(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: ConversationId
    items: tuple[ImportedMessage, ...]


def scope(command: ImportBatch) -> Scope:
    return Scope(conversations=(command.conversation,), names=(command.author,))


def decide(command: ImportBatch, seen: Seen, at: Moment) -> Decision[int]:
    """Answers with the newest seq there is now. Messages that are there already are passed over."""
    draft = Draft(seen, at)
    room = draft.room(find.imported(seen, command.conversation))
    for item in command.items:
        expected = room.conversation.next_seq
        if item.seq > expected:
            raise Conflict(f"expected message {expected}, got message {item.seq}; nothing was stored")
        if item.seq == expected:
            _append(room, item, command.author)
    return Decision(draft.changes(), room.conversation.head)


def _append(room: Room, item: ImportedMessage, importer: ParticipantId) -> None:
    is_notice = item.author == SYSTEM
    permit = links.OF_SYSTEM if is_notice else links.imported(item.author)
    message = post.append(
        room,
        permit,
        Message(
            conversation=room.id,
            seq=item.seq,
            author=item.author,
            kind=item.kind,
            text="" if item.deleted else item.text,
            root=item.root or RootId(address(room.id, item.seq)),
            hop=item.hop,
            at=item.at,
            mentions=item.mentions,
            reply_to=item.reply_to,
            intent=item.intent,
            metadata={**item.metadata, "imported": item.imported},
            key=item.key,
        ),
    )
    if item.deleted:
        edit_message.mark_deleted(room, importer, message)
