"""What a verb's scope brings, no less: conversations with all that belongs to them, people, turns, chains."""

from typing import Any

import pytest
from msgspec import structs

from moot.model.chain import Pair, Root
from moot.model.change import (
    Change,
    DropMember,
    PutConversation,
    PutHost,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRoot,
    PutRound,
    PutTurn,
)
from moot.model.conversation import Conversation, ConversationKind, Member
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.participant import Host, Kind, Participant, Quota
from moot.model.round import Round, RoundState
from moot.model.turn import Call, Duty, RuleName, Turn, TurnState
from moot.rules.draft import Seen
from tests.contract.store.places import WholeStore
from tests.contract.store.samples import HOST
from tests.contract.store.verbs import conversation, look, put, say

ROOM, OTHER = conversation("room", key="a+b"), conversation("other")
PEOPLE = [
    Participant(id=ParticipantId(name), name=name.title(), kind=Kind.AGENT, aliases=(f"old-{name}",))
    for name in ("cid", "arya", "bob")
]


def member(where: Conversation, who: Participant, position: int) -> Member:
    return Member(conversation=where.id, participant=who.id, position=position, joined_at=1.0)


def turn(number: int, where: Conversation, who: Participant, state: TurnState, **fields: Any) -> Turn:
    return Turn(
        id=TurnId(number),
        agent=who.id,
        conversation=where.id,
        duty=Duty.MUST,
        reason=RuleName.MENTION,
        state=state,
        calls=fields.pop("calls", ()),
        created_at=1.0,
        **fields,
    )


def round_(where: Conversation, opener: int, state: RoundState, **fields: Any) -> Round:
    root = RootId(f"{where.id}:{opener}")
    return Round(
        conversation=where.id,
        opener=opener,
        root=root,
        hop=0,
        human=True,
        polls=True,
        cap=3,
        state=state,
        **fields,
    )


@pytest.fixture
async def room(store: WholeStore) -> Conversation:
    changes: list[Change] = [PutConversation(ROOM), PutConversation(OTHER)]
    changes += [PutParticipant(who) for who in PEOPLE]
    changes += [PutMember(member(ROOM, who, n)) for n, who in enumerate(PEOPLE)]
    await put(store, *changes)
    return ROOM


@pytest.mark.parametrize("ref", ["c-room", "room", "a+b"])
async def test_a_conversation_is_found_by_id_name_and_key(
    store: WholeStore, room: Conversation, ref: str
) -> None:
    assert await look(store, lambda seen: seen.find(ref), refs=(ref,)) == ROOM
    assert await store.conversation(ref) == ROOM


async def test_an_archived_conversation_is_found_by_id_only(store: WholeStore, room: Conversation) -> None:
    archived = structs.replace(ROOM, archived=True)
    await put(store, PutConversation(archived))

    def found(seen: Seen) -> list[Conversation | None]:
        return [seen.find(ref) for ref in ("c-room", "room", "a+b")]

    assert await look(store, found, refs=("c-room", "room", "a+b")) == [archived, None, None]
    assert await store.conversation("room") is None
    successor = structs.replace(ROOM, id=ConversationId("c-successor"))
    await put(store, PutConversation(successor))
    assert await look(store, found, refs=("c-room", "room", "a+b")) == [archived, successor, successor]


async def test_what_nobody_is_called_is_not_found(store: WholeStore, room: Conversation) -> None:
    refs = ("", "nope", "ROOM", "c-room ", "' OR 1=1 --", "%", "\ufeff", '"')
    assert await look(store, lambda seen: [seen.find(ref) for ref in refs], refs=refs) == [None] * len(refs)
    assert await look(store, lambda seen: [seen.named(ref) for ref in refs], names=refs) == [None] * len(refs)


async def test_a_conversation_brings_its_members_in_joining_order_and_who_they_are(
    store: WholeStore, room: Conversation
) -> None:
    def seen_there(seen: Seen) -> Any:
        members = seen.members(ROOM.id)
        return list(members), [seen.participant(who) for who in members]

    names, people = await look(store, seen_there, conversations=(ROOM.id,))
    assert names == ["cid", "arya", "bob"]
    assert people == PEOPLE


async def test_who_left_is_no_longer_there(store: WholeStore, room: Conversation) -> None:
    await put(store, DropMember(ROOM.id, PEOPLE[1].id))
    assert list(await look(store, lambda seen: seen.members(ROOM.id), conversations=(ROOM.id,))) == [
        "cid",
        "bob",
    ]


