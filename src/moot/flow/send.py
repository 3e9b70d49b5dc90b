"""Send: one message to one participant, in the conversation of the pair, which is made when it is first needed.

All of it is one decision: a send that is refused leaves nothing behind, not even the conversation.

Above: hub.send, ask and broadcast, MCP's send_to_agent. Below: create.py makes the pair, post.py says it.
"""

from msgspec import Struct, structs

from moot.flow import create, post
from moot.flow.steps import find
from moot.flow.steps.posted import Posted
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Send(Struct, frozen=True, gc=False):
    target: str
    """As the caller names it."""
    taken_for: ParticipantId
    """Whom the caller takes that name for; the decision looks again."""
    message: post.Post
    """Its `conversation` is the key of the pair."""


class Mistaken(Exception):
    """The name belongs to somebody else by now: send it again, to this one."""

    def __init__(self, target: ParticipantId) -> None:
        super().__init__(target)
        self.target = target


def sending(target: str, taken_for: ParticipantId, message: post.Post) -> Send:
    """A message, addressed to the pair of its author and somebody."""
    pair = create.among(message.author, (taken_for,)).key
    return Send(target, taken_for, structs.replace(message, conversation=pair))


def scope(command: Send) -> Scope:
    wanted = post.scope(command.message)
    pair = create.among(command.message.author, (command.taken_for,))
    return structs.replace(
        wanted, refs=(pair.key, pair.name), names=(*wanted.names, command.target, command.taken_for)
    )


def decide(command: Send, seen: Seen, at: Moment) -> Decision[Posted]:
    message = command.message
    meant = seen.named(command.target)
    if meant is not None and meant.id != command.taken_for:
        raise Mistaken(meant.id)
    pair = create.found_by_key(seen, message.conversation)
    before = seen.replay(message.author, message.key) if message.key else None
    if before is not None and pair is None:  # so it went elsewhere
        raise post.used(message, before)
    if before is not None:
        return Decision([], post.replayed(message, before, seen))
    target = find.addressee(seen, command.target)
    draft = Draft(seen, at)
    if pair is None:
        room = create.make(draft, create.among(message.author, (target.id,)))
    else:
        room = find.open_room(draft, pair.id)
    posted = post.speak(room, find.member(room, message.author), message)
    return Decision(draft.changes(), posted)
