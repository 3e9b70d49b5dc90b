"""Following a log: whoever follows misses nothing, gets nothing twice, and gets it in order."""

import asyncio
from contextlib import aclosing

import pytest

from moot.model.event import Event, EventType
from moot.model.ids import ConversationId
from moot.ports import RESET
from tests.contract.log.places import KafkaPlace, Place, handed, ids
from tests.support.waiting import PATIENCE

HERE, THERE = ConversationId("here"), ConversationId("there")


def delta(where: ConversationId) -> Event:
    return Event(EventType.TURN_DELTA, 0.0, conversation=where)


async def test_a_follower_gets_what_happens_from_now_on(place: Place) -> None:
    await place.say(HERE)
    await place.log.catch_up()
    follower = place.log.subscribe()
    new = await place.say(HERE, THERE) + await place.say(THERE)
    assert await ids(follower, 3) == new


async def test_whoever_follows_one_conversation_gets_that_alone(place: Place) -> None:
    follower = place.log.subscribe(conversation=HERE)
    first = await place.say(HERE, THERE, HERE)
    second = await place.say(THERE, HERE)
    assert await ids(follower, 3) == [first[0], first[2], second[1]]


async def test_a_follower_may_begin_at_any_position(place: Place) -> None:
    there = [id for _ in range(4) for id in await place.say(HERE, THERE)]
    await place.log.catch_up()
    for log in (place.log, await place.new_log()):
        for position, after in enumerate([0, *there[:-1]]):
            assert await ids(log.subscribe(after=after), len(there) - position) == there[position:]


async def test_a_position_that_no_event_has_is_one_too(place: Place) -> None:
    there = await place.say(HERE, HERE)
    await place.log.catch_up()
    for after in range(there[0], there[1]):
        assert await ids(place.log.subscribe(after=after), 1) == there[1:]


async def test_one_who_is_far_behind_gets_everything(place: Place) -> None:
    there = [id for n in range(4) for id in await place.say(*[HERE if n else THERE] * 400)]
    await place.log.catch_up()
    log = await place.new_log()
    assert await ids(log.subscribe(after=0), 1600) == there
    assert await ids(log.subscribe(after=0, conversation=HERE), 1200) == there[400:]


async def test_what_another_process_stored_is_found_though_its_hint_was_lost(place: Place) -> None:
    follower, watched = place.log.subscribe(), list[int]()
    place.log.watch(lambda events: watched.extend(event.id for event in events))
    lost = await place.say_elsewhere(HERE, THERE)
    await place.log.catch_up()
    assert watched == lost
    assert await ids(follower, 2) == lost


async def test_what_another_process_stored_comes_before_what_this_one_did_behind_it(place: Place) -> None:
    follower, watched = place.log.subscribe(), list[int]()
    place.log.watch(lambda events: watched.extend(event.id for event in events))
    first = await place.say_elsewhere(HERE)
    second = await place.say(HERE)
    third = await place.say_elsewhere(HERE)
    await place.log.catch_up()
    assert await ids(follower, 3) == watched == [*first, *second, *third]


async def test_nobody_is_handed_what_the_log_has_not_taken_in(place: Place) -> None:
    """Watchers come first: what they keep is true when a follower hears of it."""
    there = await place.say(HERE)
    await place.log.catch_up()
    later = await place.say_elsewhere(HERE)
    taken_in = [*there, *later] if place.log.last >= later[-1] else there  # a record may have come by now
    assert place.log.last >= there[-1]
    follower = place.log.subscribe(after=0)
    place.log.live(delta(HERE))
    assert await ids(follower, len(taken_in) + 1) == [*taken_in, 0]


async def test_several_looks_at_once_take_in_everything_once(place: Place) -> None:
    follower, watched = place.log.subscribe(), list[int]()
    place.log.watch(lambda events: watched.extend(event.id for event in events))
    lost = await place.say_elsewhere(HERE, THERE, HERE)
    looks = [place.log.catch_up() for _ in range(5)]
    own = await place.say(HERE)
    await asyncio.gather(*looks, place.log.catch_up())
    assert watched == [*lost, *own] == await ids(follower, 4)


async def test_a_live_event_comes_behind_what_was_stored_before_it(place: Place) -> None:
    follower = place.log.subscribe(conversation=HERE)
    first = await place.say(HERE, THERE)
    await place.log.catch_up()
    place.log.live(delta(THERE))
    place.log.live(delta(HERE))
    second = await place.say(HERE)
    await place.log.catch_up()
    assert await ids(follower, 3) == [first[0], 0, second[0]]


