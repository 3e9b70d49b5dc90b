"""Judges a ledger against what is left in the store. Every category counts violations; its target is 0.

Pure: operations and remains in, complaints in sentences out. `tests/faults/test_checker.py` plants a violation
of every category and sees it found.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.message import Message
from moot.model.participant import Kind
from moot.model.round import RoundState
from moot.model.turn import MOVES_CURSOR, OPEN, USES_SLOT, Duty, Turn, TurnState
from moot.rules import audit, why
from tests.support.ledger import FAIL, INFO, OK, Op
from tests.support.remains import Remains

Complaints = Iterator[str]
Check = Callable[[Sequence[Op], Remains], Complaints]


def check(ops: Sequence[Op], left: Remains) -> dict[str, list[str]]:
    """Category → complaints, for every category, in a fixed order."""
    return {name: list(find(ops, left)) for name, find in CATEGORIES.items()}


def found(report: dict[str, list[str]]) -> dict[str, list[str]]:
    """Only the categories with violations, shortened for reading."""
    return {name: complaints[:20] for name, complaints in report.items() if complaints}


# --- what was acknowledged, and what was not ---------------------------------------------------------------


def posts(ops: Sequence[Op], *types: str) -> list[Op]:
    return [op for op in ops if op.op == "post" and (not types or op.type in types)]


def by_address(left: Remains) -> dict[tuple[str, int], Message]:
    return {(message.conversation, message.seq): message for message in left.all_messages()}


def first_texts(left: Remains) -> dict[tuple[str, int], str]:
    """The hash each message's text had when it was posted."""
    hashes = {(str(m.conversation), m.seq): audit.text_hash(m.text) for m in left.all_messages()}
    for revisions in left.revisions.values():
        for revision in sorted(revisions, key=lambda r: -r.version):
            hashes[revision.conversation, revision.seq] = revision.was_hash
    return hashes


def every_text(left: Remains) -> dict[tuple[str, int], set[str]]:
    """All hashes a message's text ever had."""
    hashes = {address: {text} for address, text in first_texts(left).items()}
    for revisions in left.revisions.values():
        for revision in revisions:
            hashes[revision.conversation, revision.seq].add(revision.text_hash)
    return hashes


def lost(ops: Sequence[Op], left: Remains) -> Complaints:
    """Acknowledged, and absent or altered."""
    stored, texts, ever = by_address(left), first_texts(left), every_text(left)
    for op in posts(ops, OK):
        message = stored.get((op.conv, op.seq))
        if message is None:
            yield f"{op.conv}:{op.seq} ({op.key}) was acknowledged and is gone"
        elif message.author != op.sender or message.key != op.key or texts[op.conv, op.seq] != op.body_sha:
            yield f"{message.id} was acknowledged as {op.key} of {op.sender} and holds something else"
    for op in ops:
        if op.op == "edit" and op.type == OK and op.body_sha not in ever.get((op.conv, op.seq), ()):
            yield f"the edit of {op.conv}:{op.seq} was acknowledged and is gone"


def aborted(ops: Sequence[Op], left: Remains) -> Complaints:
    """Refused, and there all the same."""
    tried = {(op.sender, op.key, op.body_sha) for op in posts(ops, OK, INFO)}
    refused = {
        (op.sender, op.key, op.body_sha)
        for op in posts(ops, FAIL)
        if (op.sender, op.key, op.body_sha) not in tried
    }
    texts = first_texts(left)
    for message in left.all_messages():
        if (message.author, message.key, texts[message.conversation, message.seq]) in refused:
            yield f"{message.id} was refused and is stored"
    edited = {(op.conv, op.seq, op.body_sha) for op in ops if op.op == "edit" and op.type in (OK, INFO)}
    refused_edits = {(op.conv, op.seq, op.body_sha) for op in ops if op.op == "edit" and op.type == FAIL}
    ever = every_text(left)
    for conv, seq, sha in sorted(refused_edits - edited):
        if sha in ever.get((conv, seq), ()):
            yield f"a refused edit of {conv}:{seq} is stored"


