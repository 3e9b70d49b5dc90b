"""How fast is posted: one a second and twenty a minute, and as late as the chat app says."""

from moot.bridges.bridge import FloodRule
from moot.bridges.flood import FloodGate
from moot.testing import ManualClock


async def test_twenty_a_minute_and_one_a_second() -> None:
    clock = ManualClock(1_800_000_000.0)
    gate = FloodGate(clock, FloodRule(1.0, 20))
    begun = clock.now()
    for number in range(20):
        assert gate.next_at() <= begun + number
        await gate.wait_for_turn()
        await clock.advance(1.0)
    assert gate.next_at() == begun + 60.0


async def test_told_to_wait_it_waits() -> None:
    clock = ManualClock(1_800_000_000.0)
    gate = FloodGate(clock, FloodRule(0.0, 1000))
    gate.close_for(5.0)
    assert gate.next_at() == clock.now() + 5.0
    await clock.advance(5.0)
    await gate.wait_for_turn()
