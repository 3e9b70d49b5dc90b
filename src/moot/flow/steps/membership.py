"""Who belongs to a conversation: adding a member, with its place, cursor and mark."""

from moot.model.conversation import Member
from moot.model.participant import Participant
from moot.rules.palette import mark_for
from moot.rules.room import Room


def add(room: Room, participant: Participant, *, cursor: int, speaks: bool | None = None) -> Member:
    """A new member at the end of the joining order; it reads from behind its cursor. An agent that takes no turns here
    only reads."""
    taken = [(room.draft.participant(m.participant).name, m.mark) for m in room.members.values()]
    last = max((m.position for m in room.members.values()), default=0)
    member = Member(
        conversation=room.id,
        participant=participant.id,
        position=last + 1,
        speaks=participant.speaks_in_turns if speaks is None else speaks,
        joined_at=room.now,
        joined_seq=cursor,
        cursor=cursor,
        mark=mark_for(participant.name, taken),
    )
    room.put_member(member)
    return member