@pytest.mark.parametrize("name", ["arya", "Arya", "old-arya"])
async def test_a_participant_answers_to_id_name_and_old_names(
    store: WholeStore, room: Conversation, name: str
) -> None:
    assert await look(store, lambda seen: seen.named(name), names=(name,)) == PEOPLE[1]
    assert await store.participant(name) == PEOPLE[1]


async def test_a_renamed_participant_answers_to_both_names(store: WholeStore, room: Conversation) -> None:
    renamed = structs.replace(PEOPLE[1], name="Nobody", aliases=("old-arya", "Arya"))
    await put(store, PutParticipant(renamed))
    names = ("arya", "Arya", "old-arya", "Nobody")
    for name in names:
        assert await look(store, lambda seen: [seen.named(n) for n in names], names=(name,)) == [renamed] * 4


async def test_a_participant_brings_its_quota(store: WholeStore, room: Conversation) -> None:
    quota = Quota(agent=PEOPLE[2].id, hour=5, turns=1)
    await put(store, PutQuota(quota))
    assert await look(store, lambda seen: seen.quota(PEOPLE[2].id), names=("Bob",)) == quota
    assert await look(store, lambda seen: seen.quota(PEOPLE[2].id), conversations=(ROOM.id,)) == quota


async def test_everyone_is_everyone(store: WholeStore, room: Conversation) -> None:
    everyone = await look(store, lambda seen: seen.everyone(), everyone=True)
    assert sorted(who.id for who in everyone) == ["arya", "bob", "cid"]


async def test_a_conversation_brings_its_open_turns_only(store: WholeStore, room: Conversation) -> None:
    states = [TurnState.RUNNING, TurnState.SAID, TurnState.OWED]
    turns = [turn(n, ROOM, PEOPLE[n - 1], state) for n, state in enumerate(states, 1)]
    elsewhere = turn(4, OTHER, PEOPLE[0], TurnState.READY)
    await put(store, *(PutTurn(one) for one in (*turns, elsewhere)))
    found = await look(store, lambda seen: seen.turns(ROOM.id), conversations=(ROOM.id,))
    assert found == {"cid": turns[0], "bob": turns[2]}
    await put(store, PutTurn(structs.replace(turns[0], state=TurnState.SAID)))
    assert list(await look(store, lambda seen: seen.turns(ROOM.id), conversations=(ROOM.id,))) == ["bob"]


async def test_a_turn_named_by_id_comes_with_its_conversation_even_when_it_has_ended(
    store: WholeStore, room: Conversation
) -> None:
    ended = turn(1, ROOM, PEOPLE[0], TurnState.SAID)
    is_open = turn(2, ROOM, PEOPLE[1], TurnState.READY)
    await put(store, PutTurn(ended), PutTurn(is_open))

    def seen_there(seen: Seen) -> Any:
        return (
            seen.turn(TurnId(1)),
            seen.conversation(ROOM.id),
            seen.turns(ROOM.id),
            len(seen.members(ROOM.id)),
        )

    assert await look(store, seen_there, turns=(TurnId(1),)) == (ended, ROOM, {"arya": is_open}, 3)
    assert await look(store, lambda seen: seen.turn(TurnId(9)), turns=(TurnId(9),)) is None


async def test_running_turns_of_a_participant_come_with_their_conversations(
    store: WholeStore, room: Conversation
) -> None:
    await put(store, PutMember(member(OTHER, PEOPLE[0], 0)))
    running = [turn(1, ROOM, PEOPLE[0], TurnState.RUNNING), turn(2, OTHER, PEOPLE[0], TurnState.RUNNING)]
    waiting = turn(3, ROOM, PEOPLE[1], TurnState.READY)
    await put(store, *(PutTurn(one) for one in (*running, waiting)))
    who = PEOPLE[0].id

    def seen_there(seen: Seen) -> Any:
        found = sorted(seen.running_of(who), key=lambda one: one.id)
        return found, [seen.conversation(one.conversation) for one in found], seen.turns(ROOM.id)

    found, places, here = await look(store, seen_there, running_of=who)
    assert found == running
    assert places == [ROOM, OTHER]
    assert here == {"cid": running[0], "arya": waiting}


