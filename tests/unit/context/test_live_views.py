"""Conversations kept in memory: whatever becomes of records, what a turn is given is what the store has."""

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest
from msgspec import structs

from moot.context import live_views
from moot.context.live_views import LiveViews
from moot.model.conversation import Conversation, ConversationKind
from moot.model.event import Commit, Event, EventType
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.message import Message
from moot.model.participant import Kind
from moot.ports import Page

pytestmark = pytest.mark.req("K-07")

WHERE = ConversationId("c1")


class Store:
    """One conversation, and how often its messages were read."""

    def __init__(self) -> None:
        self.conversation_now = Conversation(
            WHERE, "room", ConversationKind.GROUP, created_at=0.0, updated_at=0.0
        )
        self.said: list[Message] = []
        self.reads = 0

    def say(self, text: str) -> Message:
        now = self.conversation_now
        place = now.chain_length + 1
        message = Message(
            WHERE,
            now.next_seq,
            ParticipantId("user"),
            Kind.HUMAN,
            text,
            RootId("r"),
            0,
            0.0,
            chain_place=place,
        )
        self.said.append(message)
        self.conversation_now = structs.replace(now, next_seq=now.next_seq + 1, chain_length=place)
        return message

    def edit(self, seq: int, text: str) -> Message:
        place = self.conversation_now.chain_length + 1
        changed = structs.replace(self.said[seq - 1], text=text, version=2, chain_place=place)
        self.said[seq - 1] = changed
        self.conversation_now = structs.replace(self.conversation_now, chain_length=place)
        return changed

    async def conversation(self, ref: str) -> Conversation:
        return self.conversation_now

    async def messages(self, where: ConversationId, page: Page) -> list[Message]:
        self.reads += 1
        await asyncio.sleep(0)
        before = len(self.said) + 1 if page.before is None else page.before
        found = [one for one in self.said if page.after < one.seq < before]
        return found[-page.limit :] if page.newest else found[: page.limit]


class Stage:
    def __init__(self) -> None:
        self.store = Store()
        self.tasks: list[asyncio.Task[None]] = []
        self.views = LiveViews(self.store, self._spawn)  # type: ignore[arg-type]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def quiet(self) -> None:
        await asyncio.gather(*self.tasks)
        self.tasks.clear()

    def tell(self, seq: int, kind: EventType = EventType.MESSAGE_POSTED) -> None:
        self.views.on_records([Event(kind, 0.0, conversation=WHERE, seq=seq)])

    async def window(self, after: int = 0) -> list[str]:
        """As a turn gets it, up to the head."""
        now = self.store.conversation_now
        return [one.text for one in await self.views.messages(now, after, now.head)]

    async def equals(self, after: int = 0) -> bool:
        return await self.window(after) == [one.text for one in self.store.said[after:]]


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_what_this_process_stores_is_appended_without_reading(stage: Stage) -> None:
    stage.store.say("one")
    assert await stage.window() == ["one"]
    for text in ("two", "three"):
        stage.views.on_commit(Commit([], [stage.store.say(text)]))
    assert await stage.window() == ["one", "two", "three"]
    assert stage.store.reads == 1


async def test_what_others_store_is_pulled_when_a_record_tells_of_it(stage: Stage) -> None:
    stage.store.say("one")
    await stage.window()
    for text in ("two", "three", "four"):
        stage.store.say(text)
    stage.tell(3)
    stage.tell(4)
    await stage.quiet()
    assert stage.store.reads == 2, "three messages, one read"
    assert await stage.equals()
    assert stage.store.reads == 2


async def test_gaps_repeats_and_late_records_are_noticed(stage: Stage) -> None:
    for number in range(6):
        stage.store.say(str(number))
    await stage.window()
    for seq in (1, 2, 2, 5, 3, 6, 3):
        stage.tell(seq)
    counts = stage.views.counts
    assert (counts.gaps, counts.late, counts.repeats) == (1, 1, 2)
    assert await stage.equals()


async def test_an_edit_nobody_told_of_is_found_though_another_was_told_twice(stage: Stage) -> None:
    for number in range(4):
        stage.store.say(str(number))
    await stage.window()
    stage.store.edit(3, "changed")
    stage.tell(1, EventType.MESSAGE_EDITED)
    assert await stage.window() == ["0", "1", "changed", "3"]
    assert stage.views.counts.mended == 1


async def test_an_edit_of_this_process_is_seen_at_once(stage: Stage) -> None:
    stage.store.say("one")
    await stage.window()
    stage.views.on_commit(Commit([], [stage.store.edit(1, "another")]))
    assert await stage.window() == ["another"]


async def test_what_was_taken_back_is_not_kept(stage: Stage) -> None:
    stage.store.say("a secret")
    await stage.window()
    stage.views.on_events([Event(EventType.MESSAGE_DELETED, 0.0, conversation=WHERE, seq=1)])
    assert len(stage.views) == 0


async def test_a_window_that_reaches_further_back_is_read(stage: Stage) -> None:
    for number in range(9):
        stage.store.say(str(number))
    assert await stage.equals(after=5)
    assert await stage.equals(after=2)
    assert await stage.equals(after=7)
    assert stage.store.reads == 2


async def test_views_stay_within_their_bounds(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_views, "MAX_MESSAGES", 5)
    await stage.window()
    for number in range(20):
        stage.views.on_commit(Commit([], [stage.store.say(str(number))]))
    [view] = stage.views._views.values()
    assert len(view.messages) == 5
    assert await stage.equals(after=16)
    assert await stage.equals()


@pytest.mark.parametrize("seed", range(20))
async def test_whatever_becomes_of_records_a_turn_is_given_what_the_store_has(
    stage: Stage, seed: int
) -> None:
    chance = random.Random(seed)
    pending: list[tuple[int, EventType]] = []
    for number in range(300):
        match chance.choice(("say", "say", "edit", "commit", "turn", "record", "record")):
            case "say":
                pending.append((stage.store.say(str(number)).seq, EventType.MESSAGE_POSTED))
            case "commit":
                stage.views.on_commit(Commit([], [stage.store.say(f"mine {number}")]))
            case "edit" if stage.store.said:
                seq = chance.randint(1, len(stage.store.said))
                stage.store.edit(seq, f"edited {number}")
                pending.append((seq, EventType.MESSAGE_EDITED))
            case "record" if pending:
                told = pending.pop(chance.randrange(len(pending)))
                for _ in range(chance.choice((0, 1, 1, 2))):
                    stage.tell(*told)
            case "turn" | _:
                assert await stage.equals(after=chance.randint(0, len(stage.store.said)))
    await stage.quiet()
    assert await stage.equals()
