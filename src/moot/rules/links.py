"""Who may speak to whom. The only place that makes a `Permit`.

Until the link graph is built everybody may: people by right, agents by policy `open`. The seam is real,
though: nothing becomes a message without passing here.
"""

from moot.model.conversation import Conversation
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.message import Permit
from moot.model.participant import HUMAN, Kind, Participant

OF_SYSTEM = Permit(author=SYSTEM, by="system")


def permit(author: ParticipantId, kind: Kind, conversation: Conversation) -> Permit:
    """The right of an author to speak in a conversation."""
    if kind is HUMAN:
        return Permit(author=author, by="human")
    return Permit(author=author, by="member" if conversation.takes_rounds else "open")


def is_above(author: Participant, agent: Participant) -> bool:
    """Whether the author is the agent's superior. People are everybody's; among agents the graph will say."""
    return author.kind is Kind.HUMAN and author.id != agent.id
