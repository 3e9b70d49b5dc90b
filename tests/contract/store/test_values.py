"""What is written is what is read, field by field, also by the next process."""

from collections.abc import Awaitable, Callable
from typing import Any, get_args

import pytest
from msgspec import NODEFAULT, Struct, structs

from moot.model import change
from moot.model.change import Decision
from moot.model.conversation import Conversation
from moot.model.event import Event
from moot.model.ids import HostId
from moot.model.participant import Kind
from moot.model.records.task import TASKS, Task, TaskId
from moot.model.records.token import TOKENS
from moot.model.turn import Duty, RuleName
from moot.ports import Page
from tests.contract.store import samples as s
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.verbs import PERMIT, Decider, do, look, put

Read = Callable[[WholeStore], Awaitable[Any]]


async def _message(store: WholeStore) -> Any:
    return await store.message(s.WHERE, 1)


async def _root(store: WholeStore) -> Any:
    return await look(store, lambda seen: seen.root(s.ROOT), roots=(s.ROOT,))


async def _quota(store: WholeStore) -> Any:
    return await look(store, lambda seen: seen.quota(s.BOB), names=(s.BOB,))


async def _events(store: WholeStore) -> list[Event]:
    """As they were emitted; the store has given each an id."""
    found = await store.events(after=0)
    assert all(event.id > 0 for event in found)
    return [structs.replace(event, id=0) for event in found]


async def _pair(store: WholeStore) -> Any:
    return await look(store, lambda seen: seen.pair(s.ARYA, s.BOB), conversations=(s.WHERE,))


ARCHIVED = structs.replace(s.CONVERSATION, archived=True)
DIRECT = structs.replace(s.CONVERSATION, kind="direct")
TALKED = structs.replace(s.CONVERSATION, **dict.fromkeys(("next_seq", "answered", "stalled"), 77))
JOINED = structs.replace(s.TURN, duty=Duty.MAY, reason=RuleName.POLL, calls=s.TURN.calls[:1])
ARYA = structs.replace(s.PARTICIPANT, id=s.ARYA, name="Arya", aliases=())
MEMBERS = [change.PutMember(structs.replace(s.MEMBER, participant=who)) for who in (s.ARYA, s.BOB)]
PEOPLE = [change.PutParticipant(who) for who in (ARYA, s.PARTICIPANT)]

WRITTEN: list[tuple[list[change.Change], Any, Read]] = [
    ([change.AppendMessage(s.MESSAGE, PERMIT)], s.MESSAGE, _message),
    (
        [change.AppendMessage(s.MESSAGE, PERMIT), change.ReviseMessage(s.REVISED, s.REVISION)],
        s.REVISED,
        _message,
    ),
    (
        [change.AppendMessage(s.MESSAGE, PERMIT), change.ReviseMessage(s.REVISED, s.REVISION)],
        [s.REVISION],
        lambda store: store.revisions(s.WHERE),
    ),
    ([change.PutConversation(s.CONVERSATION)], s.CONVERSATION, lambda store: store.conversation(s.WHERE)),
    ([change.PutConversation(ARCHIVED)], ARCHIVED, lambda store: store.conversation(s.WHERE)),
    (
        [change.PutConversation(s.CONVERSATION), change.TalkIn(TALKED)],
        TALKED,
        lambda store: store.conversation(s.WHERE),
    ),
    (
        [change.PutConversation(s.CONVERSATION), change.DropConversation(s.WHERE)],
        None,
        lambda store: store.conversation(s.WHERE),
    ),
    ([change.PutMember(s.MEMBER)], [s.MEMBER], lambda store: store.members(s.WHERE)),
    (
        [change.PutMember(s.MEMBER), change.DropMember(s.WHERE, s.ARYA)],
        [],
        lambda store: store.members(s.WHERE),
    ),
    ([change.PutTurn(s.TURN)], s.TURN, lambda store: store.turn(s.TURN.id)),
    ([change.PutTurn(s.TURN), change.JoinTurn(JOINED)], JOINED, lambda store: store.turn(s.TURN.id)),
    ([change.PutRound(s.ROUND)], s.ROUND, lambda store: store.round(s.WHERE, s.ROUND.opener)),
    ([change.PutRoot(s.ROOT_ROW)], s.ROOT_ROW, _root),
    ([change.PutConversation(DIRECT), *PEOPLE, *MEMBERS, change.PutPair(s.PAIR)], s.PAIR, _pair),
    ([change.PutParticipant(s.PARTICIPANT)], s.PARTICIPANT, lambda store: store.participant(s.BOB)),
    ([change.PutParticipant(s.PARTICIPANT), change.PutQuota(s.QUOTA)], s.QUOTA, _quota),
    ([change.PutHost(s.HOST)], [s.HOST], lambda store: store.hosts()),
    ([change.PutHost(s.HOST), change.DropHost(s.HOST.id)], [], lambda store: store.hosts()),
    ([change.AddSummary(s.SUMMARY)], s.SUMMARY, lambda store: store.summary_of(s.WHERE, 2)),
    (
        [change.AddSummary(s.SUMMARY), change.ForgetSummaries(s.WHERE)],
        None,
        lambda store: store.summary_of(s.WHERE, 2),
    ),
    ([change.KeepText("ab" * 16, s.TEXT)], s.TEXT, lambda store: store.text("ab" * 16)),
    (
        [change.PutRecord(TOKENS, s.TOKEN)],
        [s.TOKEN],
        lambda store: store.records(TOKENS.one(s.TOKEN.id)),
    ),
    (
        [change.PutRecord(TOKENS, s.TOKEN), change.DropRecord(TOKENS, (s.TOKEN.id,))],
        [],
        lambda store: store.records(TOKENS.one(s.TOKEN.id)),
    ),
    ([change.Emit(s.EVENT)], [s.EVENT], _events),
]


