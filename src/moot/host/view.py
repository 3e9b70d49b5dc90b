"""What an agent is given for a turn: what is new to it, and its window on the conversation.

A first cut: the context engine (templates, summaries, token budgets by model) builds on this later.
"""

from msgspec import Struct

from moot.model.conversation import Conversation, Member
from moot.model.message import Message
from moot.model.participant import Participant
from moot.model.turn import Turn
from moot.ports import Conversations, Page

BYTES_PER_TOKEN = 4
"""A rough measure, until a model's own counter is at hand."""


class View(Struct, frozen=True):
    turn: Turn
    agent: Participant
    conversation: Conversation
    members: tuple[Member, ...]
    new: tuple[Message, ...]
    """By others, since this agent's last turn here, each once over all its turns."""
    window: tuple[Message, ...]
    trigger: Message


async def build(reads: Conversations, turn: Turn, agent: Participant, *, messages: int, tokens: int) -> View:
    conversation = await reads.conversation(turn.conversation)
    if conversation is None:
        raise LookupError(f"conversation {turn.conversation} is gone")
    span = turn.hi - turn.lo
    page = Page(before=turn.hi + 1, limit=max(messages, span), newest=True)
    window = await reads.messages(conversation.id, page)
    members = tuple(await reads.members(conversation.id))
    new = tuple(m for m in window if m.seq > turn.lo and m.author != agent.id and not _empty(m))
    kept = _within(window, turn.lo, messages, tokens * BYTES_PER_TOKEN)
    called = {call.seq for call in turn.calls}
    owed = [m for m in window if m.seq in called] or [m for m in window if m.seq == turn.cause]
    trigger = owed[-1] if owed else window[-1]
    return View(turn, agent, conversation, members, new, kept, trigger)


def _empty(message: Message) -> bool:
    return bool(message.metadata.get("deleted"))


def _within(window: list[Message], lo: int, most: int, budget: int) -> tuple[Message, ...]:
    """The newest messages that fit; unread ones only the token budget cuts."""
    kept: list[Message] = []
    for message in reversed(window):
        budget -= len(message.text.encode())
        if kept and (budget < 0 or (message.seq <= lo and len(kept) >= most)):
            break
        if not _empty(message):
            kept.append(message)
    return tuple(reversed(kept))
