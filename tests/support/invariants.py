"""The nine invariants of the floor (FLOOR part 8), each a function that complains in sentences.

`always` holds after every act; `at_rest` once present agents have finished and time has passed; `when_all_are_back`
once everybody returned and took what waited. The checkers read only what is stored, and what people did (`Deeds`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from moot.flow import sweep
from moot.flow.post import ASK
from moot.flow.steps import find
from moot.model.change import (
    Change,
    Decision,
    JoinTurn,
    PutConversation,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRoot,
    PutRound,
    PutTurn,
    TalkIn,
)  # fmt: skip
from moot.model.conversation import TurnOrder
from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Message
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.model.round import RoundState
from moot.model.turn import (
    MAX_CALLS,
    MOVES_CURSOR,
    OPEN,
    UNCLAIMED,
    USES_SLOT,
    Duty,
    RuleName,
    Turn,
    TurnState,
)
from moot.ports import Scope
from moot.rules import audit, why
from moot.rules.draft import Draft, Seen
from tests.support.history import Deeds, Picture, Player

Complaints = Iterator[str]
Checker = Callable[[Picture, Deeds], Complaints]


def message_at(picture: Picture, turn: Turn) -> Message | None:
    held = picture.messages[turn.conversation]
    return held[turn.cause - 1] if 0 < turn.cause <= len(held) else None


def began(turn: Turn) -> bool:
    return turn.started_at > 0


# --- 1 ---------------------------------------------------------------------------------------------------


def every_cascade_ends(picture: Picture, deeds: Deeds) -> Complaints:
    """Agent-caused turns of one root stay within chain_turns, and nothing is said beyond chain_depth."""
    limits = picture.terms.limits
    caused: Counter[str] = Counter()
    for turn in picture.turns:
        cause = message_at(picture, turn)
        if began(turn) and cause is not None and cause.by_agent:
            caused[turn.root] += 1
            times = 1 + deeds.continued_roots[turn.root]
            if turn.hop > limits.chain_depth * times:
                yield f"turn {turn.id} of {turn.agent} speaks at hop {turn.hop}"
    for root, count in caused.items():
        allowed = limits.chain_turns * (1 + deeds.continued_roots[root])  # type: ignore[index]
        if count > allowed:
            yield f"root {root} caused {count} turns by agents' messages; allowed are {allowed}"


# --- 2 ---------------------------------------------------------------------------------------------------


def intervals_are_disjoint_and_contiguous(picture: Picture, deeds: Deeds) -> Complaints:
    """The completed turns of a member follow each other without gap, overlap or emptiness, up to its cursor."""
    done: dict[tuple[ConversationId, ParticipantId], list[Turn]] = {}
    for turn in picture.turns:
        if turn.state in MOVES_CURSOR:
            done.setdefault((turn.conversation, turn.agent), []).append(turn)
            if turn.hi <= turn.lo:
                yield f"turn {turn.id} of {turn.agent} is empty: ({turn.lo}, {turn.hi}]"
    for (where, agent), turns in done.items():
        turns.sort(key=lambda turn: turn.lo)
        for one, two in pairwise(turns):
            if two.lo < one.hi:
                yield f"turns {one.id} and {two.id} of {agent} overlap"
        member = picture.members[where].get(agent)
        if member is not None:
            yield from _follows(turns, member.joined_seq, member.cursor, f"{agent} in {where}")


def _follows(turns: list[Turn], start: int, cursor: int, whose: str) -> Complaints:
    at = start
    for turn in turns:
        if turn.lo < start:
            continue
        if turn.lo != at:
            yield f"turn {turn.id} of {whose} begins at {turn.lo}, the one before ended at {at}"
        at = turn.hi
    if at != cursor:
        yield f"the cursor of {whose} is {cursor}, its turns end at {at}"


def everything_owed_was_covered(picture: Picture, deeds: Deeds) -> Complaints:
    """All that owed a member a turn lies behind its cursor, unless a person took it back."""
    for message, agent in _standing_calls(picture, deeds):
        turns = picture.turns
        duty, rule = why.final(message, _round(picture, message), turns, agent)
        cursor = picture.members[message.conversation][agent].cursor
        if duty is Duty.MUST and cursor < message.seq and not _taken_back(picture, message, agent, deeds):
            yield f"{message.id} says {agent} {duty} {rule}, but {agent} read only to {cursor}"


def _standing_calls(picture: Picture, deeds: Deeds) -> Iterator[tuple[Message, ParticipantId]]:
    """Messages not deleted, with each agent that was a member when they came and still is."""
    for where, messages in picture.messages.items():
        closed_at = deeds.archived_at.get(where, 0)
        for message in messages:
            if message.metadata or message.kind is Kind.SYSTEM or message.seq <= closed_at:
                continue
            for member in picture.members[where].values():
                who = picture.participants[member.participant]
                if who.speaks_in_turns and member.joined_seq < message.seq and who.id != message.author:
                    yield message, member.participant


def _round(picture: Picture, message: Message) -> Any:
    return picture.rounds.get((message.conversation, message.round))


def _taken_back(picture: Picture, message: Message, agent: ParticipantId, deeds: Deeds) -> bool:
    """A person stopped the turn that was to answer the message, without words or with a message that was refused it
    in turn; it is then read with the next one."""
    return any(
        turn.id in deeds.stopped_for_good or (turn.interrupted and _refused_since(picture, turn))
        for turn in picture.turns
        if turn.agent == agent
        and turn.conversation == message.conversation
        and (turn.lo < message.seq <= turn.hi or any(call.seq == message.seq for call in turn.calls))
    )


def _refused_since(picture: Picture, turn: Turn) -> bool:
    """Whether a message that came after a turn was interrupted was blocked for its agent."""
    later = [m for m in picture.messages[turn.conversation][turn.hi :] if m.kind is not Kind.SYSTEM]
    return any(why.final(m, _round(picture, m), picture.turns, turn.agent)[0] is Duty.BLOCKED for m in later)


# --- 3 ---------------------------------------------------------------------------------------------------


def the_floor_never_sticks(picture: Picture, deeds: Deeds) -> Complaints:
    """With present agents done and time passed, no turn is open but owed ones and questions behind those, and no
    round waits or runs."""
    owed = {(turn.conversation, turn.agent) for turn in picture.turns if turn.state is TurnState.OWED}
    for turn in picture.turns:
        behind = turn.is_queued_ask and (turn.conversation, turn.agent) in owed
        if turn.state in OPEN and turn.state is not TurnState.OWED and not behind:
            yield f"turn {turn.id} of {turn.agent} in {turn.conversation} stays {turn.state}"
    for round_ in picture.rounds.values():
        if round_.state is not RoundState.CLOSED:
            yield f"round {round_.conversation}:{round_.opener} stays {round_.state}"


# --- 4, 5, 6 -----------------------------------------------------------------------------------------------


def one_open_turn_per_agent_and_conversation(picture: Picture, deeds: Deeds) -> Complaints:
    """An agent never has two open turns in one conversation but for questions that wait, and none where it is no
    member."""
    seen: set[tuple[ConversationId, ParticipantId]] = set()
    for turn in picture.turns:
        if turn.state in OPEN:
            if (turn.conversation, turn.agent) in seen and not turn.is_queued_ask:
                yield f"{turn.agent} has two open turns in {turn.conversation}"
            if not turn.is_queued_ask:
                seen.add((turn.conversation, turn.agent))
            if turn.agent not in picture.members[turn.conversation]:
                yield f"{turn.agent} has a turn in {turn.conversation} but is no member"


def sequential_means_one_at_a_time(picture: Picture, deeds: Deeds) -> Complaints:
    """In a sequential group at most one running turn holds the floor."""
    for group in picture.groups():
        if picture.settings(group.id).turn_order is TurnOrder.PARALLEL or group.id in deeds.reordered:
            continue
        holding = [
            turn
            for turn in picture.turns
            if turn.conversation == group.id and turn.state is TurnState.RUNNING and not turn.late
        ]
        if len(holding) > 1:
            yield f"{[turn.agent for turn in holding]} hold the floor of {group.id} at once"


def slots_bound_a_round(picture: Picture, deeds: Deeds) -> Complaints:
    """Turns that used a slot, turns that hold one and posts by tool together stay within the round's cap."""
    taken: Counter[tuple[ConversationId, int]] = Counter()
    replies = {(turn.conversation, turn.message) for turn in picture.turns if turn.message}
    for turn in picture.turns:
        if turn.round and (turn.state in USES_SLOT or turn.state in OPEN):
            taken[turn.conversation, turn.round] += 1
    for group in picture.groups():
        for message in picture.messages[group.id]:
            by_tool = message.by_agent and message.depth and (group.id, message.seq) not in replies
            if by_tool and not message.metadata.get("partial"):
                taken[group.id, message.round] += 1
    for key, count in taken.items():
        cap = picture.rounds[key].cap * (1 + deeds.continued_rounds[key])
        if count > cap:
            yield f"round {key} has {count} slots taken of {cap}"