async def test_live_events_are_bounded_and_cost_no_stored_one(place: Place) -> None:
    follower = place.log.subscribe()
    for _ in range(5000):
        place.log.live(delta(HERE))
    new = await place.say(HERE)
    await place.log.catch_up()
    got: list[Event] = []
    async with asyncio.timeout(PATIENCE), aclosing(aiter(follower)) as events:
        while not got or got[-1].id == 0:
            got.append(await anext(events))
    assert [got[-1].id] == new
    assert len(got) < 2000


async def test_whoever_is_behind_what_is_kept_is_reset_once_and_goes_on(place: Place) -> None:
    old = await place.say(HERE, HERE)
    await place.clock.advance(100)
    young = await place.say(HERE)
    await place.store.forget_events(before=place.clock.now() - 50)
    log = await place.new_log()
    first, *rest = await handed(log.subscribe(after=0), 2)
    assert (first.type, first.body) == (RESET, {"after": old[-1]})
    assert [event.id for event in rest] == young
    assert await ids(log.subscribe(after=old[-1]), 1) == young


async def test_what_was_forgotten_before_it_was_taken_in_resets_who_followed(place: Place) -> None:
    await place.say_elsewhere(HERE)
    await place.log.catch_up()
    follower = place.log.subscribe()
    gone = await place.say_elsewhere(HERE, THERE)
    await place.clock.advance(100)
    young = await place.say_elsewhere(HERE)
    await place.store.forget_events(before=place.clock.now() - 50)
    await place.log.catch_up()
    first, second = await handed(follower, 2)
    if isinstance(place, KafkaPlace) and first.type is not RESET:
        # Kafka told of them by itself before they were forgotten: they were taken in, and nothing was missed.
        assert [first.id, second.id] == gone
    else:
        assert (first.type, first.body, second.id) == (RESET, {"after": gone[-1]}, young[0])


async def test_an_event_that_becomes_visible_late_is_not_skipped(shared: Place) -> None:
    follower, watched = shared.log.subscribe(), list[int]()
    shared.log.watch(lambda events: watched.extend(event.id for event in events))
    before = await shared.say(HERE)
    late = shared.late.begin(HERE)
    after = await shared.say(HERE)
    await shared.log.catch_up()
    assert late.id < after[0]
    assert watched == before
    assert shared.log.last < late.id
    shared.late.commit(late)
    await shared.log.catch_up()
    assert watched == [*before, late.id, *after] == await ids(follower, 3)


@pytest.mark.parametrize("conversation", [None, HERE])
async def test_a_new_follower_of_the_past_is_not_led_beyond_what_may_still_come(
    shared: Place, conversation: ConversationId | None
) -> None:
    before = await shared.say(HERE)
    late = shared.late.begin(HERE)
    after = await shared.say(HERE)
    log = await shared.new_log()
    follower = log.subscribe(after=0, conversation=conversation)
    log.live(delta(HERE))
    assert await ids(follower, 2) == [*before, 0]
    assert follower.after < late.id
    shared.late.commit(late)
    await log.catch_up()
    assert await ids(log.subscribe(follower.after, conversation), 2) == [late.id, *after]


async def test_an_id_that_was_taken_and_never_used_holds_nobody_up(shared: Place) -> None:
    follower = shared.log.subscribe()
    unused = shared.late.begin(HERE)
    new = await shared.say(HERE)
    shared.late.roll_back(unused)
    await shared.log.catch_up()
    assert await ids(follower, 1) == new


async def test_an_id_of_another_writer_may_lie_within_those_of_one_commit(shared: Place) -> None:
    await shared.log.catch_up()
    follower, first = shared.log.subscribe(), shared.log.last + 1
    late = shared.late.begin(HERE, first + 1)
    mine = await shared.say(HERE, HERE)
    assert mine[0] == first < late.id < mine[1]
    await shared.log.catch_up()
    shared.late.commit(late)
    await shared.log.catch_up()
    assert await ids(follower, 3) == [mine[0], late.id, mine[1]]


@pytest.mark.req("K-05")
async def test_what_another_process_stored_comes_by_its_record_without_anybody_looking(told: Place) -> None:
    follower = told.log.subscribe(conversation=HERE)
    there = await told.say_elsewhere(HERE, THERE, HERE)
    assert await ids(follower, 2) == [there[0], there[2]]
    later = await told.say_elsewhere(HERE)
    assert await ids(told.log.subscribe(after=there[2], conversation=HERE), 1) == later
