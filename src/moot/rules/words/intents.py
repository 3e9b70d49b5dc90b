"""Who may mean what: the intent of a message against the link graph and what it answers.

Reports and escalations go up a link, approving and declining answer something, and work is handed down by delegating,
which opens a task; a message alone cannot. People are above everybody and may mean what they like. Where no link says
how two agents stand to each other, nothing is refused.

Above: flow/post.py, for every message that says what it is meant as. Below: graph.py. Not here: who may write to whom
at all (links.py), and whether one may delegate (flow/delegate.py).
"""

from collections.abc import Iterable

from moot.errors import BadValue, Conflict, NotPermitted
from moot.model.conversation import ConversationKind
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.intent import ANSWERS, INTENTS, UPWARD, Intent
from moot.model.participant import Participant
from moot.model.records.link import Link
from moot.model.turn import RuleName
from moot.rules import links
from moot.rules.room import Room


def check(
    room: Room, author: Participant, intent: str, to: Iterable[ParticipantId], *, answers: bool
) -> None:
    """Refuses an intent that is not known, or not the author's to have. `to` are those it is for; `answers`: it
    replies to a message, or is said in a turn here."""
    meant = known(intent)
    if meant is Intent.DELEGATE and not _opens_a_branch(room):
        raise _only_by_delegating(room, to)
    if meant in ANSWERS and not answers:
        raise Conflict(
            f'"{meant}" is an answer, but this message answers none',
            detail="nothing was stored",
            fix=("set reply_to to the message it answers",),
        )
    if meant in UPWARD and author.speaks_in_turns:
        _check_goes_up(room, author, meant, to)


def known(intent: str) -> Intent:
    try:
        return Intent(intent)
    except ValueError:
        raise BadValue(
            f'unknown intent "{intent[:40]}"', detail=f"expected one of {', '.join(INTENTS)}"
        ) from None


def _opens_a_branch(room: Room) -> bool:
    """Whether this is the first message of a task's conversation, which is made in the decision that says it."""
    return room.conversation.kind is ConversationKind.TASK and not room.conversation.head


def _only_by_delegating(room: Room, to: Iterable[ParticipantId]) -> BadValue:
    agents = [member.participant for member in room.agents()]
    named = set(to).intersection(agents) or agents
    names = [room.draft.name(agent) for agent in agents if agent in named]
    return BadValue(
        "a message cannot delegate",
        detail="create a task instead: its outcome is reported back. Nothing was stored",
        fix=tuple(Hint(Act.DELEGATE_TO, agent=name) for name in names[: links.MAX_LISTED_NAMES]),
    )


def _check_goes_up(room: Room, author: Participant, meant: Intent, to: Iterable[ParticipantId]) -> None:
    """One of those it is for has to be above the author, as far as links say how they stand."""
    against: Link | None = None
    for hearer in to:
        link = room.draft.graph.between(author.id, hearer)
        if link is None or not link.enabled or link.superior == hearer:  # people have no links
            return
        against = link
    if against is None:
        return
    below = room.draft.name(against.other(author.id))
    verb = "report" if meant is Intent.REPORT else "escalate"
    raise NotPermitted(
        f"{author.name} cannot {verb} to {below}: {links.sentence(against, room.draft.name)}",
        detail=f"agents can only {verb} to a superior or a person. Nothing was stored",
        fix=(Hint(Act.SEND_TO_AGENT, agent=below), Hint(Act.SHOW_LINK, id=against.id)),
        rule=RuleName.LINK.value,
        link=against.id,
    )
