"""Why each agent has its part: planned when a message is posted, shown in receipts, read back by `why`.

`plan` is stored with the message; `standing` corrects it by what has happened to the turns since.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from moot.model.answer import Delivery
from moot.model.conversation import HYBRID, MENTION_ONLY, Conversation
from moot.model.ids import ParticipantId
from moot.model.message import Message, Part, Plan
from moot.model.participant import TAKES_TURNS, Participant
from moot.model.round import Round
from moot.model.turn import (
    MAX_CALLS,
    MAY,
    MOVES_CURSOR,
    MUST,
    OPEN,
    UNCLAIMED,
    Call,
    Duty,
    RuleName,
    Turn,
    TurnState,
    silenced,
)
from moot.rules.floor.roster import Roster
from moot.rules.reasons import REASONS
from moot.rules.room import Room


def reason(duty: Duty, rule: RuleName) -> str:
    """The words for a part: what follows the agent's name."""
    return AWAITED if rule is RuleName.ASK and duty is Duty.OBSERVES else REASONS[rule]


AWAITED = "was waiting for it, as the answer to its question"
HELD = {
    True: "and spoke here a moment ago: it is asked when its cooldown ends",
    False: "and gets it later: messages from this sender come in quick succession",
}
"""What holds a message back, in a group and between two agents."""

HELD_BACK, OWED = TurnState.HELD, TurnState.OWED  # every receipt asks for them: see model/turn.py

STATES: dict[TurnState, str] = {
    TurnState.WAITING: "queued",
    TurnState.READY: "woken",
    TurnState.HELD: "held",
    TurnState.OWED: "owed",
    TurnState.RUNNING: "running",
    TurnState.SAID: "answered",
    TurnState.PASSED: "passed",
    TurnState.FAILED: "failed",
    TurnState.EXPIRED: "expired",
    TurnState.CANCELLED: "cancelled",
}


def plan(
    room: Room, author: Participant, calls: list[Call], blocks: Mapping[ParticipantId, RuleName], cap: int
) -> Plan:
    """Each agent's part as far as it can be known before the floor moves."""
    parts: dict[ParticipantId, Part] = {}
    in_rounds, turns, slots = room.takes_rounds, room.turns, cap
    for call in calls:
        agent = call.agent
        duty, rule = MUST if in_rounds or call.obliges else MAY, call.reason
        if agent in blocks:
            duty, rule = Duty.BLOCKED, blocks[agent]
        elif in_rounds and (agent not in turns or turns[agent].state not in UNCLAIMED):
            duty, rule = (duty, rule) if slots > 0 else (Duty.BLOCKED, RuleName.CAP)
            slots -= 1
        parts[agent] = Part(agent, duty, rule)
    for agent, rule in blocks.items():
        if agent not in parts:
            parts[agent] = Part(agent, Duty.BLOCKED, rule)
    others = _others(room, author)
    agents = room.roster.agents
    if author.id in agents and author.id not in parts:
        parts[author.id] = Part(author.id, Duty.OBSERVES, RuleName.SELF)
    if others is POLLED:
        here = room.here()
        for agent in agents:
            if agent not in here and agent not in parts:
                parts[agent] = Part(agent, Duty.OBSERVES, RuleName.AWAY)
    return Plan(tuple(parts.values()), others)


POLLED = (Duty.MAY, RuleName.POLL)
ALL_AWAY = (Duty.OBSERVES, RuleName.AWAY)
NOT_ASKED = (Duty.OBSERVES, RuleName.STRATEGY)


def _others(room: Room, author: Participant) -> tuple[Duty, RuleName]:
    """What holds for agents the message does not call."""
    strategy = room.settings.reply_strategy
    if not room.takes_rounds or author.kind in TAKES_TURNS or strategy is MENTION_ONLY:
        return NOT_ASKED
    if not room.here():
        return ALL_AWAY
    return POLLED if strategy is HYBRID else NOT_ASKED


def standing(message: Message, round_: Round | None, agent: ParticipantId) -> tuple[Duty, RuleName]:
    """An agent's part now: as planned, unless the floor noted otherwise since. What is cut short has no plan."""
    part = noted(message, round_, agent) or message.plan.of(agent)
    is_own = agent == message.author and part == message.plan.others
    return (Duty.OBSERVES, RuleName.SELF) if is_own else part


def noted(message: Message, round_: Round | None, agent: ParticipantId) -> tuple[Duty, RuleName] | None:
    """What the floor wrote down about an agent that got no turn for the message."""
    for note in round_.notes if round_ is not None else ():
        if note.agent == agent and note.seq == message.seq:
            return note.duty, note.rule
    return None


def covers(turn: Turn, seq: int) -> bool:
    """Whether a turn read, reads or will read a message."""
    return turn.state in UNCLAIMED or turn.lo < seq <= turn.hi


class Scene(Struct, frozen=True, gc=False):
    """How a conversation stood when the floor had moved on: all that a receipt is made from."""

    roster: Roster
    turns: dict[ParticipantId, Turn]
    round: Round | None
    """The one the message belongs to."""
    now: float
    where: Conversation


def scene(room: Room, message: Message) -> Scene:
    turns = room.turns.copy()
    if room.asks_changed and (question := room.asks.newest()) is not None and question.called_by(message.seq):
        turns[question.agent] = question
    return Scene(room.roster, turns, room.rounds.get(message.round), room.now, room.conversation)


