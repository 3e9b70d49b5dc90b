"""Parts of an agent, shared among the hosts that run it: the same on every store."""

import pytest

from moot.flow import attach, enrol, hold_shares
from moot.flow.hold_shares import HELD_SECONDS, HoldShares, SharedGroup
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.participant import Kind
from moot.model.records.share import CONFIG, SHARES, Share, group_of, part_of
from tests.contract.store.places import Place, WholeStore

pytestmark = pytest.mark.req("K-12")

ARYA = ParticipantId("arya")
A, B, C = (HostId(f"h-{name}") for name in "abc")


class Hosts:
    """Hosts that run arya, in four parts."""

    def __init__(self, place: Place, store: WholeStore, parts: int = 4) -> None:
        self.place = place
        self.store = store
        self.group = SharedGroup(group_of(ARYA), parts, ARYA)

    async def come(self, *hosts: HostId) -> None:
        await self.store.transact(enrol, enrol.Enrol((enrol.Newcomer("arya", Kind.AGENT),)))
        for host in hosts:
            await self.store.transact(attach, attach.Attach(host, 1, (ARYA,)))

    async def hold(self, host: HostId, *, give_back: bool = False) -> set[int]:
        held = await self.store.transact(hold_shares, HoldShares(host, (self.group,), give_back=give_back))
        assert all(share.host == host for share in held)
        return {share.part for share in held}

    async def rows(self) -> dict[int, Share]:
        return {share.part: share for share in await self.store.records(SHARES.where(grp=self.group.name))}


@pytest.fixture
def hosts(place: Place, store: WholeStore) -> Hosts:
    return Hosts(place, store)


async def test_whoever_is_alone_has_all_parts(hosts: Hosts) -> None:
    await hosts.come(A)
    assert await hosts.hold(A) == {0, 1, 2, 3}


async def test_a_newcomer_gets_its_part_once_it_is_given_back(hosts: Hosts) -> None:
    await hosts.come(A)
    await hosts.hold(A)
    await hosts.come(B)
    assert await hosts.hold(B) == set()
    assert len(await hosts.hold(A)) == 2
    both = await hosts.hold(A), await hosts.hold(B)
    assert both[0] | both[1] == {0, 1, 2, 3}
    assert len(both[1]) == 2


async def test_what_is_held_does_not_move_without_need(hosts: Hosts) -> None:
    await hosts.come(A, B, C)
    held: list[set[int]] = []
    for _ in range(3):
        held = [await hosts.hold(host) for host in (A, B, C)]
    again = [await hosts.hold(host) for host in (C, B, A)]
    assert again[::-1] == held
    assert sorted(map(len, held)) == [1, 1, 2]
    assert set().union(*held) == {0, 1, 2, 3}


async def test_parts_of_a_host_that_fell_silent_go_to_the_others_with_a_higher_fence(hosts: Hosts) -> None:
    await hosts.come(A, B)
    await hosts.hold(A), await hosts.hold(B)
    before = await hosts.rows()
    await hosts.place.clock.advance(HELD_SECONDS - 1)
    assert len(await hosts.hold(B)) == 2
    await hosts.place.clock.advance(1.0)
    assert await hosts.hold(B) == {0, 1, 2, 3}
    after = await hosts.rows()
    for part, share in after.items():
        assert share.fence == before[part].fence + (before[part].host == A)
    assert await hosts.hold(A) == set(), "it wakes up, and nothing is its own"


async def test_a_host_that_goes_gives_all_back_at_once(hosts: Hosts) -> None:
    await hosts.come(A, B)
    await hosts.hold(A), await hosts.hold(B)
    assert await hosts.hold(A, give_back=True) == set()
    free = [share.part for share in (await hosts.rows()).values() if share.until == 0]
    assert len(free) == 2


async def test_fewer_parts_than_hosts_leave_somebody_without(place: Place, store: WholeStore) -> None:
    hosts = Hosts(place, store, parts=2)
    await hosts.come(A, B, C)
    held = [await hosts.hold(host) for host in (A, B, C)]
    assert sorted(map(len, held)) == [0, 1, 1]


async def test_what_only_one_hub_does_stays_with_it(hosts: Hosts) -> None:
    hosts.group = SharedGroup(CONFIG, 1)
    assert await hosts.hold(B) == {0}
    assert await hosts.hold(A) == set()
    assert await hosts.hold(B) == {0}
    await hosts.place.clock.advance(HELD_SECONDS)
    assert await hosts.hold(A) == {0}
    assert await hosts.hold(B) == set()


def test_conversations_are_spread_over_the_parts_the_same_everywhere() -> None:
    parts = [part_of(ConversationId(f"c{number:014d}"), 4) for number in range(1000)]
    assert [part_of(ConversationId(f"c{number:014d}"), 4) for number in range(3)] == parts[:3]
    assert all(200 < parts.count(part) < 300 for part in range(4))