def test_every_kind_of_change_is_written_here() -> None:
    assert {type(one) for changes, _, _ in WRITTEN for one in changes} == set(get_args(change.Change))


def test_no_field_of_a_sample_is_left_at_its_default() -> None:
    left: list[str] = []
    for value in vars(s).values():
        if isinstance(value, Struct) and type(value).__module__.startswith("moot.model"):
            left += [
                f"{type(value).__name__}.{field.name}"
                for field in structs.fields(value)
                if getattr(value, field.name) == field.default
            ]
    # a post is looked up by the queue it waits in: where it does not wait, by nothing
    assert set(left) <= {"Conversation.archived", "Message.version", "Event.id", "BridgePost.state"}


@pytest.mark.parametrize(
    ("changes", "expected", "read"),
    WRITTEN,
    ids=lambda v: type(v[-1]).__name__ if isinstance(v, list) and v else "",
)
async def test_a_change_reads_back_equal(
    place: Place, changes: list[change.Change], expected: Any, read: Read
) -> None:
    store = await place.open()
    await put(store, *changes)
    assert await read(store) == expected
    assert await read(await place.reopen()) == expected


@pytest.mark.parametrize(
    ("changes", "expected", "read"),
    WRITTEN,
    ids=lambda v: type(v[-1]).__name__ if isinstance(v, list) and v else "",
)
async def test_changes_in_separate_transactions_read_back_equal(
    store: WholeStore, changes: list[change.Change], expected: Any, read: Read
) -> None:
    for one in changes:
        await put(store, one)
    assert await read(store) == expected


async def test_writing_again_replaces_every_field(store: WholeStore) -> None:
    plain_turn = structs.replace(s.TURN, state="said", **_defaults(s.TURN, but="state"))
    plain_round = structs.replace(s.ROUND, **_defaults(s.ROUND))
    plain_member = structs.replace(s.MEMBER, **_defaults(s.MEMBER))
    plain_conversation = structs.replace(s.CONVERSATION, **_defaults(s.CONVERSATION))
    plain_person = structs.replace(s.PARTICIPANT, **_defaults(s.PARTICIPANT))
    await put(
        store,
        change.PutTurn(s.TURN),
        change.PutRound(s.ROUND),
        change.PutMember(s.MEMBER),
        change.PutConversation(s.CONVERSATION),
        change.PutParticipant(s.PARTICIPANT),
    )
    await put(
        store,
        change.PutTurn(plain_turn),
        change.PutRound(plain_round),
        change.PutMember(plain_member),
        change.PutConversation(plain_conversation),
        change.PutParticipant(plain_person),
    )
    assert await store.turn(s.TURN.id) == plain_turn
    assert await store.round(s.WHERE, s.ROUND.opener) == plain_round
    assert await store.members(s.WHERE) == [plain_member]
    assert await store.conversation(s.WHERE) == plain_conversation
    assert await store.participant(s.BOB) == plain_person


async def test_what_stays_in_its_state_and_under_its_name_changes_in_every_other_field(
    store: WholeStore,
) -> None:
    turn = structs.replace(s.TURN, due=s.TURN.due, state=s.TURN.state, **_defaults(s.TURN, but="due"))
    here = structs.replace(s.CONVERSATION, key=s.CONVERSATION.key, **_defaults(s.CONVERSATION, but="key"))
    await put(store, change.PutTurn(s.TURN), change.PutConversation(s.CONVERSATION))
    scope = {"conversations": (s.WHERE,), "turns": (s.TURN.id,)}
    await do(
        store, lambda seen, at: Decision([change.PutTurn(turn), change.PutConversation(here)], None), **scope
    )
    assert await store.turn(s.TURN.id) == turn
    assert await store.conversation(s.WHERE) == here


