"""The checker itself: silent about a true history, and seen to complain about every kind of false one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from moot.flow import edit_message
from moot.model.conversation import GroupSettings
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.limits import Limits
from moot.model.message import Plan
from moot.model.turn import TurnState
from tests.support import checker, ledger, remains
from tests.support.ledger import FAIL, INFO, OK, Op, body_sha
from tests.support.remains import Remains
from tests.support.world import World

ROOM = ConversationId("c1")
USER, ANN, BEN = ParticipantId("user"), ParticipantId("ann"), ParticipantId("ben")
History = tuple[list[Op], Remains]


@pytest.fixture
async def history(tmp_path: Path) -> History:
    """A person, two agents, an edit; read by somebody from the beginning to the end."""
    world = World("sqlite", tmp_path / "home", GroupSettings(), Limits())
    ops: list[Op] = []
    await world.open()
    await world.enrol(["ann", "ben"], [], [])
    await world.make("room", ["ann", "ben"], "group", {})
    texts = {"k1": "hello @ann", "k2": "go on @ben"}
    for n, (key, text) in enumerate(texts.items()):
        receipt = await world.post("room", "user", text, key=key)
        ops.append(posted(key, text, receipt.seq, (10.0 * n, 10.0 * n + 1)))
        for _ in range(8):
            for turn in await world.open_turns("room"):
                if turn.state is TurnState.READY:
                    await world.say(
                        "room", turn.agent, f"{turn.agent} has heard, and thinks about turn {turn.id}"
                    )
            await world.wait(5)
    ops.append(posted("k2", "another body", 0, (30.0, 31.0), FAIL))
    await world.do(edit_message, edit_message.EditMessage(USER, ROOM, 1, 1, "hello, dear @ann"))
    ops.append(Op("edit", ROOM, USER, OK, body_sha=body_sha("hello, dear @ann"), seq=1))
    ops += [
        Op("read", ROOM, "reader", OK, body_sha=body_sha(message.text), seq=message.seq)
        for message in await world.messages("room")
    ]
    for member in await world.store.members(ROOM):
        ops += [
            Op("cursor", ROOM, member.participant, OK, seq=seq, t_return=seq) for seq in (0, member.cursor)
        ]
    await world.close()
    return ops, await remains.gather(tmp_path / "home")


def posted(key: str, text: str, seq: int, when: tuple[float, float], kind: str = OK) -> Op:
    return Op("post", ROOM, USER, kind, key, body_sha(text), *when, f"{ROOM}:{seq}", seq)


def change(left: Remains, seq: int, **fields: Any) -> Remains:
    """One message altered behind the store's back."""
    messages = [structs.replace(m, **fields) if m.seq == seq else m for m in left.messages[ROOM]]
    return structs.replace(left, messages={ROOM: messages})


def turned(left: Remains, which: int, **fields: Any) -> Remains:
    turns = list(left.turns)
    turns[which] = structs.replace(turns[which], **fields)
    return structs.replace(left, turns=turns)


def member(left: Remains, who: ParticipantId, **fields: Any) -> Remains:
    members = {**left.members[ROOM], who: structs.replace(left.members[ROOM][who], **fields)}
    return structs.replace(left, members={ROOM: members})


def ack_of_nothing(ops: list[Op], left: Remains) -> History:
    return [*ops, posted("k9", "never stored", 99, (40, 41))], left


def text_swapped(ops: list[Op], left: Remains) -> History:
    return ops, change(left, seq_of(ops, "k2"), text="something else")


def edit_undone(ops: list[Op], left: Remains) -> History:
    return [*ops, Op("edit", ROOM, USER, OK, body_sha=body_sha("a later edit"), seq=1)], left


def refused_and_stored(ops: list[Op], left: Remains) -> History:
    return [structs.replace(op, type=FAIL) if op.key == "k1" else op for op in ops], left


def refused_edit_stored(ops: list[Op], left: Remains) -> History:
    return [structs.replace(op, type=FAIL) if op.op == "edit" else op for op in ops], left


def sent_by_nobody(ops: list[Op], left: Remains) -> History:
    return [op for op in ops if op.key != "k1"], left


def turnless_reply(ops: list[Op], left: Remains) -> History:
    reply = next(m.seq for m in left.messages[ROOM] if m.by_agent)
    return ops, change(left, reply, turn=None)


def shown_and_gone(ops: list[Op], left: Remains) -> History:
    head = left.conversations[ROOM].head
    return [*ops, Op("read", ROOM, "reader", OK, body_sha=body_sha("dirty read"), seq=head + 1)], left


def key_twice(ops: list[Op], left: Remains) -> History:
    return ops, change(left, 2, author=USER, key="k1")


def acked_at_two_places(ops: list[Op], left: Remains) -> History:
    return [*ops, posted("k1", "hello @ann", 7, (50, 51))], left


