"""Who is asked although nobody named them: volunteers, the next in rotation, and reactions.

Each function looks for one agent and says what it came to: somebody to ask, somebody to wait for, or nobody;
and, for those passed over, by which rule. group.py carries it out.
"""

from collections.abc import Iterable

from msgspec import structs

from moot.model.conversation import Member, ReplyStrategy
from moot.model.ids import ParticipantId
from moot.model.round import Round, Utterance
from moot.model.turn import Call, RuleName, TurnState
from moot.rules import brakes
from moot.rules.floor import seats
from moot.rules.room import Room

SOMETIMES, OFTEN = 3, 6
"""After so many polls passed in a row an agent of a large group is asked less often: in every second round, then in one
of four."""


class Poll:
    """What a look for the next one to ask came to."""

    __slots__ = ("about", "calls", "notes", "reason", "waits")

    def __init__(self, reason: RuleName) -> None:
        self.reason = reason
        self.calls: tuple[Call, ...] = ()
        self.waits = False
        self.notes: list[tuple[ParticipantId, RuleName]] = []
        self.about: dict[ParticipantId, int] = {}

    def ask_rather(self, calls: tuple[Call, ...]) -> None:
        """Ask these, though they are in cooldown, instead of waiting for an agent that speaks elsewhere."""
        self.calls, self.waits = calls, False


def next_volunteer(room: Room, round_: Round) -> Poll:
    """The next agent in member order that nobody forced; those in cooldown come after the others."""
    poll = Poll(RuleName.POLL)
    if volunteers_exhausted(room, round_) or _nobody_to_ask(room, round_):
        return poll
    cooling: Member | None = None
    for member in unasked(room, round_):
        rule = _passed_over(room, member, poll)
        if poll.waits:
            break
        if rule is not None:
            poll.notes.append((member.participant, rule))
        elif seats.is_large(room) and _rests(room, member):
            poll.notes.append((member.participant, RuleName.REST))
        elif brakes.cooled_at(member, room.settings.cooldown_seconds, room.now) > room.now:
            cooling = cooling or member
        else:
            poll.calls = (_call(room, round_, member.participant, RuleName.POLL),)
            return poll
    if cooling is not None:
        poll.ask_rather((_call(room, round_, cooling.participant, RuleName.POLL),))
    return poll


def next_in_rotation(room: Room, round_: Round) -> Poll:
    """The next present agent after the pointer, at most once around."""
    poll = Poll(RuleName.ROUND_ROBIN)
    done = round_.overridden or round_.volunteers or room.conversation.answered >= round_.opener
    if done or seats.free_slots(room, round_) < 1:
        return poll
    order = [member.participant for member in room.agents()]
    pointer = room.conversation.pointer
    start = order.index(pointer) + 1 if pointer in order else 0
    left = {member.participant: member for member in unasked(room, round_)}
    for agent in order[start:] + order[:start]:
        member = left.get(agent)
        if member is None:
            continue
        rule = _passed_over(room, member, poll)
        if poll.waits:
            return poll
        if rule is None:
            poll.calls = (_call(room, round_, agent, RuleName.ROUND_ROBIN),)
            return poll
        poll.notes.append((agent, rule))
    return poll


def next_reaction(room: Room, round_: Round) -> Poll:
    """An agent already asked that has not seen what another said since, each once more, in asking order."""
    poll = Poll(RuleName.REACT)
    if not round_.utterances or seats.free_slots(room, round_) < 1:
        return poll
    cooling: tuple[Call, ...] = ()
    for agent, unseen in due_reactions(room, round_):
        member = room.members[agent]
        rule = _passed_over(room, member, poll)
        if poll.waits:
            break
        calls = tuple(_reaction(agent, utterance) for utterance in unseen)
        stop = rule or next((s for c in calls if (s := _chain_stop(room, c))), None)
        if stop is not None:
            poll.notes.append((agent, stop))
            poll.about[agent] = unseen[-1].seq
        elif brakes.cooled_at(member, room.settings.cooldown_seconds, room.now) > room.now:
            cooling = cooling or calls
        else:
            poll.calls = calls
            return poll
    if cooling:
        poll.ask_rather(cooling)
    return poll


def due_reactions(room: Room, round_: Round) -> Iterable[tuple[ParticipantId, list[Utterance]]]:
    """Agents with unseen words of others below the depth limit, not yet asked a second time."""
    for agent in round_.asked:
        member = room.members.get(agent)
        if member is None or agent in round_.reacted:
            continue
        unseen = [
            utterance
            for utterance in round_.utterances
            if utterance.agent != agent
            and utterance.seq > member.cursor
            and utterance.depth < room.settings.max_depth
        ]
        if unseen and not _noted(round_, agent, unseen[-1].seq):
            yield agent, unseen