async def test_a_field_of_a_conversation_that_changes_alone_is_written(store: WholeStore) -> None:
    """The usual changes are written by narrower statements; none may be taken for a usual one that is not."""
    changed = s.CONVERSATION
    await put(store, change.PutConversation(changed))
    for name, value in _defaults(s.CONVERSATION, but="archived").items():
        talk = {"chain_length": changed.chain_length - 1, "next_seq": changed.next_seq + 1}
        changed = structs.replace(changed, **{**talk, name: value})
        await do(store, _putting(change.PutConversation(changed)), conversations=(s.WHERE,))
        assert await store.conversation(s.WHERE) == changed, name


async def test_a_field_of_a_turn_that_changes_alone_is_written(store: WholeStore) -> None:
    changed = s.TURN
    await put(store, change.PutTurn(changed))
    for name, value in _defaults(s.TURN).items():
        changed = structs.replace(changed, **{name: value}, calls=changed.calls[::-1])
        await do(store, _putting(change.PutTurn(changed)), turns=(s.TURN.id,))
        assert await store.turn(s.TURN.id) == changed, name


async def test_talk_and_calls_are_written_alone_and_together_with_all_else(store: WholeStore) -> None:
    """In a batch of its own what was talked in or joined is written in part; beside a whole one, whole."""
    talk = {name: value for name, value in _defaults(s.CONVERSATION).items() if name in Conversation.TALK}
    talked = structs.replace(s.CONVERSATION, **talk)
    scope = {"conversations": (s.WHERE,), "turns": (s.TURN.id,)}
    await put(store, change.PutTurn(s.TURN), change.PutConversation(s.CONVERSATION))
    await do(store, _putting(change.TalkIn(talked), change.JoinTurn(JOINED)), **scope)
    assert await store.conversation(s.WHERE) == talked
    assert await store.turn(s.TURN.id) == JOINED
    renamed, moved = structs.replace(talked, name="other"), structs.replace(JOINED, attempt=7)
    both: list[change.Change] = [change.PutConversation(renamed), change.PutTurn(moved)]
    renamed, moved = structs.replace(renamed, answered=3), structs.replace(moved, calls=s.TURN.calls)
    await do(store, _putting(*both, change.TalkIn(renamed), change.JoinTurn(moved)), **scope)
    assert await store.conversation(s.WHERE) == renamed
    assert await store.turn(s.TURN.id) == moved


def _putting(*changes: change.Change) -> Decider:
    return lambda seen, at: Decision(list(changes), None)


def _defaults(value: Any, but: str = "") -> dict[str, Any]:
    """Every field that has a default, back at it."""
    return {
        field.name: field.default_factory() if field.default is NODEFAULT else field.default
        for field in structs.fields(value)
        if not field.required and field.name != but
    }


async def test_an_agent_is_present_while_its_hosts_lease_runs(store: WholeStore) -> None:
    agent = structs.replace(s.PARTICIPANT, kind=Kind.AGENT, host=s.HOST.id, live_until=0.0)
    stray = structs.replace(agent, id="stray", name="stray", aliases=(), host=HostId("gone"), live_until=9e9)
    await put(store, change.PutHost(s.HOST), change.PutParticipant(agent), change.PutParticipant(stray))
    assert [who.live_until for who in await store.participants()] == [s.HOST.lease_until, 0.0]
    await put(store, change.DropHost(s.HOST.id))
    assert [who.live_until for who in await store.participants()] == [0.0, 0.0]


async def test_a_dropped_conversation_leaves_nothing_behind(store: WholeStore) -> None:
    await put(
        store,
        change.PutConversation(s.CONVERSATION),
        change.PutMember(s.MEMBER),
        change.AppendMessage(s.MESSAGE, PERMIT),
        change.ReviseMessage(s.REVISED, s.REVISION),
        change.PutTurn(s.TURN),
        change.PutRound(s.ROUND),
    )
    await put(store, change.DropConversation(s.WHERE))
    assert await store.conversation(s.WHERE) is None
    assert await store.conversation(s.CONVERSATION.name) is None
    assert await store.members(s.WHERE) == []
    assert await store.messages(s.WHERE, Page()) == []
    assert await store.revisions(s.WHERE) == []
    assert await store.turn(s.TURN.id) is None
    assert await store.round(s.WHERE, s.ROUND.opener) is None
    assert await store.next_due() is None
    assert await look(store, lambda seen: seen.replay(s.BOB, "clé"), key=(s.BOB, "clé")) is None


async def test_a_task_whose_conversation_is_gone_is_never_due(store: Any) -> None:
    task = Task(id=TaskId("t9"), by=s.BOB, to=s.BOB, task="x", conversation=s.WHERE, deadline=50.0)
    await put(store, change.PutConversation(s.CONVERSATION), change.PutRecord(TASKS, task))
    assert (await store.next_due(), await store.due(100.0)) == (50.0, [s.WHERE])
    await put(store, change.DropConversation(s.WHERE))
    assert (await store.next_due(), await store.due(100.0)) == (None, [])
