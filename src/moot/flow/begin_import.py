"""Begin to import a conversation that was held elsewhere: it is made closed, and opened when it is whole.

Above: hub/archive/import_.py, which has read and checked the whole file before. Not here: who is meant by a name; the
caller knows the participants.

Until it is whole (end_import.py) the conversation is archived: nobody can write into it, nobody is asked, and what an
interrupted import left behind is taken up where it ends.
"""

from msgspec import Struct, structs

from moot.flow.steps import find, membership
from moot.model.change import Decision
from moot.model.conversation import Conversation, ConversationKind, GroupOverrides
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class ImportedMember(Struct, frozen=True, gc=False):
    participant: ParticipantId
    joined_at: float


class BeginImport(Struct, frozen=True, gc=False):
    """A closed conversation to bring messages into."""

    author: ParticipantId
    key: str
    """Names the file and the place in it, so that it is found again."""
    name: str
    kind: ConversationKind
    created_at: float
    seats: tuple[ImportedMember, ...] = ()
    settings: GroupOverrides = GroupOverrides()
    home: ParticipantId | None = None


def scope(command: BeginImport) -> Scope:
    return Scope(names=(command.author, *[seat.participant for seat in command.seats]))


def decide(command: BeginImport, seen: Seen, at: Moment) -> Decision[Conversation]:
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
        member = membership.add(room, find.participant(seen, seat.participant), cursor=0)
        room.put_member(structs.replace(member, joined_at=seat.joined_at))
    draft.emit(EventType.CONVERSATION_CREATED, room, by=command.author)
    return Decision(draft.changes(), conversation)
