"""Finding what a command names, or refusing with what it could have named instead."""

from moot.errors import Closed, Conflict, NotFound, NotPermitted, Stale
from moot.model.conversation import Conversation, ConversationKind
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.moment import Moment
from moot.model.participant import HUMAN, Participant
from moot.model.turn import Turn, TurnState
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room


def conversation(seen: Seen, ref: str) -> Conversation:
    found = seen.find(ref)
    if found is None:
        raise NotFound(
            f'no conversation is called "{ref}"',
            what="conversation",
            fix=(Hint(Act.LIST_CONVERSATIONS), Hint(Act.NEW_CONVERSATION, conversation=ref)),
            ref=ref,
        )
    return found


def open_room(draft: Draft, ref: str) -> Room:
    """The conversation, if it takes new messages."""
    found = conversation(draft.seen, ref)
    if found.archived:
        raise Closed(
            f"{found.name} is archived: it can be read, but not written to",
            fix=(Hint(Act.UNARCHIVE, conversation=found.name, id=found.id),),
        )
    return draft.room(found)


def imported(seen: Seen, id: ConversationId) -> Conversation:
    """A conversation that is being imported: closed until it is whole."""
    found = conversation(seen, id)
    if not found.archived:
        raise Conflict(
            f"{found.name} was opened during the import, so nothing more is added to it",
            fix=(Hint(Act.DELETE_CONVERSATION, conversation=found.id), "import the file again"),
        )
    return found


def participant(seen: Seen, name: str) -> Participant:
    found = seen.named(name)
    if found is None:
        raise NotFound(
            f'no agent is called "{name}"',
            what="agent",
            fix=(Hint(Act.LIST_AGENTS),),
            ref=name,
        )
    return found


def addressee(seen: Seen, name: str) -> Participant:
    """Somebody who can be written to, or asked to join; whoever was removed cannot."""
    return not_removed(participant(seen, name))


def not_removed(participant: Participant) -> Participant:
    """Whoever it is, unless it was removed."""
    if participant.removed:
        raise gone(participant)
    return participant


def gone(participant: Participant) -> NotFound:
    return NotFound(
        f"{participant.name} was removed and no longer answers",
        what="agent",
        detail="its messages stay; a new agent with the same name continues where it left off",
        fix=(Hint(Act.NEW_AGENT, agent=participant.name), Hint(Act.LIST_AGENTS)),
        ref=participant.name,
    )


def is_owner(participant: Participant, at: Moment) -> bool:
    """The person whom moot.toml calls the user, under whatever name it goes by now: the old one stays its own."""
    return participant.kind is HUMAN and at.terms.user in (participant.name, *participant.aliases)


def knows_of(seen: Seen, author: ParticipantId, where: Conversation, at: Moment) -> bool:
    """Whether somebody may be told which conversation it is: the owner, and whoever is in it."""
    participant = seen.participant(author)
    return author in seen.members(where.id) or (participant is not None and is_owner(participant, at))


def name_taken(name: str) -> Conflict:
    """For who may not know by which conversation."""
    return Conflict(f'the name "{name}" is taken', fix=("choose another name",))


def member(room: Room, participant_id: ParticipantId) -> Participant:
    """The participant, if it belongs to the conversation; people may speak in every link's channel."""
    found = room.draft.participant(participant_id)
    if participant_id not in room.members and not (
        found.kind is HUMAN and room.conversation.kind is ConversationKind.LINK
    ):
        raise NotPermitted(
            f"{found.name} is not in {room.conversation.name}",
            detail="only members may speak here",
            fix=(Hint(Act.JOIN, conversation=room.conversation.name, agent=found.name),),
        )
    return found


def running(seen: Seen, turn_id: TurnId, fence: int) -> Turn:
    """The caller's own running turn; a stale fence is refused here."""
    turn = seen.turn(turn_id)
    if turn is None:
        raise NotFound(f"there is no turn {turn_id}", what="turn", ref=str(turn_id))
    if turn.state is not TurnState.RUNNING or turn.fence != fence:
        raise Stale(
            f"turn {turn_id} of {turn.agent} is no longer yours: it is {turn.state}",
            detail="it has been finished, cancelled or given to another host; the result was not used",
        )
    return turn
