"""Post: the one door in. Policy, brakes, the message with its seq, who speaks, why: one decision.

People's messages, agents' replies (finish.py), posts by tool, partials and notices all become messages here and
nowhere else. Above: doors and hosts build a `Post`. Below: steps/address.py finds whom it calls, rules/floor/calls.py
gives them turns. Not here: storing (stores/), waking hosts (host/).
"""

from hashlib import sha256
from typing import Any

from msgspec import Struct, json, structs

from moot.errors import Conflict, NotFound
from moot.flow.steps import address, find, lineage, membership
from moot.flow.steps.posted import Posted
from moot.model.answer import Warned
from moot.model.change import AppendMessage, Decision
from moot.model.event import EventType
from moot.model.ids import SYSTEM, TOOL, ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.ids import address as address_of
from moot.model.intent import Intent
from moot.model.json import JsonObject
from moot.model.message import FIRST_VERSION, Message, Permit, Plan
from moot.model.moment import Moment
from moot.model.participant import HUMAN, Kind, Participant
from moot.model.turn import FORCING, Duty, RuleName, Step, Turn
from moot.ports import Scope
from moot.rules import answer_shape, audit, links, why
from moot.rules.draft import Draft, Seen
from moot.rules.floor import interruption, seats
from moot.rules.floor.calls import Called
from moot.rules.room import Room
from moot.rules.words import mentions

_encode = json.Encoder().encode


ASK = Intent.ASK.value
"""The intent of a question. Outside groups its turn ends with it, and its answer is one of its own."""
DELEGATE = Intent.DELEGATE.value
"""The intent of the message that opens a task; only flow/delegate.py says it in a conversation of one worker."""
AWAITED = Plan((), (Duty.OBSERVES, RuleName.ASK))
A_TOOL = Participant(id=TOOL, name="tool", kind=Kind.TOOL)


class Post(Struct, frozen=True, gc=False):
    """A message on its way in. `mentions` are read before the scope is made (see `posting`)."""

    author: ParticipantId
    conversation: str
    text: str
    mentions: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    reply_to: int = 0
    reply_in: str = ""
    """The conversation of the message that this one answers, as the caller names it, if it does."""
    intent: str = ""
    interrupt: bool = False
    partials: dict[TurnId, str] = {}
    """What interrupted agents had said so far, where the caller knows it."""
    key: str = ""
    max_turns: int | None = None
    awaited: float = 0.0
    """Of a question (`intent` ask): until when its author wants the answer."""
    waits_in: HostId = HostId("")
    """Of a question: the process in which its author waits for the answer."""
    shape: str = ""
    """Of a question or a task: what the answer has to look like, as JSON (rules/answer_shape.py)."""
    quiet: bool = False
    """Whoever it is for waits for it, and needs no turn to hear it."""
    guest: bool = False
    """By a guest of a chat elsewhere, who neither invites nor interrupts."""
    turn: TurnId | None = None
    fence: int = 0
    """The running turn in which an agent posts by tool."""
    metadata: JsonObject = {}


def posting(author: ParticipantId, conversation: str, text: str, **fields: Any) -> Post:
    """A `Post` with its mentions read."""
    return Post(author=author, conversation=conversation, text=text, mentions=mentions.parse(text), **fields)


def digest(command: Post, conversation: str, text_hash: str) -> str:
    """The fingerprint by which a repeat is told from another body under the same key."""
    body = (conversation, text_hash, command.force, command.reply_to, command.intent)
    return sha256(_encode((*body, command.shape) if command.shape else body)).hexdigest()


def scope(command: Post) -> Scope:
    return Scope(
        refs=(command.conversation,),
        turns=() if command.turn is None else (command.turn,),
        names=(command.author, *command.force, *meant(command.mentions)),
        messages=_replied(command) if command.reply_to else (),
        running_of=command.author if command.turn is None else None,
        key=(command.author, command.key) if command.key else None,
    )


def _replied(command: Post) -> tuple[tuple[ConversationId, int], ...]:
    """The message that it answers, as far as its conversation is named by id."""
    refs = {command.reply_in, command.conversation} - {""}
    return tuple((ConversationId(ref), command.reply_to) for ref in sorted(refs))


