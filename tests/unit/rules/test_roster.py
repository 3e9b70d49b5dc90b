"""Who of a conversation's agents is here, and that nobody is remembered who has changed since."""

import pytest
from msgspec import structs

from moot.model.change import DropMember, PutHost, PutMember, PutParticipant
from moot.model.conversation import Conversation, ConversationKind, Member
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.limits import Terms
from moot.model.moment import Moment
from moot.model.participant import Host, Kind, Participant
from moot.rules.draft import Draft
from moot.rules.floor.roster import Roster
from moot.stores.desk import Desk, Dirty
from moot.stores.fold import fold

WHERE = ConversationId("c")
ROOM = Conversation(WHERE, "room", ConversationKind.GROUP, 1.0, 1.0)
ANN, BEN, CAT = (ParticipantId(name) for name in ("ann", "ben", "cat"))


def agent(who: ParticipantId, live_until: float = 0.0) -> Participant:
    return Participant(who, who, Kind.AGENT, live_until=live_until, host=HostId("h"))


def member(who: ParticipantId, *, speaks: bool = True) -> Member:
    return Member(WHERE, who, 1, 1.0, speaks)


def desk_of(*people: Participant) -> Desk:
    desk = Desk(1, 1)
    desk.add_conversation(ROOM)
    for who in people:
        desk.add_participant(who)
        desk.members_of.setdefault(WHERE, {})[who.id] = member(who.id)
    return desk


def draft_of(desk: Desk, now: float = 0.0) -> Draft:
    return Draft(desk, Moment(now, Terms(), desk.turn_id, lambda: WHERE))


def test_only_those_that_take_turns_are_on_it() -> None:
    people = {who: agent(who) for who in (ANN, BEN)}
    roster = Roster([member(BEN), member(ANN, speaks=False)], people)
    assert list(roster.agents) == [BEN]


@pytest.mark.parametrize(
    ("now", "here"), [(4.9, {ANN, BEN}), (5.0, {BEN}), (8.9, {BEN}), (9.0, set()), (99.0, set())]
)
def test_who_is_here_until_its_lease_ends(now: float, here: set[ParticipantId]) -> None:
    roster = Roster([member(ANN), member(BEN)], {ANN: agent(ANN, 5.0), BEN: agent(BEN, 9.0)})
    assert set(roster.here(now)) == here


def test_nobody_is_here_where_nobody_takes_turns() -> None:
    assert not Roster([], {}).here(0.0)


def test_a_desk_keeps_it_while_only_turns_pass() -> None:
    desk = desk_of(agent(ANN))
    before = desk.roster(WHERE)
    fold(desk, [PutMember(structs.replace(member(ANN), cursor=7))], Dirty())
    assert desk.roster(WHERE) is before


def test_a_desk_makes_it_anew_when_somebody_comes_goes_or_changes() -> None:
    desk = desk_of(agent(ANN), agent(BEN))
    assert list(desk.roster(WHERE).agents) == [ANN, BEN]
    fold(desk, [DropMember(WHERE, ANN)], Dirty())
    assert list(desk.roster(WHERE).agents) == [BEN]
    fold(desk, [PutParticipant(agent(CAT)), PutMember(member(CAT))], Dirty())
    assert list(desk.roster(WHERE).agents) == [BEN, CAT]
    fold(desk, [PutParticipant(structs.replace(agent(BEN), name="benjamin"))], Dirty())
    assert desk.roster(WHERE).agents[BEN].name == "benjamin"
    fold(desk, [PutHost(Host(HostId("h"), 1, (BEN, CAT), 9.0, 1.0))], Dirty())
    assert set(desk.roster(WHERE).here(8.0)) == {BEN, CAT}


def test_a_draft_sees_its_own_changes_and_leaves_what_was_seen_alone() -> None:
    desk = desk_of(agent(ANN, 9.0), agent(BEN), agent(CAT))
    draft = draft_of(desk)
    room = draft.room(ROOM)
    assert set(room.here()) == {ANN}
    room.drop_member(ANN)
    assert (list(room.roster.agents), set(room.here())) == ([BEN, CAT], set())
    room.put_member(member(ANN))
    assert set(room.here()) == {ANN}
    paused = draft_of(desk)
    paused.put_participant(structs.replace(agent(BEN), paused=True))
    assert paused.room(ROOM).roster.agents[BEN].paused
    assert not desk.roster(WHERE).agents[BEN].paused
    assert list(desk.roster(WHERE).agents) == [ANN, BEN, CAT]