# --- 7 ---------------------------------------------------------------------------------------------------

EXPLAINS = frozenset({RuleName.CAP, RuleName.PAUSED, RuleName.SEEN, RuleName.DELETED, RuleName.BUDGET})


def a_persons_mention_is_answered_or_explained(picture: Picture, deeds: Deeds) -> Complaints:
    """A member a person mentions has a turn that reads it, or `why` names the rule."""
    for message, agent in _standing_calls(picture, deeds):
        if message.kind is not Kind.HUMAN or agent not in message.mentions:
            continue
        mine = [t for t in picture.turns if t.agent == agent and t.conversation == message.conversation]
        read = any(t.state in MOVES_CURSOR and t.lo < message.seq <= t.hi for t in mine)
        coming = any(t.state in OPEN and why.covers(t, message.seq) for t in mine)
        if read or coming or _taken_back(picture, message, agent, deeds):
            continue
        duty, rule = why.final(message, _round(picture, message), picture.turns, agent)
        if duty in (Duty.MUST, Duty.MAY) or rule not in EXPLAINS:
            yield f"{message.id} mentions {agent}: no turn, and why says {duty} {rule}"


# --- 8 ---------------------------------------------------------------------------------------------------


class Replanning:
    """A verb that plans again and answers with what that would move; nothing is stored."""

    def scope(self, command: ConversationId) -> Scope:
        return Scope(conversations=(command,))

    def decide(self, command: ConversationId, seen: Seen, at: Moment) -> Decision[list[Change]]:
        draft = Draft(seen, at)
        room = draft.room(find.conversation(seen, command))
        if not room.conversation.archived:
            room.floor.advance(room)
        return Decision([], [change for change in draft.changes() if moves(change, seen)])


