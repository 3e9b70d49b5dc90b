"""What the verbs of the registry share: names that are free, names that look alike, and turns that are let go."""

from collections.abc import Iterable

from msgspec import structs

from moot.errors import BadName, BadValue
from moot.flow.steps import obligations
from moot.model.event import EventType
from moot.model.ids import ConversationId
from moot.model.participant import Participant
from moot.model.turn import RuleName
from moot.rules.draft import Draft
from moot.rules.words.names import NameProblem, check_display, check_name, drawn_as

MAX_SHOWN_CHARACTERS = 40


def back(draft: Draft, participant: Participant) -> Participant:
    """Whoever was removed and is named again takes up where it left."""
    if not participant.removed:
        return participant
    draft.emit(EventType.AGENT_STATUS, by=participant.id, body={"removed": False, "paused": False})
    return structs.replace(participant, paused=False, removed_at=0.0)


def checked_display(display: str, others: Iterable[Participant]) -> str:
    """The display name, if it shows nobody as somebody else; none is always possible."""
    try:
        return check_display(display, taken=answered_to(others)) if display else ""
    except NameProblem as problem:
        raise BadValue(
            f"display = {display[:MAX_SHOWN_CHARACTERS]!a} cannot be used",
            detail=f"expected {problem.expected}",
        ) from problem


def give_way(draft: Draft, others: Iterable[Participant], name: str) -> list[Participant]:
    """A name is worth more than a display name: whoever is shown under what looks like it is so no more."""
    looks = drawn_as(name)
    found = [
        structs.replace(one, display="") for one in others if one.display and drawn_as(one.display) & looks
    ]
    for one in found:
        draft.put_participant(one)
        draft.emit(EventType.AGENT_STATUS, by=one.id, body={"display": ""})
    return found


def answered_to(people: Iterable[Participant]) -> list[str]:
    """Everything they answer to. Ids are among it: what one goes by may be nobody's id but its own, or a message,
    a token or a voice would find the wrong one."""
    return [
        name for participant in people for name in (participant.id, participant.name, *participant.aliases)
    ]


def checked_name(name: str, taken: list[str], human: str) -> str:
    """The name, if an agent may get it."""
    try:
        check_name(name, taken=taken, human=human)
        return name
    except NameProblem as problem:
        raise BadName(
            f'"{name}" cannot be used as an agent name: {problem.reason}',
            detail=problem.expected,
            suggestions=problem.suggestions,
            problem=problem.problem,
        ) from problem


def drop_turns(draft: Draft, participant: Participant, conversations: tuple[ConversationId, ...]) -> None:
    """What it has not begun is nobody's to do any more."""
    for conversation in conversations:
        found = draft.seen.conversation(conversation)
        if found is None:
            continue
        room = draft.room(found)
        room.floor.drop_agent(room, participant.id, RuleName.PAUSED, running=False)
        obligations.move_on(room)