def shown_twice(ops: list[Op], left: Remains) -> History:
    head = left.conversations[ROOM].head
    return [*ops, Op("read", ROOM, "reader", OK, body_sha=body_sha("go on @ben"), seq=head + 1)], left


def one_missing(ops: list[Op], left: Remains) -> History:
    return ops, structs.replace(left, messages={ROOM: [m for m in left.messages[ROOM] if m.seq != 3]})


def head_too_high(ops: list[Op], left: Remains) -> History:
    head = structs.replace(left.conversations[ROOM], next_seq=left.conversations[ROOM].next_seq + 1)
    return ops, structs.replace(left, conversations={ROOM: head})


def shown_out_of_order(ops: list[Op], left: Remains) -> History:
    reads = [op for op in ops if op.op == "read"]
    return [*(op for op in ops if op.op != "read"), reads[0], reads[2], reads[1], *reads[3:]], left


def sent_later_placed_earlier(ops: list[Op], left: Remains) -> History:
    return [structs.replace(op, t_invoke=90, t_return=91) if op.key == "k1" else op for op in ops], left


def event_missing(ops: list[Op], left: Remains) -> History:
    gone = next(e for e in left.events if e.type == "message.posted")
    return ops, structs.replace(left, events=[e for e in left.events if e is not gone])


def event_of_nothing(ops: list[Op], left: Remains) -> History:
    event = next(e for e in left.events if e.type == "message.posted")
    return ops, structs.replace(left, events=[*left.events, structs.replace(event, seq=99)])


def turn_row_missing(ops: list[Op], left: Remains) -> History:
    return ops, structs.replace(left, turns=left.turns[1:])


def reply_row_missing(ops: list[Op], left: Remains) -> History:
    return ops, turned(left, 0, message=99)


def end_untold(ops: list[Op], left: Remains) -> History:
    return ops, structs.replace(left, events=[e for e in left.events if e.type != "turn.finished"])


def counter_row_missing(ops: list[Op], left: Remains) -> History:
    return ops, structs.replace(left, charged={})


def reason_missing(ops: list[Op], left: Remains) -> History:
    return ops, change(left, 1, plan=Plan())


def cursor_fell(ops: list[Op], left: Remains) -> History:
    return ops, member(left, ANN, cursor=1)


def cursor_seen_falling(ops: list[Op], left: Remains) -> History:
    return [*ops, Op("cursor", ROOM, ANN, OK, seq=1, t_return=1e9)], left


def turns_fell(ops: list[Op], left: Remains) -> History:
    mine = [n for n, turn in enumerate(left.turns) if turn.agent == ANN]
    return ops, turned(left, mine[0], hi=left.turns[mine[-1]].hi + 1)


def turns_overlap(ops: list[Op], left: Remains) -> History:
    mine = [n for n, turn in enumerate(left.turns) if turn.agent == ANN]
    return ops, turned(left, mine[1], lo=left.turns[mine[0]].lo)


def two_results(ops: list[Op], left: Remains) -> History:
    replies = [m for m in left.messages[ROOM] if m.by_agent]
    return ops, change(left, replies[1].seq, turn=replies[0].turn)


def two_open_turns(ops: list[Op], left: Remains) -> History:
    extra = [structs.replace(left.turns[0], id=TurnId(900 + n), state=TurnState.OWED) for n in range(2)]
    return ops, structs.replace(left, turns=[*left.turns, *extra])


def turn_stuck(ops: list[Op], left: Remains) -> History:
    return ops, turned(left, -1, state=TurnState.READY)


def never_asked(ops: list[Op], left: Remains) -> History:
    """The turn of the one the last message names is gone, and its cursor stands before it."""
    seq = seq_of(ops, "k2")
    kept = [turn for turn in left.turns if turn.agent != BEN or turn.hi < seq]
    return ops, member(structs.replace(left, turns=kept), BEN, cursor=seq - 1)


def chain_too_long(ops: list[Op], left: Remains) -> History:
    caps = structs.replace(left.terms, limits=Limits(chain_turns=0))
    reply = next(m for m in left.messages[ROOM] if m.by_agent)
    later = next(n for n, t in enumerate(left.turns) if t.hi > reply.seq)
    return ops, turned(structs.replace(left, terms=caps), later, cause=reply.seq)


def hop_too_high(ops: list[Op], left: Remains) -> History:
    reply = next(m for m in left.messages[ROOM] if m.by_agent)
    later = next(n for n, t in enumerate(left.turns) if t.hi > reply.seq)
    return ops, turned(left, later, cause=reply.seq, hop=9)


def counter_forgot(ops: list[Op], left: Remains) -> History:
    return ops, structs.replace(left, charged=dict.fromkeys(left.charged, 0))