class Resweeping:
    """The same for the sweep: what is due was done already."""

    def scope(self, command: ConversationId) -> Scope:
        return sweep.scope(sweep.Sweep(command))

    def decide(self, command: ConversationId, seen: Seen, at: Moment) -> Decision[list[Change]]:
        decision = sweep.decide(sweep.Sweep(command), seen, at)
        return Decision([], [change for change in decision.changes if moves(change, seen)])


def moves(change: Change, seen: Seen) -> bool:
    """Whether a change says anything that is not stored already."""
    row: Any = change
    stored: Any = None
    match change:
        case PutTurn(turn=row) | JoinTurn(turn=row):
            stored = seen.turn(row.id)
        case PutRound(round=row):
            stored = seen.rounds(row.conversation).get(row.opener)
        case PutMember(member=row):
            stored = seen.members(row.conversation).get(row.participant)
        case PutConversation(conversation=row) | TalkIn(conversation=row):
            stored = seen.conversation(row.id)
        case PutRoot(root=row):
            stored = seen.root(row.id)
        case PutPair(pair=row):
            stored = seen.pair(row.sender, row.receiver)
        case PutQuota(quota=row):
            stored = seen.quota(row.agent)
        case PutParticipant(participant=row):
            stored = seen.participant(row.id)
        case _:
            pass
    return bool(stored != row)


def planning_again_moves_nothing(player: Player) -> Complaints:
    """Asking the floor again about what is stored changes nothing: no step was forgotten."""
    for where in player.world.where.values():
        moved = player.run(player.world.store.preview(Replanning(), where))
        if moved:
            yield f"planning {where} again moves {moved}"


def sweeping_again_moves_nothing(player: Player) -> Complaints:
    """A second sweep at the same moment changes nothing."""
    for where in player.world.where.values():
        moved = player.run(player.world.store.preview(Resweeping(), where))
        if moved:
            yield f"sweeping {where} again moves {moved}"


# --- 9 ---------------------------------------------------------------------------------------------------


def finishing_is_never_refused(picture: Picture, deeds: Deeds) -> Complaints:
    """Ending one's own running turn always works; only a stale fence is turned away."""
    yield from (f"finishing was refused: {refusal}" for refusal in deeds.refused_finishes)