def phantom(ops: Sequence[Op], left: Remains) -> Complaints:
    """A message nobody sent, or one that was shown and is not there."""
    sent = {(op.sender, op.key) for op in posts(ops)}
    turns = {turn.id: turn for turn in left.turns}
    for message in left.all_messages():
        match message.kind:
            case Kind.HUMAN:
                known = (message.author, message.key) in sent
            case Kind.SYSTEM:
                known = "notice" in message.metadata
            case Kind.TOOL:
                asked = turns[message.turn].steps if message.turn in turns else ()
                known = message.seq in [step.seq for step in asked]
            case _:
                known = message.turn in turns and turns[message.turn].agent == message.author
        if not known:
            yield f"{message.id} by {message.author} was sent by nobody"
    ever = every_text(left)
    for op in ops:
        if op.op == "read" and op.body_sha not in ever.get((op.conv, op.seq), ()):
            yield f"{op.sender} was shown {op.conv}:{op.seq}, which is not in the store"


def dup_row(ops: Sequence[Op], left: Remains) -> Complaints:
    """One key, two messages; or two acknowledgements of one key with different places."""
    rows = Counter((m.author, m.key) for m in left.all_messages() if m.key)
    for (author, key), count in rows.items():
        if count > 1:
            yield f"the key {key} of {author} has {count} rows"
    places: dict[tuple[str, str], set[tuple[str, int]]] = defaultdict(set)
    for op in posts(ops, OK):
        places[op.sender, op.key].add((op.conv, op.seq))
    for (sender, key), given in places.items():
        if len(given) > 1:
            yield f"the key {key} of {sender} was acknowledged as {sorted(given)}"


# --- what readers saw ------------------------------------------------------------------------------------------


def shown(ops: Sequence[Op]) -> dict[tuple[str, str], list[Op]]:
    """(reader, conversation) → items in the order received."""
    items: dict[tuple[str, str], list[Op]] = defaultdict(list)
    for op in ops:
        if op.op == "read":
            items[op.sender, op.conv].append(op)
    return items


def dup_visible(ops: Sequence[Op], left: Remains) -> Complaints:
    """One message shown twice, although the reader drops what is not beyond its last seq."""
    own = {(op.conv, op.body_sha) for op in posts(ops)}
    for (reader, conv), items in shown(ops).items():
        last = 0
        seen: Counter[str] = Counter()
        for item in items:
            if item.seq > last:
                last = item.seq
                seen[item.body_sha] += (conv, item.body_sha) in own
        yield from (f"{reader} saw {sha[:12]} {n} times in {conv}" for sha, n in seen.items() if n > 1)


def reorder(ops: Sequence[Op], left: Remains) -> Complaints:
    """A reader was shown n + 1 before n."""
    for (reader, conv), items in shown(ops).items():
        last = 0
        for item in items:
            if item.seq > last + 1:
                yield f"{reader} was shown {conv}:{item.seq} after {last}"
            last = max(last, item.seq)


def gap(ops: Sequence[Op], left: Remains) -> Complaints:
    """Numbers of a conversation are 1, 2, 3 … up to its head."""
    for where, messages in left.messages.items():
        seqs = [message.seq for message in messages]
        head = left.conversations[where].head
        if seqs != list(range(1, head + 1)):
            yield f"{where} holds {len(seqs)} messages up to {max(seqs, default=0)}, its head is {head}"


def realtime(ops: Sequence[Op], left: Remains) -> Complaints:
    """A message sent after another was acknowledged stands behind it."""
    begun: dict[tuple[str, str], float] = {}
    done: dict[tuple[str, str], Op] = {}
    for op in posts(ops):
        key = (op.sender, op.key)
        begun[key] = min(begun.get(key, op.t_invoke), op.t_invoke)
        if op.type == OK and (key not in done or op.t_return < done[key].t_return):
            done[key] = op
    by_conversation: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for key, op in done.items():
        by_conversation[op.conv].append((begun[key], op.t_return, op.seq))
    for conv, intervals in by_conversation.items():
        yield from _out_of_time(conv, intervals)


def _out_of_time(conv: str, intervals: list[tuple[float, float, int]]) -> Complaints:
    returned = sorted(intervals, key=lambda interval: interval[1])
    highest, at = 0, 0
    for invoke, _, seq in sorted(intervals):
        while at < len(returned) and returned[at][1] < invoke:
            highest = max(highest, returned[at][2])
            at += 1
        if seq < highest:
            yield f"{conv}:{seq} was sent after {conv}:{highest} was acknowledged"


# --- all or nothing ----------------------------------------------------------------------------------------


