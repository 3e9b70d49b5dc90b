"""Whom a message calls: mentions, force, the target of an ephemeral conversation, the other side of a pair.

post.py asks this before it stores anything. Names are resolved here, and what the sender must be told about
them is collected; nothing is decided about turns.
"""

from msgspec import Struct

from moot.errors import BadValue
from moot.flow.steps import find
from moot.flow.steps.lineage import Descent
from moot.model.answer import Warned
from moot.model.conversation import EPHEMERAL
from moot.model.hint import Act, Hint, WarningCode
from moot.model.ids import HostId, ParticipantId
from moot.model.intent import Intent
from moot.model.participant import TAKES_TURNS, Kind, Participant
from moot.model.turn import MENTION, NOBODY, Call, RuleName, Turn
from moot.rules import brakes, links
from moot.rules.room import Room
from moot.rules.words import intents, mentions

EVERYONE = frozenset({"all", "everyone", "here"})


class Words(Struct, frozen=True, gc=False):
    """What a message says about whom it is for."""

    mentions: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    intent: str = ""
    awaited: float = 0.0
    """Until when its author wants the answer."""
    shape: str = ""
    """What an answer has to look like."""
    guest: bool = False
    """Its author is a guest, who invites nobody."""
    waits_in: HostId = HostId("")
    """The process in which its author waits for the answer."""

    @property
    def asks(self) -> bool:
        """It is a question that wants an answer of its own."""
        return self.intent == Intent.ASK

    @property
    def delegates(self) -> bool:
        """It opens a task."""
        return self.intent == Intent.DELEGATE


class Addressed(Struct, gc=False):
    """Whom a message calls, before anything is stored."""

    agents: dict[ParticipantId, RuleName] = {}
    mentioned: tuple[ParticipantId, ...] = ()
    awaited: float = 0.0
    shape: str = ""
    guest: bool = False
    waits_in: HostId = HostId("")
    warnings: list[Warned] = []
    invited: list[Participant] = []


def addressed(room: Room, author: Participant, words: Words, stopped: list[Turn]) -> Addressed:
    """Those called, in order: interrupted ones first, then by the rules of the kind of conversation."""
    found = Addressed(awaited=words.awaited, shape=words.shape, guest=words.guest, waits_in=words.waits_in)
    agents = found.agents
    for turn in stopped:
        agents[turn.agent] = RuleName.FORCE
    if room.takes_rounds:
        _forced(room, author, words, found)
    else:
        _third_parties(room, words, found)
        for member in room.agents():
            forced = RuleName.FORCE if member.participant in agents else RuleName.DIRECT
            forced = RuleName.TASK if words.delegates else forced
            agents[member.participant] = RuleName.ASK if words.asks else forced
    agents.pop(author.id, None)
    return found


def check(room: Room, author: Participant, words: Words, *, answers: bool) -> None:
    """Refuses what is not the author's to mean, and a question where too many wait. `answers`: see
    rules/words/intents.py."""
    if words.intent:
        intents.check(room, author, words.intent, hearers(room, author, words), answers=answers)
    if words.shape:
        _check_shape(room, words)
    if words.asks:
        room.floor.check_question(room)


def _check_shape(room: Room, words: Words) -> None:
    """What an answer has to look like is said of one answer: that to a question or a task."""
    if room.takes_rounds:
        raise BadValue(
            "in a group no shape can be asked for",
            detail="everybody there answers with a message of its own. Nothing was stored",
            fix=("ask one agent, in your conversation with it",),
        )
    if not words.asks and not words.delegates:
        raise BadValue(
            "only a question or a task can ask for a shape",
            detail=f'expected the intent "{Intent.ASK}". Nothing was stored',
        )


def named(room: Room, words: Words) -> set[ParticipantId]:
    """The members a message asks for by name, or all of them."""
    if EVERYONE.intersection(words.mentions):
        return set(room.members)
    meant = [mentions.resolve(token, room.draft.seen.named) for token in words.mentions]
    meant += [room.draft.seen.named(name) for name in words.force]
    return {participant.id for participant in meant if participant is not None}


def hearers(room: Room, author: Participant, words: Words) -> list[ParticipantId]:
    """Whom a message is for: in a pair the other one, in a group those it names."""
    meant = named(room, words) if room.takes_rounds else room.members.keys()
    return [member for member in room.members if member in meant and member != author.id]