def unreached(room: Room, round_: Round) -> list[tuple[ParticipantId, int]]:
    """Agents the round would still have asked, had its slots and limits reached."""
    if not round_.polls or room.settings.reply_strategy is not ReplyStrategy.HYBRID:
        return []
    if _nobody_to_ask(room, round_):
        return []
    left = [
        (m.participant, round_.opener) for m in unasked(room, round_) if not _reads(room, m, round_.opener)
    ]
    if room.settings.reactive_round:
        left += [
            (agent, unseen[-1].seq)
            for agent, unseen in due_reactions(room, round_)
            if agent not in room.turns
        ]
    return left


def _reads(room: Room, member: Member, seq: int) -> bool:
    """Whether the agent speaks just now, and reads the message in that turn."""
    turn = room.turns.get(member.participant)
    return turn is not None and turn.state is TurnState.RUNNING and turn.hi >= seq


def volunteers_exhausted(room: Room, round_: Round) -> bool:
    settings = room.settings
    return (
        seats.free_slots(room, round_) < 1
        or round_.volunteers >= settings.max_voluntary_responders
        or (seats.is_large(room) and round_.polled >= settings.max_voluntary_polls)
    )


def _nobody_to_ask(room: Room, round_: Round) -> bool:
    """All are away while the round's message is posted: its plan says so already."""
    posted_now = round_.opener not in room.draft.seen.rounds(room.id)
    return not room.here() and posted_now and not round_.asked


def unasked(room: Room, round_: Round) -> list[Member]:
    """Agent members not asked in the round, not passed over, that have not read its message."""
    opener = round_.opener
    passed_over = {note.agent for note in round_.notes if note.seq == opener}
    return [
        member
        for member in room.agents()
        if member.cursor < opener
        and member.participant not in passed_over
        and member.participant not in round_.asked
        and not (member.participant in room.turns and _has_turn_for(room, member.participant, opener))
    ]


def _has_turn_for(room: Room, agent: ParticipantId, seq: int) -> bool:
    """Whether the agent has a turn that the message called already."""
    turn = room.turns.get(agent)
    return turn is not None and turn.called_by(seq)


def _noted(round_: Round, agent: ParticipantId, seq: int) -> bool:
    """Whether the agent was passed over for the message. That slots were short is no such thing: they come back."""
    return any(n.agent == agent and n.seq == seq and n.rule is not RuleName.CAP for n in round_.notes)


def _passed_over(room: Room, member: Member, poll: Poll) -> RuleName | None:
    """The rule by which a poll goes past an agent. An agent busy here is waited for at its place."""
    turn = room.turns.get(member.participant)
    if turn is not None and turn.state is TurnState.RUNNING:
        poll.waits = True
        return None
    if turn is not None:
        return RuleName.AWAY
    participant = room.draft.participant(member.participant)
    if participant.gets_no_turns:
        return RuleName.PAUSED
    if member.participant not in room.here():
        return RuleName.AWAY
    limits = room.draft.at.terms.limits
    if not brakes.quota_left(room.draft.quota(participant.id), participant.id, room.now, limits):
        return RuleName.BUDGET
    return None


def _rests(room: Room, member: Member) -> bool:
    """Large groups: who keeps passing sits rounds out. Counts the round sat out when it does."""
    sits_out = 3 if member.streak >= OFTEN else 1 if member.streak >= SOMETIMES else 0
    if member.rested >= sits_out:
        return False
    room.put_member(structs.replace(member, rested=member.rested + 1))
    return True


def _call(room: Room, round_: Round, agent: ParticipantId, reason: RuleName) -> Call:
    return Call(
        agent=agent,
        seq=round_.opener,
        human=round_.human,
        depth=1,
        hop=round_.hop,
        root=round_.root,
        reason=reason,
    )


def _reaction(agent: ParticipantId, utterance: Utterance) -> Call:
    return Call(
        agent=agent,
        seq=utterance.seq,
        human=False,
        depth=utterance.depth + 1,
        hop=utterance.hop,
        root=utterance.root,
        reason=RuleName.REACT,
    )


def _chain_stop(room: Room, call: Call) -> RuleName | None:
    return brakes.chain_stop(call, room.draft.root(call.root), room.draft.at.terms.limits)
