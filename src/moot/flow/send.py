"""Send: one message to one participant, in the channel of their link, or in the conversation of the pair, which is made
when it is first needed.

All of it is one decision: a send that is refused leaves nothing behind, not even the conversation.

Above: hub.send, ask and broadcast, MCP's send_to_agent. Below: create.py makes the pair, post.py says it.
"""

from msgspec import Struct, structs

from moot.flow import create, post
from moot.flow.steps import find, obligations
from moot.flow.steps.posted import Posted
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import HUMAN, Participant
from moot.model.records.link import pair_key
from moot.model.records.wait import WAITS
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room


class Send(Struct, frozen=True, gc=False):
    target: str
    """As the caller names it."""
    taken_for: ParticipantId
    """Whom the caller takes that name for; the decision looks again."""
    message: post.Post
    """Its `conversation` is the key of the pair."""
    choices: tuple[str, ...] = ()
    """Of a question to a person: what can be answered."""
    place: create.Create | None = None
    """A conversation of its own for the message, in place of the pair's."""
    by_person: bool = False
    """Its author is a person, who waits for others without anybody waiting for it."""
    stays_open: bool = False
    """Of a question to a person: its author goes on without the answer, which calls it whenever it comes."""


class Mistaken(Exception):
    """The name belongs to somebody else by now: send it again, to this one."""

    def __init__(self, target: ParticipantId) -> None:
        super().__init__(target)
        self.target = target


def sending(
    target: str,
    taken_for: ParticipantId,
    message: post.Post,
    choices: tuple[str, ...] = (),
    place: create.Create | None = None,
) -> Send:
    """A message, addressed to the pair of its author and somebody."""
    pair = create.among(message.author, (taken_for,)).key
    return Send(target, taken_for, structs.replace(message, conversation=pair), choices, place)


def scope(command: Send) -> Scope:
    wanted = post.scope(command.message)
    pair = create.among(command.message.author, (command.taken_for,))
    refs = (pair.key, pair.name, pair_key(command.message.author, command.taken_for))
    names = (*wanted.names, command.target, command.taken_for)
    records = (*wanted.records, WAITS.all()) if _may_deadlock(command) else wanted.records
    return structs.replace(wanted, refs=refs, names=names, records=records)


def decide(command: Send, seen: Seen, at: Moment) -> Decision[Posted]:
    message = command.message
    meant = seen.named(command.target)
    if meant is not None and meant.id != command.taken_for:
        raise Mistaken(meant.id)
    link = seen.graph().between(message.author, command.taken_for)
    pair = (
        create.found_by_key(seen, message.conversation) if link is None else seen.conversation(link.channel)
    )
    before = seen.replay(message.author, message.key) if message.key else None
    if before is not None and pair is None:  # so it went elsewhere
        raise post.used(message, before)
    if link is not None and pair is not None:
        message = structs.replace(message, conversation=pair.id)
    if before is not None:
        return Decision([], post.replayed(message, before, seen))
    target = find.addressee(seen, command.target)
    draft = Draft(seen, at)
    if command.place is not None:
        room = create.make(draft, command.place)
    elif pair is None:
        room = create.make(draft, create.among(message.author, (target.id,)))
    else:
        room = find.open_room(draft, pair.id)
    author = find.member(room, message.author)
    if _waits(command):
        posted = _question(room, author, target, command, message)
    elif command.stays_open and target.kind is HUMAN:
        posted = obligations.ask_person(room, author, target, message, command.choices)
    else:
        posted = post.speak(room, author, message)
    return Decision(draft.changes(), posted)


def _question(
    room: Room, author: Participant, target: Participant, command: Send, message: post.Post
) -> Posted:
    """A question whose author waits: for another agent, or for what a person decides."""
    if target.kind is HUMAN:
        posted = obligations.ask_person(room, author, target, message, command.choices)
        if author.speaks_in_turns:
            obligations.wait_for(room, posted.message, target, message)
        return posted
    if author.speaks_in_turns:
        assert not command.by_person, "who waits for whom was not looked up"
        obligations.check_ring(room.draft, author, target)
    posted = post.speak(room, author, message)
    if author.speaks_in_turns:
        obligations.wait_for(room, posted.message, target, message)
    return posted


def _may_deadlock(command: Send) -> bool:
    """Whether it could close a ring of agents that wait for each other."""
    return _waits(command) and not command.by_person


def _waits(command: Send) -> bool:
    """Whether its author goes on only with the answer."""
    return command.message.intent == post.ASK and command.message.awaited > 0