async def test_a_conversation_brings_the_rounds_that_can_still_matter(
    store: WholeStore, room: Conversation
) -> None:
    closed, queued, running = RoundState.CLOSED, RoundState.QUEUED, RoundState.RUNNING
    stalled = structs.replace(ROOM, stalled=1)
    rounds = [
        round_(ROOM, 1, closed),  # stalled: /continue may take it up
        round_(ROOM, 2, closed),  # over
        round_(ROOM, 3, closed),  # a late turn of it is still open
        round_(ROOM, 4, running),
        round_(ROOM, 10, queued),
        round_(ROOM, 9, queued),
        round_(OTHER, 5, running),
    ]
    late = turn(1, ROOM, PEOPLE[0], TurnState.OWED, round=3)
    over = turn(2, ROOM, PEOPLE[1], TurnState.SAID, round=2)
    await put(store, PutConversation(stalled), PutTurn(late), PutTurn(over), *(PutRound(r) for r in rounds))
    found = await look(store, lambda seen: seen.rounds(ROOM.id), conversations=(ROOM.id,))
    assert list(found) == [1, 3, 4, 9, 10]
    assert found[3] == rounds[2]


async def test_turns_and_rounds_bring_the_chains_they_belong_to(
    store: WholeStore, room: Conversation
) -> None:
    names = ["of-turn", "charged", "of-call", "of-line", "of-blocked", "asked-for", "unrelated"]
    roots = [Root(id=RootId(name), turns=n) for n, name in enumerate(names)]
    call = Call(PEOPLE[0].id, 1, True, 0, 0, RootId("of-call"), RuleName.MENTION)
    line, blocked = (structs.replace(call, root=RootId(name)) for name in ("of-line", "of-blocked"))
    is_open = turn(
        1,
        ROOM,
        PEOPLE[0],
        TurnState.READY,
        root=RootId("of-turn"),
        charged=(RootId("charged"),),
        calls=(call,),
    )
    own = Root(id=RootId("c-room:4"), turns=9)
    await put(
        store,
        PutConversation(structs.replace(ROOM, next_seq=9)),
        PutTurn(is_open),
        PutRound(round_(ROOM, 4, RoundState.RUNNING, pending=(line,), blocked=(blocked,))),
        *(PutRoot(root) for root in (*roots, own)),
    )

    def seen_there(seen: Seen) -> list[Root | None]:
        return [seen.root(RootId(name)) for name in (*names[:6], "c-room:4")]

    found = await look(store, seen_there, conversations=(ROOM.id,), roots=(RootId("asked-for"),))
    assert found == [*roots[:6], own]


@pytest.mark.parametrize("kind", [ConversationKind.DIRECT, ConversationKind.LINK])
async def test_two_agents_alone_bring_their_limiter_both_ways(
    store: WholeStore, kind: ConversationKind
) -> None:
    alone = conversation("alone", kind=kind)
    two = PEOPLE[:2]
    pairs = [Pair(sender=a.id, receiver=b.id, level=1) for a, b in (two, two[::-1])]
    await put(
        store,
        PutConversation(alone),
        *(PutParticipant(who) for who in two),
        *(PutMember(member(alone, who, n)) for n, who in enumerate(two)),
        *(PutPair(pair) for pair in pairs),
    )

    def seen_there(seen: Seen) -> list[Pair | None]:
        return [seen.pair(two[0].id, two[1].id), seen.pair(two[1].id, two[0].id)]

    assert await look(store, seen_there, conversations=(alone.id,)) == pairs


async def test_messages_come_by_their_address(store: WholeStore, room: Conversation) -> None:
    for n in range(3):
        await say(store, ROOM.id, f"text {n}")
    wanted = ((ROOM.id, 2), (ROOM.id, 9), (OTHER.id, 1))

    def seen_there(seen: Seen) -> Any:
        return [seen.message(*one) for one in wanted]

    assert await look(store, seen_there, messages=wanted) == [await store.message(ROOM.id, 2), None, None]


async def test_hosts_come_when_asked_for(store: WholeStore) -> None:
    second = Host(id=HostId("second"), pid=1, agents=(), lease_until=2.0, started_at=1.0)
    await put(store, PutHost(HOST), PutHost(second))
    found = await look(store, lambda seen: {host.id: host for host in seen.hosts()}, hosts=True)
    assert found == {HOST.id: HOST, second.id: second}


async def test_a_scope_that_names_nothing_known_is_an_empty_one(store: WholeStore) -> None:
    def seen_there(seen: Seen) -> Any:
        return (
            seen.conversation(ROOM.id),
            dict(seen.members(ROOM.id)),
            dict(seen.turns(ROOM.id)),
            dict(seen.rounds(ROOM.id)),
            seen.participant(PEOPLE[0].id),
        )

    found = await look(
        store,
        seen_there,
        conversations=(ROOM.id,),
        names=("arya",),
        turns=(TurnId(1),),
        messages=((ROOM.id, 1),),
        running_of=PEOPLE[0].id,
        roots=(RootId("x"),),
        key=(PEOPLE[0].id, "k"),
        hosts=True,
    )
    assert found == (None, {}, {}, {}, None)
