"""Whose token it is, and whether the author may deal with it."""

from moot.errors import NotPermitted
from moot.flow.steps import find
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.rules.draft import Draft


def token_owner(draft: Draft, author: ParticipantId, name: str) -> Participant:
    """Whose token it is, if the author may deal with it: the owner with all, everybody else with their own."""
    participant = find.participant(draft.seen, name)
    if participant.id != author and not find.is_owner(draft.participant(author), draft.at):
        raise NotPermitted(
            f"only {participant.name} and the owner can manage the tokens of {participant.name}",
            fix=("ask the owner for a token",),
        )
    return participant
