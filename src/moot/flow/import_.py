"""Take in a conversation that was held elsewhere: begun closed, brought batch by batch, opened when it is whole.

Above: hub/archive/import_.py, which has read and checked the whole file before. Below: post.py makes the messages.
Not here: who is meant by a name; the caller knows the participants.

Until it is whole the conversation is archived: nobody can write into it, nobody is asked, and what an interrupted
import left behind is taken up where it ends. What is taken in owes nobody a turn; everybody's cursor stands behind
it. Authors, kinds and times are those of the origin, which `metadata.imported` names; the links of the audit
chain are made here, for this store vouches only for what it was given.
"""

from typing import Any

from msgspec import Struct, structs

from moot.errors import Conflict
from moot.flow import post, revise
from moot.flow.steps import look, membership
from moot.model.change import AddSummary, Decision
from moot.model.conversation import Conversation, ConversationKind, GroupOverrides
from moot.model.ids import SYSTEM, ConversationId, ParticipantId, RootId, address
from moot.model.message import Message, Summary
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.ports import Scope
from moot.rules import links
from moot.rules.draft import Draft, Room, Seen


class Seat(Struct, frozen=True, gc=False):
    participant: ParticipantId
    joined_at: float


class Begin(Struct, frozen=True, gc=False):
    """A closed conversation to bring messages into."""

    author: ParticipantId
    key: str
    """Names the file and the place in it, so that it is found again."""
    name: str
    kind: ConversationKind
    created_at: float
    seats: tuple[Seat, ...] = ()
    settings: GroupOverrides = GroupOverrides()
    home: ParticipantId | None = None


class Beginning:
    def scope(self, command: Begin) -> Scope:
        return Scope(names=(command.author, *[seat.participant for seat in command.seats]))

    def decide(self, command: Begin, seen: Seen, at: Moment) -> Decision[Conversation]:
        draft = Draft(seen, at)
        conversation = Conversation(
            id=at.conversation_id(),
            name=command.name,
            kind=command.kind,
            created_at=command.created_at,
            updated_at=at.now,
            settings=command.settings,
            home=command.home,
            archived=True,
            key=command.key,
        )
        room = draft.room(conversation)
        room.put_conversation(conversation)
        for seat in command.seats:
            member = membership.add(room, look.participant(seen, seat.participant), cursor=0)
            room.put_member(structs.replace(member, joined_at=seat.joined_at))
        draft.emit("conversation.created", room, by=command.author)
        return Decision(draft.changes(), conversation)


class Item(Struct, frozen=True, gc=False):
    """One message of the origin, in this store's ids."""

    seq: int
    author: ParticipantId
    kind: Kind
    text: str
    at: float
    root: RootId
    """Empty: it began its own chain."""
    imported: dict[str, Any]
    hop: int = 0
    mentions: tuple[ParticipantId, ...] = ()
    reply_to: int = 0
    intent: str = ""
    deleted: bool = False
    metadata: dict[str, Any] = {}
    key: str = ""


class Bring(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: ConversationId
    items: tuple[Item, ...]


class Bringing:
    def scope(self, command: Bring) -> Scope:
        return Scope(conversations=(command.conversation,), names=(command.author,))

    def decide(self, command: Bring, seen: Seen, at: Moment) -> Decision[int]:
        """Answers with the newest seq there is now. Messages that are there already are passed over."""
        draft = Draft(seen, at)
        room = draft.room(_closed(seen, command.conversation))
        for item in command.items:
            expected = room.conversation.next_seq
            if item.seq > expected:
                raise Conflict(f"message {item.seq} came before message {expected}; nothing was stored")
            if item.seq == expected:
                _append(room, item, command.author)
        return Decision(draft.changes(), room.conversation.head)


def _closed(seen: Seen, conversation: ConversationId) -> Conversation:
    found = look.conversation(seen, conversation)
    if not found.archived:
        raise Conflict(
            f"{found.name} was opened while it was being imported; no more is added to it",
            fix=(f"moot conv delete {found.id}", "import the file again"),
        )
    return found


def _append(room: Room, item: Item, importer: ParticipantId) -> None:
    is_notice = item.author == SYSTEM
    permit = links.OF_SYSTEM if is_notice else links.permit(item.author, item.kind, room.conversation)
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
        revise.mark_deleted(room, importer, message)


class End(Struct, frozen=True, gc=False):
    """It is whole: open it, or leave it archived as it was."""

    author: ParticipantId
    conversation: ConversationId
    name: str
    updated_at: float
    archived: bool = False
    summaries: tuple[Summary, ...] = ()
    """With the origin's `upto` and times; the rest is filled in here."""


class Ending:
    def scope(self, command: End) -> Scope:
        return Scope(conversations=(command.conversation,), refs=(command.name,), names=(command.author,))

    def decide(self, command: End, seen: Seen, at: Moment) -> Decision[Conversation]:
        found = _closed(seen, command.conversation)
        holder = seen.find(command.name)
        if not command.archived and holder is not None:
            raise Conflict(f'a conversation called "{command.name}" exists already', conversation=holder.id)
        draft = Draft(seen, at)
        room = draft.room(found)
        for member in list(room.members.values()):
            room.put_member(structs.replace(member, cursor=found.head))
        new = [summary for summary in command.summaries if summary.upto > found.summarised]
        for number, summary in enumerate(new, found.epoch + 1):
            draft.add(AddSummary(structs.replace(summary, conversation=found.id, epoch=number)))
        room.put_conversation(
            structs.replace(
                found,
                name=command.name,
                updated_at=command.updated_at,
                archived=command.archived,
                epoch=found.epoch + len(new),
                summarised=new[-1].upto if new else found.summarised,
            )
        )
        if not command.archived:
            draft.emit("conversation.unarchived", room, by=command.author)
        return Decision(draft.changes(), room.conversation)


beginning = Beginning()
bringing = Bringing()
ending = Ending()