def torn(ops: Sequence[Op], left: Remains) -> Complaints:
    """A message without its companions, or a companion without its message."""
    told = Counter((str(e.conversation), e.seq) for e in left.events if e.type == "message.posted")
    stored = by_address(left)
    turns = {turn.id for turn in left.turns}
    for address, message in stored.items():
        if told[address] != 1:
            yield f"{message.id} is told by {told[address]} events"
        if message.turn is not None and message.turn not in turns:
            yield f"{message.id} belongs to turn {message.turn}, which is not there"
        if message.by_agent and message.root not in left.charged:
            yield f"{message.id} belongs to the chain {message.root}, which has no counter"
    for where, seq in told:
        if (where, seq) not in stored and where in left.conversations:
            yield f"an event tells of {where}:{seq}, which is not there"
    yield from _torn_turns(left, stored)
    yield from _unexplained(left)


def _torn_turns(left: Remains, stored: dict[tuple[str, int], Message]) -> Complaints:
    told = {(event.type, event.turn.id) for event in left.events if event.turn is not None}
    for turn in left.turns:
        if turn.message and (turn.conversation, turn.message) not in stored:
            yield f"turn {turn.id} ended with message {turn.message}, which is not there"
        if turn.started_at and ("turn.started", turn.id) not in told:
            yield f"turn {turn.id} of {turn.agent} began and no event tells of it"
        if turn.state in MOVES_CURSOR and ("turn.finished", turn.id) not in told:
            yield f"turn {turn.id} of {turn.agent} ended and no event tells of it"


def _unexplained(left: Remains) -> Complaints:
    """Whoever a message names has a part in its why-record."""
    for where, messages in left.messages.items():
        if not left.conversations[where].takes_rounds:
            continue
        for message in messages:
            parts = {part.agent for part in message.plan.parts}
            for agent in message.mentions:
                who = left.participants.get(agent)
                named = who is not None and who.speaks_in_turns and agent != message.author
                if named and agent in left.members[where] and agent not in parts:
                    yield f"{message.id} names {agent} and has no reason for it"


# --- turns -------------------------------------------------------------------------------------------------


def completed(left: Remains) -> dict[tuple[ConversationId, ParticipantId], list[Turn]]:
    """Ended turns that covered their interval, per agent and conversation, in the order they ended."""
    done: dict[tuple[ConversationId, ParticipantId], list[Turn]] = defaultdict(list)
    for turn in sorted(left.turns, key=lambda turn: (turn.ended_at, turn.id)):
        if turn.state in MOVES_CURSOR:
            done[turn.conversation, turn.agent].append(turn)
    return done


def cursor_back(ops: Sequence[Op], left: Remains) -> Complaints:
    """How far an agent has read never falls."""
    for (where, agent), turns in completed(left).items():
        for one, two in pairwise(turns):
            if two.hi < one.hi:
                yield f"{agent} in {where} read to {one.hi} in turn {one.id}, then to {two.hi} in turn {two.id}"
        member = left.members[where].get(agent)
        if member is not None and member.cursor < turns[-1].hi:
            yield f"the cursor of {agent} in {where} is {member.cursor}, its turns read to {turns[-1].hi}"
    last: dict[tuple[str, str], int] = {}
    for op in sorted((op for op in ops if op.op == "cursor"), key=lambda op: op.t_return):
        if op.seq < last.get((op.sender, op.conv), 0):
            yield f"the cursor of {op.sender} in {op.conv} fell to {op.seq}"
        last[op.sender, op.conv] = op.seq


def double_turn(ops: Sequence[Op], left: Remains) -> Complaints:
    """Two turns over one message, two results of one turn, two open turns at once."""
    for (where, agent), turns in completed(left).items():
        for one, two in pairwise(sorted(turns, key=lambda turn: turn.lo)):
            if two.lo < one.hi:
                yield f"turns {one.id} and {two.id} of {agent} in {where} overlap"
    results = Counter(
        m.turn for m in left.all_messages() if m.turn is not None and not m.metadata.get("partial")
    )
    for turn in left.turns:
        allowed = turn.posts + len(turn.steps) + (1 if turn.message else 0)
        if results[turn.id] > allowed:
            yield f"turn {turn.id} of {turn.agent} has {results[turn.id]} messages, {allowed} are its own"
    still = Counter((turn.conversation, turn.agent) for turn in left.turns if turn.state in OPEN)
    for (where, agent), count in still.items():
        if count > 1:
            yield f"{agent} has {count} open turns in {where}"