# --- whom a message obliges, and for how long ---------------------------------------------------------------


def a_must_has_a_message_that_asks_for_it(picture: Picture, deeds: Deeds) -> Complaints:
    """A turn not yet begun is a must exactly when an unread message that stands forces it."""
    for turn in picture.turns:
        if turn.state not in UNCLAIMED or len(turn.calls) >= MAX_CALLS:
            continue
        cursor = picture.members[turn.conversation][turn.agent].cursor
        held = picture.messages[turn.conversation]
        forced = [
            c
            for c in turn.calls
            if c.obliges and c.seq > cursor and not held[c.seq - 1].metadata.get("deleted")
        ]
        if (turn.duty is Duty.MUST) != bool(forced):
            yield f"turn {turn.id} of {turn.agent} is a {turn.duty}, forced by {[c.seq for c in forced]}"


def a_turn_that_a_person_forced_answers_the_person(picture: Picture, deeds: Deeds) -> Complaints:
    """Unless it reacts to what an agent said after, or answers a question."""
    for turn in picture.turns:
        calls = [call for call in turn.calls if turn.lo < call.seq <= turn.hi]
        forced = [c for c in calls if c.human and c.obliges and c.reason is not RuleName.ROUND_ROBIN]
        if not began(turn) or not forced or any(c.reason in (RuleName.REACT, RuleName.ASK) for c in calls):
            continue
        cause = message_at(picture, turn)
        if cause is not None and cause.kind is not Kind.HUMAN:
            yield f"turn {turn.id} of {turn.agent} was forced by {forced[-1].seq} and answers {turn.cause}"


def a_question_is_answered_by_its_own_turn(picture: Picture, deeds: Deeds) -> Complaints:
    """No turn that has ended covers two questions, and a reply says which one it answers."""
    for turn in picture.turns:
        place = picture.conversations[turn.conversation]
        if place.takes_rounds or turn.state not in MOVES_CURSOR:
            continue
        held = picture.messages[turn.conversation]
        asked = [
            m
            for m in held[turn.lo : turn.hi]
            if m.intent == ASK and m.author != turn.agent and not m.metadata
        ]
        stopped = [t for t in picture.turns if t.agent == turn.agent and t.id in deeds.stopped_for_good]
        owed = [
            m
            for m in asked
            if m.plan.of(turn.agent)[0] is Duty.MUST and not any(s.called_by(m.seq) for s in stopped)
        ]
        if len(owed) > 1:
            yield f"turn {turn.id} of {turn.agent} swallowed the questions {[m.seq for m in owed]}"
        question = turn.question
        if turn.message and question is not None and held[turn.message - 1].reply_to != question.seq:
            yield f"turn {turn.id} answers {held[turn.message - 1].reply_to} instead of {question.seq}"


def a_question_is_asked_once(picture: Picture, deeds: Deeds) -> Complaints:
    """One turn is open for a question or has ended with it, never two; who was interrupted may have begun again."""
    turns: Counter[tuple[ConversationId, ParticipantId, int]] = Counter()
    for turn in picture.turns:
        if turn.question is not None and turn.state is not TurnState.CANCELLED:
            turns[turn.conversation, turn.agent, turn.question.seq] += 1
    for (where, agent, seq), count in turns.items():
        if count > 1:
            yield f"{agent} has {count} turns for the question {where}:{seq}"


def no_slot_idles_in_parallel(picture: Picture, deeds: Deeds) -> Complaints:
    """Where all speak together, a free slot is not kept from whom the round's message forced."""
    for group in picture.groups():
        if picture.settings(group.id).turn_order is not TurnOrder.PARALLEL or group.id in deeds.reordered:
            continue
        turns = [t for t in picture.turns if t.conversation == group.id and t.state in OPEN]
        for round_ in picture.rounds.values():
            if round_.conversation != group.id or round_.state is not RoundState.RUNNING:
                continue
            free = round_.cap - round_.used - sum(turn.round == round_.opener for turn in turns)
            busy = {turn.agent for turn in turns}
            waiting = [c for c in round_.pending if c.seq == round_.opener and c.agent not in busy]
            if free > len({c.agent for c in round_.pending if c.agent in busy}) and waiting:
                yield f"round {round_.opener} has {free} free slots while {waiting[0].agent} waits in line"
            members = picture.members[group.id]
            for turn in turns:
                idle = turn.state is TurnState.WAITING and not members[turn.agent].cut
                if idle and turn.round == round_.opener and turn.called_by(round_.opener):
                    yield f"turn {turn.id} of round {round_.opener} waits although all speak together"