def meant(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Every name that mentions may stand for."""
    return tuple([name for token in tokens for name in mentions.readings(token)])


def decide(command: Post, seen: Seen, at: Moment) -> Decision[Posted]:
    if command.key:
        before = seen.replay(command.author, command.key)
        if before is not None:
            return Decision([], replayed(command, before, seen))
    draft = Draft(seen, at)
    room = find.open_room(draft, command.conversation)
    author = find.member(room, command.author)
    posted = speak(room, author, command)
    return Decision(draft.changes(), posted)


def replayed(command: Post, before: Message, seen: Seen) -> Posted:
    """The same key again: the first message, or a conflict when the body is another."""
    text_hash, ref = audit.text_hash(command.text), command.conversation
    if before.digest == digest(command, ref, text_hash):  # also where it was archived since
        return Posted(before, before.author, None)
    found = find.conversation(seen, ref)  # which the first time may have been named otherwise
    if before.digest not in [digest(command, name, text_hash) for name in (found.id, found.name, found.key)]:
        raise used(command, before)
    return Posted(before, before.author, None)


def used(command: Post, before: Message) -> Conflict:
    return Conflict(
        f'the idempotency key "{command.key}" was already used for another message',
        detail=f"it belongs to {before.id}; nothing was stored",
        fix=("use a new key for a new message",),
        message=before.id,
    )


# --- the two ways of speaking: of oneself, and as the reply of a turn -----------------------------------


class PendingMessage(Struct, gc=False):
    """A message being made: what it says, whom it calls, and in which turn."""

    author: Participant
    text: str
    text_hash: str
    words: address.Words
    cap: int
    turn: Turn | None = None
    here: bool = False
    """The turn runs in this very conversation."""
    by_tool: bool = False
    """It is not the reply of its turn."""
    stopped: list[Turn] = []
    """Turns it interrupted, whose agents are called before the others."""
    awaited: bool = False
    """It is the answer that the others here wait for: it needs to call nobody."""
    reply_to: int = 0
    answered: ParticipantId | None = None
    """Who wrote what it replies to, where that was looked up."""
    intent: str = ""
    key: str = ""
    digest: str = ""
    metadata: JsonObject = {}


def speak(room: Room, author: Participant, command: Post) -> Posted:
    """A message of somebody's own accord, or by tool in a running turn."""
    turn = lineage.current_turn(room, author, command.turn, command.fence)
    if turn is None:  # what it was saying when it was removed, it may end
        find.not_removed(author)
    here = turn is not None and turn.conversation == room.id
    if turn is not None and here:
        room.floor.check_post_slot(room, turn)
    words = address.Words(
        command.mentions,
        command.force,
        command.intent,
        command.awaited,
        command.shape,
        command.guest,
        command.waits_in,
    )
    address.check(room, author, words, answers=here or bool(command.reply_to))
    if command.max_turns:
        room.floor.check_cap(author)
    stopped = _interrupted(room, author, words, asks=command.interrupt)
    if stopped:
        cut_short(room, stopped, command.partials)
    text_hash = audit.text_hash(command.text)
    message, warnings = say(
        room,
        PendingMessage(
            author=author,
            text=command.text,
            text_hash=text_hash,
            words=words,
            cap=command.max_turns or room.settings.max_agent_turns_per_message,
            turn=turn,
            here=here,
            by_tool=True,
            awaited=command.quiet,
            stopped=stopped,
            reply_to=_answered(room, command) if command.reply_to or command.reply_in else 0,
            answered=_answered_author(room, command.reply_to) if command.reply_to else None,
            intent=command.intent,
            key=command.key,
            digest=digest(command, command.conversation, text_hash) if command.key else "",
            metadata=_with_shape(command) if command.shape else command.metadata,
        ),
    )
    if turn is not None:
        home = room if here else room.draft.room(find.conversation(room.draft.seen, turn.conversation))
        home.put_turn(structs.replace(home.turns[turn.agent], posts=turn.posts + 1))
    move_on(room)
    return Posted(message, author.name, why.scene(room, message), tuple(warnings))


def _with_shape(command: Post) -> JsonObject:
    return {**command.metadata, answer_shape.SHAPE: json.decode(command.shape)}


def _answered(room: Room, command: Post) -> int:
    """The seq that a message answers: one of its own conversation, whichever way that is written."""
    if command.reply_in not in ("", command.conversation, room.id, room.conversation.name):
        ref = address_of(ConversationId(command.reply_in), command.reply_to)
        title = f"there is no message {ref} in {room.conversation.name} to reply to"
        raise NotFound(title, what="message", ref=ref)
    return lineage.checked_reply(room, command.reply_to)


def _answered_author(room: Room, seq: int) -> ParticipantId | None:
    found = room.draft.seen.message(room.id, seq)
    return None if found is None else found.author


def reply(
    room: Room, turn: Turn, text: str, metadata: JsonObject, *, reply_to: int = 0, key: str = ""
) -> Message:
    """What an agent says at the end of its turn. The caller ends the turn and moves the floor on."""
    seen_to = turn.shared and room.conversation.head > turn.hi
    text_hash = audit.text_hash(text)
    question = turn.question
    message, _ = say(
        room,
        PendingMessage(
            author=room.draft.participant(turn.agent),
            text=text,
            text_hash=text_hash,
            words=address.Words(mentions=mentions.parse(text)),
            cap=0,
            turn=turn,
            here=True,
            awaited=question is not None and question.is_waited_for(room.now),
            reply_to=reply_to or (question.seq if question is not None else 0),
            key=key,
            digest=digest(Post(turn.agent, room.id, text, reply_to=reply_to), room.id, text_hash)
            if key
            else "",
            metadata={**metadata, "seen_to": turn.hi} if seen_to else metadata,
        ),
    )
    return message


def say(room: Room, new: PendingMessage) -> tuple[Message, list[Warned]]:
    """Store one message with its why-record, and give out the calls it makes."""
    author, turn = new.author, new.turn
    permit = links.permit(
        room, author, turn if new.here else None, new.answered
    )  # first: a refusal counts nowhere
    seq = room.conversation.next_seq
    descent = lineage.descent(room, author, turn, new.text, by_tool=new.by_tool)
    addressees = address.addressed(room, author, new.words, new.stopped)
    if new.awaited:
        addressees.agents.clear()
    inside = room.floor.inside(turn) if new.here else None
    calls, blocks = address.calls(room, author, addressees, descent, inside)
    message = append(
        room,
        permit,
        Message(  # field by field in their order: naming twenty of them takes as long as the plan
            room.id,
            seq,
            author.id,
            author.kind,
            new.text,
            descent.chain.id,
            descent.hop,
            room.now,
            addressees.mentioned,
            new.reply_to,
            new.intent,
            FIRST_VERSION,
            turn.id if turn is not None else None,
            inside.round if inside else room.floor.opener(room, author),
            inside.depth if inside else 0,
            room.floor.marked(room, new.metadata, author),
            AWAITED
            if new.awaited
            else why.plan(room, author, calls, blocks, new.cap if inside is None else len(calls)),
            new.key,
            new.digest,
        ),
        new.text_hash,
    )
    room.floor.sent(room, author, seq)
    for newcomer in addressees.invited:
        _bring_in(room, newcomer, author, seq)
    for call in calls:
        member = room.members[call.agent]
        if member.streak and call.reason in FORCING:
            room.put_member(structs.replace(member, streak=0, rested=0))
    room.floor.hand_out(room, message, Called(author.name, calls, blocks, new.stopped, inside, new.cap))
    return message, addressees.warnings


def _bring_in(room: Room, newcomer: Participant, author: Participant, seq: int) -> None:
    """Somebody whom the message invites: a member from that message on."""
    membership.add(room, newcomer, cursor=seq - 1)
    notice(room, f"[{newcomer.name} joined, invited by {author.name}]", {"notice": "joined"})
    room.draft.emit(EventType.CONVERSATION_JOINED, room, by=newcomer.id)


def move_on(room: Room) -> None:
    """Hand the floor on, then say what the rules left to be said. Where turns may have ended, obligations.py goes on
    from here."""
    room.floor.advance(room)
    for waiting in room.notices:
        notice(room, waiting.text, waiting.metadata)
    room.notices.clear()


# --- interruption, notices, and the only place where messages are made -----------------------------------


def _interrupted(room: Room, author: Participant, words: address.Words, *, asks: bool) -> list[Turn]:
    """Running turns that a message stops: its author asks for it and may, or their agents want it so."""
    if asks and author.kind is HUMAN:
        return interruption.stoppable(room, author)
    if words.guest or not interruption.running_besides(room, author):
        return []
    found = interruption.let_themselves(room, author)
    stopped = room.floor.interrupted(found, address.named(room, words)) if found else found
    if asks and not stopped:
        raise interruption.refusal(room, author)
    return stopped


def cut_short(room: Room, turns: list[Turn], partials: dict[TurnId, str]) -> list[Turn]:
    """Stop running turns; what they had said is kept as marked partials that wake nobody.

    A turn whose tool runs is stopped when the tool's result has been written down.
    """
    stopped: list[Turn] = []
    for turn in turns:
        if turn.open_step is not None:
            stopped.append(room.put_turn(structs.replace(turn, stopping=True)))
            continue
        kept = partial(room, turn, partials.get(turn.id, ""))
        room.put_member(structs.replace(room.members[turn.agent], cut=True))
        rule = RuleName.PAUSED if room.draft.participant(turn.agent).paused else RuleName.FORCE
        stopped.append(seats.cancel(room, structs.replace(turn, interrupted=True, message=kept), rule))
    return stopped


def partial(room: Room, turn: Turn, text: str) -> int:
    """The words of an interrupted turn; answers with their seq. An empty partial is not stored."""
    if not text.strip():
        return 0
    return _beside(room, turn, room.draft.participant(turn.agent), text, {"partial": True}).seq


def by_tool(room: Room, turn: Turn, step: Step, text: str, *, failed: bool) -> Message:
    """What a tool answered in a turn."""
    metadata = {"tool": step.tool, "for": turn.agent, "call": step.call, "arguments": step.arguments}
    return _beside(room, turn, A_TOOL, text, {**metadata, "failed": True} if failed else metadata)


def _beside(room: Room, turn: Turn, author: Participant, text: str, metadata: JsonObject) -> Message:
    """What is said in a turn without being its reply: on the turn's chain, and owing nobody anything."""
    return append(
        room,
        links.beside(author),
        Message(
            conversation=room.id,
            seq=room.conversation.next_seq,
            author=author.id,
            kind=author.kind,
            text=text,
            root=turn.root,
            hop=turn.hop,
            at=room.now,
            turn=turn.id,
            round=turn.round,
            depth=turn.depth,
            metadata=metadata,
        ),
    )


def notice(room: Room, text: str, metadata: JsonObject) -> Message:
    """Something the system says. It owes nobody anything."""
    seq = room.conversation.next_seq
    return append(
        room,
        links.OF_SYSTEM,
        Message(
            conversation=room.id,
            seq=seq,
            author=SYSTEM,
            kind=Kind.SYSTEM,
            text=text,
            root=RootId(address_of(room.id, seq)),
            hop=0,
            at=room.now,
            metadata=metadata,
        ),
    )


def append(room: Room, permit: Permit, message: Message, text_hash: str = "") -> Message:
    """Give the message its entry in the audit chain and its place in the conversation. Who has hashed its text
    already says so."""
    before = room.conversation
    place = before.chain_length + 1
    entrance = room.draft.at.entrance
    if entrance.marks and message.kind is not Kind.SYSTEM and "imported" not in message.metadata:
        message = structs.replace(message, metadata=message.metadata | entrance.marks)
    hashed = audit.message_hash(before.chain, place, message, text_hash or audit.text_hash(message.text))
    message = structs.replace(message, chain_place=place, hash=hashed)
    room.talk(
        next_seq=message.seq + 1,
        chain=hashed,
        chain_length=place,
        updated_at=room.now,
        last_human=message.seq if message.kind is HUMAN else before.last_human,
    )
    room.draft.add(AppendMessage(message, permit))
    room.draft.emit(EventType.MESSAGE_POSTED, room, by=message.author, seq=message.seq)
    return message
