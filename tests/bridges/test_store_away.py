"""The store is away for a moment, or the network: nothing that was written is lost, nothing is sent twice."""

from typing import Any

import pytest

from moot.bridges import lease
from moot.bridges.bridge import NotReached
from moot.errors import Conflict, StoreUnwritable
from moot.flow.hold_bridge import HoldBridge
from moot.flow.move_post import MovePost
from moot.flow.record_arrival import RecordArrival
from moot.hub.external.bridge_records import BridgeRecords
from moot.model.records.chat_apps.bridge import ArrivalState, BridgePostState, Piece
from tests.bridges.stage import Stage
from tests.bridges.worlds import KARL, MemoryWorld
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-13", "G-14")

ADDRESS = "postgresql://10.0.0.5:5432/moot"


@pytest.fixture
def world() -> MemoryWorld:
    return MemoryWorld()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is tried again is tried again soon."""
    monkeypatch.setattr("moot.bridges.worker.AGAIN_SECONDS", 0.01)
    monkeypatch.setattr("moot.bridges.dispatch.RETRY_SECONDS", 0.01)
    monkeypatch.setattr("moot.bridges.dispatch.MAX_WAIT_SECONDS", 0.05, raising=False)


class Outage:
    """The store cannot be reached by the next calls of one kind; what they write may be there all the same."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, call: str, **wanted: Any) -> None:
        self.left = 0
        self.is_written = False
        real = getattr(BridgeRecords, call)

        async def tried(records: BridgeRecords, command: Any) -> Any:
            if self.left and all(getattr(command, name) == value for name, value in wanted.items()):
                self.left -= 1
                if self.is_written:
                    await real(records, command)
                raise StoreUnwritable(f"cannot reach {ADDRESS}", detail="Connect call failed")
            return await real(records, command)

        monkeypatch.setattr(BridgeRecords, call, tried)


async def test_what_was_written_while_the_store_was_away_is_heard_when_it_is_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    outage = Outage(monkeypatch, "hear")
    outage.left = 3
    stage.world.say(chat, KARL, "@writer are you there?")
    await until(lambda: stage.said(where), lambda said: len(said) > 1)
    shown = await stage.shown(chat, before)
    assert [post.text for post in shown] == ["writer answers writer are you there?"]
    assert not outage.left
    assert [text for _, text in await stage.said(where)].count("@writer are you there?") == 1


@pytest.mark.parametrize("is_written", [False, True])
async def test_a_command_whose_end_could_not_be_written_is_not_said_to_have_failed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    outage = Outage(monkeypatch, "record", state=ArrivalState.DONE)
    outage.left, outage.is_written = 1, is_written
    stage.world.say(chat, KARL, "/agents")
    await until(lambda: stage.shown(chat, before), bool)
    [answer] = await stage.shown(chat, before)
    assert not outage.left
    assert "analyst" in answer.text if is_written else "It may have been done" in answer.text


async def test_the_hubs_own_trouble_is_not_told_to_a_chat(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))

    async def away(*_: Any) -> None:
        raise StoreUnwritable(f"cannot reach {ADDRESS}", detail="Connect call failed")

    monkeypatch.setattr("moot.bridges.chat_commands.carry_out", away)
    stage.world.say(chat, KARL, "/agents")
    [answer] = await stage.shown(chat, before)
    assert "trouble of its own" in answer.text
    assert "10.0.0.5" not in answer.text


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("to", [BridgePostState.SENDING, BridgePostState.SENT, BridgePostState.QUEUED])
async def test_a_post_is_there_once_and_known_to_be_there_although_the_store_was_away(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, to: BridgePostState, is_written: bool
) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    outage = Outage(monkeypatch, "move", to=to)
    outage.left, outage.is_written = 2 - is_written, is_written
    if to is BridgePostState.QUEUED:
        stage.world.flood(0.01)
    stage.world.say(chat, KARL, "@critic one")
    shown = await until(lambda: stage.shown(chat, before), bool)
    assert [post.text for post in shown] == ["critic answers critic one"]
    assert not outage.left
    assert await stage.hub.bridges.posts() == []


async def test_a_result_is_kept_while_the_bridge_starts_anew(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    outage = Outage(monkeypatch, "move", to=BridgePostState.SENT)
    outage.left = 1_000_000
    stage.world.say(chat, KARL, "@critic one")
    await until(lambda: stage.hub.bridges.posts("sending"), bool)
    await until(lambda: _count(stage.world.posts(chat)), lambda count: count > before)
    await stage.worker.dispatch.close()
    outage.left = 0
    await stage.quiet()
    assert len(await stage.shown(chat, before)) == 1
    assert await stage.hub.bridges.posts() == []


async def _count(posts: list[Any]) -> int:
    return len(posts)


async def test_one_at_a_time_has_a_bridge_and_another_when_it_is_given_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "LEASE_SECONDS", 3600.0)
    mine, other = stage.worker.lease, lease.Lease(stage.hub, stage.world.bridge_name)
    assert await mine.take()
    assert not await other.take()
    assert (mine.holds(), other.holds()) == (True, False)
    await stage.disconnect()
    assert await other.take()
    assert (mine.holds(), other.holds()) == (False, True)


async def test_what_nobody_claims_is_unconfirmed_and_what_is_being_sent_is_let_be(stage: Stage) -> None:
    """A post that was intended beside a take-over is found by the new holder although it was not there to see then."""
    chat, _ = await stage.group()
    await stage.disconnect()
    records, name = stage.hub.bridges.records, stage.world.bridge_name
    answer = RecordArrival(name, "k1", chat, KARL, ArrivalState.DONE, answers=(Piece("hello"),))
    await records.hold(HoldBridge(name, "h1", 6.0))
    await records.record(answer)
    [post] = await records.queue(name, chat)
    await records.move(MovePost(post.id, name, BridgePostState.SENDING, "h1"))
    for decide in (stage.hub.bridges.resend, stage.hub.bridges.drop):
        with pytest.raises(Conflict, match="being sent"):
            await decide(post.id)
    await records.hold(HoldBridge(name, "h1", 6.0))
    await records.hold(HoldBridge(name, "h1", 0.0, sending=(post.id,)))
    assert [one.state for one in await stage.hub.bridges.posts()] == ["sending"]
    await records.hold(HoldBridge(name, "h1", 0.0))
    assert [one.state for one in await stage.hub.bridges.posts()] == ["unconfirmed"]


async def test_a_command_that_crashed_is_carried_out_once_and_said_to_be_cut_short(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    calls: list[Any] = []

    async def crash(*given: Any) -> None:
        calls.append(given)
        raise RuntimeError("half way")

    monkeypatch.setattr("moot.bridges.chat_commands.carry_out", crash)
    stage.world.say(chat, KARL, "/agents")
    [answer] = await stage.shown(chat, before)
    assert len(calls) == 1
    assert "It may have been done" in answer.text
    [dead] = await stage.hub.bridges.dead_letters()
    assert dead.text == "/agents"


async def test_without_a_way_to_the_chat_app_an_answer_waits_and_is_not_laid_aside(stage: Stage) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    world = stage.world
    assert isinstance(world, MemoryWorld)
    world.app.troubles.extend((NotReached("no route to host"), False) for _ in range(8))
    world.say(chat, KARL, "@critic one")
    shown = await until(lambda: stage.shown(chat, before), bool)
    assert [post.text for post in shown] == ["critic answers critic one"]
    assert not world.app.troubles