def slots_go_in_order(picture: Picture, deeds: Deeds) -> Complaints:
    """Nobody further back in a round's line has a turn to come while one before it waits for a slot."""
    for round_ in picture.rounds.values():
        if round_.state is not RoundState.RUNNING:
            continue
        to_come = [
            turn
            for turn in picture.turns
            if turn.conversation == round_.conversation
            and turn.round == round_.opener
            and turn.state is TurnState.WAITING
        ]
        free = (
            round_.cap
            - round_.used
            - sum(
                t.round == round_.opener and t.conversation == round_.conversation and t.state in OPEN
                for t in picture.turns
            )
        )
        for call in round_.pending:
            ahead = [
                turn.agent for turn in to_come if turn.place > call.place > 0 and turn.agent != call.agent
            ]
            if ahead and free < 1:
                yield f"in round {round_.opener} {ahead} have the slot that {call.agent} stands before"


# --- why ----------------------------------------------------------------------------------------------------


def why_names_what_happened(picture: Picture, deeds: Deeds) -> Complaints:
    """Who is said to be asked by a message has, or had, a turn that it called; who read it in another has seen it."""
    for message, agent in _standing_calls(picture, deeds):
        duty, rule = why.final(message, _round(picture, message), picture.turns, agent)
        turn = why.turn_about(message, picture.turns, agent)
        if turn is None or len(turn.calls) >= MAX_CALLS:
            continue
        call = next((call for call in turn.calls if call.seq == message.seq), None)
        if call is None and duty in (Duty.MUST, Duty.MAY):
            yield f"{message.id}: {agent} {duty} {rule}, but turn {turn.id} merely read it"
        if (
            call is not None
            and turn.state in MOVES_CURSOR
            and turn.lo < message.seq <= turn.hi
            and rule is not call.reason
        ):
            yield f"{message.id}: {agent} is told {rule}, and was asked by {call.reason}"


# --- what holds besides ------------------------------------------------------------------------------------


def seq_has_no_gaps(picture: Picture, deeds: Deeds) -> Complaints:
    """Messages of a conversation are numbered 1, 2, 3 … up to its head."""
    for where, messages in picture.messages.items():
        head = picture.conversations[where].head
        if [message.seq for message in messages] != list(range(1, head + 1)):
            yield f"{where} has {[message.seq for message in messages]}, its head is {head}"


def calls_are_in_order_and_each_once(picture: Picture, deeds: Deeds) -> Complaints:
    """A turn has the messages it answers to by rising seq: whoever asks for the newest takes the last."""
    for turn in picture.turns:
        if any(first.seq >= second.seq for first, second in pairwise(turn.calls)):
            yield f"turn {turn.id} of {turn.agent} was called by {[call.seq for call in turn.calls]}"


def the_audit_chain_holds(player: Player) -> Complaints:
    """Every conversation hashes to what was recorded."""
    picture = player.picture()
    for where, conversation in picture.conversations.items():
        wrong = audit.verify(
            picture.messages[where], player.revisions(where), conversation.chain, conversation.chain_length
        )
        if wrong is not None:
            yield f"{where}: {wrong}"


ALWAYS: tuple[Checker, ...] = (
    every_cascade_ends,
    intervals_are_disjoint_and_contiguous,
    one_open_turn_per_agent_and_conversation,
    sequential_means_one_at_a_time,
    slots_bound_a_round,
    finishing_is_never_refused,
    seq_has_no_gaps,
    calls_are_in_order_and_each_once,
    a_must_has_a_message_that_asks_for_it,
    a_turn_that_a_person_forced_answers_the_person,
    a_question_is_answered_by_its_own_turn,
    a_question_is_asked_once,
    no_slot_idles_in_parallel,
    slots_go_in_order,
    why_names_what_happened,
)
AT_REST: tuple[Checker, ...] = (the_floor_never_sticks, a_persons_mention_is_answered_or_explained)
WHEN_ALL_ARE_BACK: tuple[Checker, ...] = (*AT_REST, everything_owed_was_covered)