def calls(
    room: Room, author: Participant, addressees: Addressed, descent: Descent, turn: Turn | None
) -> tuple[list[Call], dict[ParticipantId, RuleName]]:
    """A call per agent on the message that comes next, and the rule for each that gets no turn from it."""
    made: list[Call] = []
    blocks: dict[ParticipantId, RuleName] = {}
    if not addressees.agents:
        return made, blocks
    human = author.kind not in TAKES_TURNS
    depth = turn.depth + 1 if turn is not None else 1
    too_deep = room.floor.too_deep(room, depth)
    draft, seq = room.draft, room.conversation.next_seq
    for agent, reason in addressees.agents.items():
        call = Call(
            agent,
            seq,
            human,
            depth,
            descent.hop,
            descent.chain.id,
            reason,
            0,
            descent.due,
            addressees.awaited,
            NOBODY if human else author.id,
            addressees.shape,
            addressees.waits_in,
        )
        made.append(call)
        stop = None if human else brakes.chain_stop(call, descent.chain, draft.at.terms.limits)
        if stop is None and too_deep:
            stop = RuleName.DEPTH
        if stop is None and not links.may_call(room, author, agent):
            stop = RuleName.LINK
        participant = draft.participant(agent)
        if participant.removed:
            addressees.warnings.append(
                Warned(
                    WarningCode.UNKNOWN,
                    f"{participant.name} was removed and no longer answers",
                    (participant.name,),
                )
            )
        if stop is None and participant.gets_no_turns:
            stop = RuleName.PAUSED
        if stop is not None:
            blocks[agent] = stop
    return made, blocks


def _forced(room: Room, author: Participant, words: Words, addressees: Addressed) -> None:
    """In a group: the target of an ephemeral one, those named with force, those mentioned; each once."""
    agents, home = addressees.agents, room.conversation.home
    ephemeral = room.conversation.kind is EPHEMERAL
    if ephemeral and home is not None and home in room.members and not author.speaks_in_turns:
        agents.setdefault(home, RuleName.DIRECT)
    for name in words.force:
        participant = find.participant(room.draft.seen, name)
        if participant.speaks_in_turns and (
            participant.id in room.members or _invites(room, author, participant, addressees)
        ):
            agents.setdefault(participant.id, RuleName.FORCE)
    named: dict[ParticipantId, None] = {}
    for token in words.mentions:
        for participant in _meant(room, author, token, addressees):
            named[participant.id] = None
            if participant.kind in TAKES_TURNS:
                agents.setdefault(participant.id, MENTION)
    addressees.mentioned = tuple(named)


def _meant(room: Room, author: Participant, token: str, addressees: Addressed) -> list[Participant]:
    """The participants an `@name` means here. Unknown names stay text, and the sender is told."""
    participant = mentions.resolve(token, room.draft.seen.named)
    if participant is None and token in EVERYONE:
        here = [room.draft.participant(m.participant) for m in room.agents()]
        return [participant for participant in here if not participant.removed]
    if participant is None:
        addressees.warnings.append(_unknown(token))
        return []
    if participant.id in room.members or _invites(room, author, participant, addressees):
        return [participant]
    return []


def _third_parties(room: Room, words: Words, addressees: Addressed) -> None:
    """In a direct conversation a mention invites nobody; the sender learns what would."""
    named: dict[ParticipantId, None] = {}
    for token in words.mentions:
        participant = mentions.resolve(token, room.draft.seen.named)
        if participant is None:
            addressees.warnings.append(_unknown(token))
        elif participant.id in room.members:
            named[participant.id] = None
        else:
            here = (room.draft.participant(m.participant).name for m in room.agents())
            together = Hint(Act.TALK_TOGETHER, agents=(*here, participant.name))
            text = f"{participant.name} is not in this conversation"
            addressees.warnings.append(Warned(WarningCode.NOT_ASKED, text, (participant.name,), (together,)))
    addressees.mentioned = tuple(named)


def _invites(room: Room, author: Participant, participant: Participant, addressees: Addressed) -> bool:
    """People invite agents by naming them; agents only where the group says so."""
    if participant in addressees.invited:
        return True
    if participant.removed:
        addressees.warnings.append(
            Warned(
                WarningCode.UNKNOWN,
                f"{participant.name} was removed; the name is treated as plain text",
                (participant.name,),
            )
        )
        return False
    may_invite = author.kind is Kind.HUMAN or _agent_may_invite(room, author, participant)
    if participant.speaks_in_turns and may_invite and not addressees.guest:
        addressees.invited.append(participant)
        return True
    text = f"{participant.name} is not in {room.conversation.name} and was not invited"
    addressees.warnings.append(Warned(WarningCode.NOT_ASKED, text, (participant.name,)))
    return False


def _agent_may_invite(room: Room, author: Participant, participant: Participant) -> bool:
    """Where the group lets agents invite, and only whom they may also write to."""
    return room.settings.agents_may_invite and links.between(room, author.id, participant.id).bar is None


def _unknown(token: str) -> Warned:
    return Warned(
        WarningCode.UNKNOWN, f'nobody is called "{token}"; the name is treated as plain text', (token,)
    )
