"""Join: somebody becomes a member. It reads from here on; the conversation is told.

People bring in whom they like; an agent, itself too, only where the graph keeps nobody there apart (rules/links.py).
"""

from msgspec import Struct

from moot.errors import NotPermitted
from moot.flow import post
from moot.flow.steps import acts, find, membership
from moot.model.change import Decision
from moot.model.conversation import ConversationKind, Member
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules import links
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room


class Join(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    name: str


def scope(command: Join) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author, command.name), records=(acts.HEAD,))


def decide(command: Join, seen: Seen, at: Moment) -> Decision[Member]:
    draft = Draft(seen, at)
    room = find.open_room(draft, command.conversation)
    participant = find.addressee(seen, command.name)
    if participant.id in room.members:
        return Decision([], room.members[participant.id])
    links.may_bring_together(room, find.participant(seen, command.author), [participant])
    member = bring_in(room, participant)
    where, detail = f"conversation {room.id}", {"name": room.conversation.name, "participant": participant.id}
    acts.enter(draft, AuditedAct.CONVERSATION_JOINED, command.author, where, detail)
    post.move_on(room)
    return Decision(draft.changes(), member)


def bring_in(room: Room, participant: Participant) -> Member:
    """The newcomer reads from here on, and the conversation gets a notice."""
    if room.conversation.kind in (ConversationKind.DIRECT, ConversationKind.LINK):
        raise NotPermitted(
            f"{room.conversation.name} is a direct conversation; nobody else can join it",
            fix=(Hint(Act.NEW_CONVERSATION_WITH, agent=participant.name),),
        )
    member = membership.add(room, participant, cursor=room.conversation.head)
    post.notice(room, f"[{participant.name} joined]", {"notice": "joined", "participant": participant.id})
    room.draft.emit(EventType.CONVERSATION_JOINED, room, by=participant.id)
    return member