def deliveries(message: Message, at: Scene) -> tuple[Delivery, ...]:
    """What the sender is told about each agent."""
    parts = {part.agent: (part.duty, part.rule) for part in message.plan.parts}
    notes = at.round.notes if at.round is not None else ()
    parts.update({note.agent: (note.duty, note.rule) for note in notes if note.seq == message.seq})
    here = at.roster.here(at.now)
    found: list[Delivery] = []
    for agent in _in_speaking_order(message, at):
        participant = at.roster.agents[agent]
        part = parts.get(agent, message.plan.others)
        duty, state, rule, delayed = _with_turn(message.seq, part, at.turns.get(agent), at.now)
        reach = "live" if agent in here else participant.reachable(at.now).value
        words = reason(duty, rule)
        words = words if not delayed else f"{words}, {HELD[at.round is not None]}"
        found.append(Delivery(participant.name, duty, state, rule, words, reach, delayed))
    return tuple(found)


def _in_speaking_order(message: Message, at: Scene) -> list[ParticipantId]:
    """Those who have a turn that reads the message in the order of their turns, then those it calls, then the rest."""
    agents, author = at.roster.agents, message.author
    called = [part.agent for part in message.plan.parts if part.agent in agents]
    if len(called) > 1:
        turns = [t for t in at.turns.values() if t.state is not OWED and t.called_by(message.seq)]
        turns.sort(key=lambda turn: (turn.round, turn.place, turn.id))
        called = [*[turn.agent for turn in turns], *called]
    return [agent for agent in dict.fromkeys((*called, *agents)) if agent != author]


def _with_turn(
    seq: int, part: tuple[Duty, RuleName], turn: Turn | None, now: float
) -> tuple[Duty, str, RuleName, int]:
    """The part of one agent, with the turn it has: duty, state, rule, and for how many ms it is held."""
    duty, rule = part
    if duty is Duty.BLOCKED:
        return duty, "blocked", rule, 0
    if turn is None:
        return duty, "queued", rule, 0
    if not covers(turn, seq):
        return duty, "queued", rule, _held_ms(turn, seq, now)
    if turn.called_by(seq):
        duty = turn.duty
        if turn.reason is RuleName.ROUND_ROBIN or turn.reason is RuleName.POLL:
            rule = turn.reason
    return duty, STATES[turn.state], rule, _held_ms(turn, seq, now)


def _held_ms(turn: Turn, seq: int, now: float) -> int:
    """For how long a message is held: by its pair's limit, also where an earlier turn will carry it along; where it
    has none, as long as the turn itself (cooldown)."""
    newest = turn.calls[-1]
    due = newest.due if newest.seq == seq else next((c.due for c in turn.calls if c.seq == seq), 0.0)
    if not due:
        if turn.state is not HELD_BACK:
            return 0
        due = turn.due
    return max(0, round((due - now) * 1000))


def final(
    message: Message, round_: Round | None, turns: Sequence[Turn], agent: ParticipantId
) -> tuple[Duty, RuleName]:
    """An agent's part in a message as history has settled it so far."""
    duty, rule = standing(message, round_, agent)
    turn = turn_about(message, turns, agent)
    if turn is None or agent == message.author:
        return duty, rule
    call = next((call for call in turn.calls if call.seq == message.seq), None)
    if turn.state is TurnState.CANCELLED and not (turn.interrupted and turn.rule is RuleName.FORCE):
        unexplained = turn.rule if noted(message, round_, agent) is None else None
        return (duty, rule) if unexplained is None else (silenced(unexplained), unexplained)
    if call is None:
        return merely_read(message, round_, turn, turns)
    return (Duty.MUST if call.obliges else Duty.MAY), call.reason


def merely_read(
    message: Message, round_: Round | None, turn: Turn, turns: Sequence[Turn]
) -> tuple[Duty, RuleName]:
    """The part of an agent that read a message in a turn which others called. What kept it from being asked is still
    why it was not; one that would have been asked, or was next in the rotation, had seen it by then."""
    if _paused_first(message.seq, turn, turns):
        return Duty.BLOCKED, RuleName.PAUSED
    duty, rule = standing(message, round_, turn.agent)
    covered = duty in (MUST, MAY) or (rule is RuleName.STRATEGY and turn.reason is RuleName.ROUND_ROBIN)
    if rule is RuleName.AWAY and round_ is not None and (round_.asked or message.plan.others != ALL_AWAY):
        # Away when it was posted; unless the floor noted it too, the agent was back when its place came.
        covered = noted(message, round_, turn.agent) is None
    return (Duty.OBSERVES, RuleName.SEEN) if covered else (duty, rule)


def _paused_first(seq: int, reader: Turn, turns: Sequence[Turn]) -> bool:
    """Whether the message had called an earlier turn of the agent, which a pause took away."""
    mine = [t for t in turns if t.agent == reader.agent and t.conversation == reader.conversation]
    return any(turn.rule is RuleName.PAUSED and turn.called_by(seq) for turn in mine)


def _forgot(turn: Turn, seq: int) -> bool:
    """Whether a message called a turn that was called too often to remember all, and that never began."""
    return len(turn.calls) >= MAX_CALLS and not turn.started_at and seq < turn.calls[0].seq


def turn_about(message: Message, turns: Sequence[Turn], agent: ParticipantId) -> Turn | None:
    """The turn in which an agent read, reads or will read a message; one it was called by comes first."""
    seq = message.seq
    mine = [turn for turn in turns if turn.agent == agent and turn.conversation == message.conversation]
    called = [turn for turn in mine if any(call.seq == seq for call in turn.calls) or _forgot(turn, seq)]
    read = [turn for turn in mine if turn.state in MOVES_CURSOR and turn.lo < seq <= turn.hi]
    answering = [turn for turn in called if turn in read or turn.state in OPEN]
    best = answering or read or [turn for turn in called if turn.state is TurnState.CANCELLED]
    return best[-1] if best else None