def missed_turn(ops: Sequence[Op], left: Remains) -> Complaints:
    """Owed a turn, and neither had it nor is told why not."""
    if not left.at_rest:
        return
    for turn in left.turns:
        if turn.state in OPEN and turn.state is not TurnState.OWED:
            yield f"turn {turn.id} of {turn.agent} in {turn.conversation} stays {turn.state}"
    for (where, opener), round_ in left.rounds.items():
        if round_.state is not RoundState.CLOSED:
            yield f"round {where}:{opener} stays {round_.state}"
    mine: dict[tuple[ConversationId, ParticipantId], list[Turn]] = defaultdict(list)
    for turn in left.turns:
        mine[turn.conversation, turn.agent].append(turn)
    for message, agent in _concerned(left):
        turns = mine[message.conversation, agent]
        duty, rule = why.final(message, left.rounds.get((message.conversation, message.round)), turns, agent)
        owed = any(turn.state is TurnState.OWED for turn in turns)
        if duty is Duty.MUST and not owed and left.members[message.conversation][agent].cursor < message.seq:
            yield f"{message.id} says {agent} {duty} {rule}, and {agent} had no turn"


def _concerned(left: Remains) -> Iterator[tuple[Message, ParticipantId]]:
    """Messages and the agents that were members when they came, still are, and did not write them."""
    for where, messages in left.messages.items():
        members = [
            m for m in left.members[where].values() if left.participants[m.participant].speaks_in_turns
        ]
        for message in messages:
            if (
                message.kind is Kind.SYSTEM
                or message.metadata.get("deleted")
                or message.metadata.get("partial")
            ):
                continue
            for member in members:
                if member.joined_seq < message.seq and member.participant != message.author:
                    yield message, member.participant


def over_budget(ops: Sequence[Op], left: Remains) -> Complaints:
    """More turns than a chain or a round may have, a counter that forgot some, a root or hop not the hub's."""
    limits = left.terms.limits
    stored = by_address(left)
    caused: Counter[RootId] = Counter()
    charged: Counter[RootId] = Counter()
    for turn in left.turns:
        if turn.started_at:
            charged.update(turn.charged)
            cause = stored.get((turn.conversation, turn.cause))
            if cause is not None and cause.by_agent:
                caused[turn.root] += 1
                if turn.hop > limits.chain_depth:
                    yield f"turn {turn.id} of {turn.agent} speaks at hop {turn.hop}"
    for root, count in caused.items():
        if count > limits.chain_turns:
            yield f"{root} caused {count} turns by agents' messages; allowed are {limits.chain_turns}"
    for root, count in charged.items():
        if left.charged.get(root, 0) < count:
            yield f"{root} was charged for {count} turns and remembers {left.charged.get(root, 0)}"
    yield from _rounds_over_cap(left)
    yield from _lineage(left)


def _rounds_over_cap(left: Remains) -> Complaints:
    used = Counter((turn.conversation, turn.round) for turn in left.turns if turn.state in USES_SLOT)
    for key, round_ in left.rounds.items():
        if round_.used > round_.cap or used[key] > round_.cap:
            yield f"round {key[0]}:{key[1]} used {max(round_.used, used[key])} slots of {round_.cap}"


def _lineage(left: Remains) -> Complaints:
    """Root and hop of a message are those of its turn; a person's message starts its own chain."""
    turns = {turn.id: turn for turn in left.turns}
    for message in left.all_messages():
        turn = turns.get(message.turn) if message.turn is not None else None
        if turn is not None and (message.root, message.hop) != (turn.root, turn.hop):
            yield f"{message.id} is at hop {message.hop} of {message.root}, its turn at {turn.hop} of {turn.root}"
        if message.kind is Kind.HUMAN and (message.root, message.hop) != (message.id, 0):
            yield f"{message.id} is a person's and stands at hop {message.hop} of {message.root}"


# --- the file ----------------------------------------------------------------------------------------------


def chain_break(ops: Sequence[Op], left: Remains) -> Complaints:
    """The audit chain of every conversation ends where it says."""
    for where, conversation in left.conversations.items():
        wrong = audit.verify(
            left.messages[where], left.revisions[where], conversation.chain, conversation.chain_length
        )
        if wrong is not None:
            yield f"{where}: {wrong}"


def integrity(ops: Sequence[Op], left: Remains) -> Complaints:
    """SQLite finds its file sound."""
    yield from (verdict for verdict in left.verdicts if verdict != "ok")


CATEGORIES: dict[str, Check] = {
    "lost": lost,
    "aborted": aborted,
    "phantom": phantom,
    "dup_row": dup_row,
    "dup_visible": dup_visible,
    "gap": gap,
    "reorder": reorder,
    "realtime": realtime,
    "torn": torn,
    "cursor_back": cursor_back,
    "double_turn": double_turn,
    "missed_turn": missed_turn,
    "over_budget": over_budget,
    "chain_break": chain_break,
    "integrity": integrity,
}