def round_over_cap(ops: list[Op], left: Remains) -> History:
    rounds = {key: structs.replace(round_, used=round_.cap + 1) for key, round_ in left.rounds.items()}
    return ops, structs.replace(left, rounds=rounds)


def hop_forged(ops: list[Op], left: Remains) -> History:
    reply = next(m.seq for m in left.messages[ROOM] if m.by_agent)
    return ops, change(left, reply, hop=0)


def root_forged(ops: list[Op], left: Remains) -> History:
    return ops, change(left, 1, root=RootId("c1:77"))


def sender_forged(ops: list[Op], left: Remains) -> History:
    reply = next(m for m in left.messages[ROOM] if m.by_agent)
    return ops, change(left, reply.seq, author=BEN if reply.author == ANN else ANN)


def edit_forged(ops: list[Op], left: Remains) -> History:
    return ops, change(left, 1, text="never said")


def damaged(ops: list[Op], left: Remains) -> History:
    return ops, structs.replace(left, verdicts=("row 3 missing from index messages_by_key",))


def seq_of(ops: list[Op], key: str) -> int:
    return next(op.seq for op in ops if op.key == key and op.type == OK)


PLANTED: list[tuple[str, Callable[[list[Op], Remains], History]]] = [
    ("lost", ack_of_nothing),
    ("lost", text_swapped),
    ("lost", edit_undone),
    ("aborted", refused_and_stored),
    ("aborted", refused_edit_stored),
    ("phantom", sent_by_nobody),
    ("phantom", turnless_reply),
    ("phantom", shown_and_gone),
    ("dup_row", key_twice),
    ("dup_row", acked_at_two_places),
    ("dup_visible", shown_twice),
    ("gap", one_missing),
    ("gap", head_too_high),
    ("reorder", shown_out_of_order),
    ("realtime", sent_later_placed_earlier),
    ("torn", event_missing),
    ("torn", event_of_nothing),
    ("torn", turn_row_missing),
    ("torn", reply_row_missing),
    ("torn", end_untold),
    ("torn", counter_row_missing),
    ("torn", reason_missing),
    ("cursor_back", cursor_fell),
    ("cursor_back", cursor_seen_falling),
    ("cursor_back", turns_fell),
    ("double_turn", turns_overlap),
    ("double_turn", two_results),
    ("double_turn", two_open_turns),
    ("missed_turn", turn_stuck),
    ("missed_turn", never_asked),
    ("over_budget", chain_too_long),
    ("over_budget", hop_too_high),
    ("over_budget", counter_forgot),
    ("over_budget", round_over_cap),
    ("over_budget", hop_forged),
    ("over_budget", root_forged),
    ("chain_break", sender_forged),
    ("chain_break", text_swapped),
    ("chain_break", edit_forged),
    ("integrity", damaged),
]


def test_a_true_history_has_no_violation(history: History) -> None:
    assert checker.found(checker.check(*history)) == {}


@pytest.mark.parametrize(("category", "plant"), PLANTED, ids=lambda value: getattr(value, "__name__", value))
def test_a_planted_violation_is_found(
    history: History, category: str, plant: Callable[[list[Op], Remains], History]
) -> None:
    report = checker.check(*plant(*history))
    assert report[category], f"{plant.__name__} went unnoticed; found {checker.found(report)}"


def test_every_category_was_seen_to_fire() -> None:
    assert {category for category, _ in PLANTED} == set(checker.CATEGORIES)


def test_what_got_no_answer_may_be_there_or_not(history: History) -> None:
    ops, left = history
    unanswered = [posted("k7", "perhaps", 0, (60, 61), INFO)]
    there = [structs.replace(op, type=INFO) if op.key == "k1" and op.op == "post" else op for op in ops]
    assert checker.found(checker.check([*ops, *unanswered], left)) == {}
    assert checker.found(checker.check(there, left)) == {}


def test_a_repeat_after_no_answer_may_stand_before_later_ones(history: History) -> None:
    """The first attempt may be the one that was stored: its time counts."""
    ops, left = history
    late = [structs.replace(op, t_invoke=90, t_return=91) if op.key == "k1" else op for op in ops]
    first = posted("k1", "hello @ann", 0, (0.0, 1.0), INFO)
    assert checker.check([first, *late], left)["realtime"] == []


def test_a_ledger_reads_back_and_forgets_only_a_line_that_was_never_finished(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with ledger.Ledger(path) as book:
        book.add(posted("k1", "hello", 1, (0.5, 0.75)))
        book.add(posted("k2", "hello", 0, (0.5, 0.75), INFO))
    with path.open("ab") as file:
        file.write(b'{"op":"post","conv":"c1"')
    assert ledger.read(path) == book.ops
    assert ledger.acked(book.ops) == 1
