"""Three attempts within a deadline, on a clock that only the test moves."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from moot.brains.llm.breaker import FAILURES, MAX_REST_SECONDS, REST_SECONDS, Breaker, Breakers, State
from moot.brains.llm.retry import Retries
from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.model.prompt import ModelAnswer, Prompt, PromptLine, Usage
from moot.testing import ManualClock

PROMPT = Prompt("", (PromptLine("user", "hello"),))
OVERLOADED = TroubleKind.OVERLOADED
Say = Callable[[str], Awaitable[None]]


class Scripted:
    """A model that does what the test says, one step for each attempt."""

    def __init__(
        self, *steps: TroubleKind | ModelTrouble | str, name: str = "openai:m", says: str = ""
    ) -> None:
        self.name = name
        self.asked: list[float] = []
        self.cancelled = 0
        self._steps = list(steps)
        self._says = says
        self.clock: ManualClock | None = None

    async def close(self) -> None:
        """It holds nothing."""

    async def complete(self, prompt: Prompt, said: Say) -> ModelAnswer:
        self.asked.append(self.clock.now() if self.clock else 0.0)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        await said(self._says)
        if step == "hang":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        if isinstance(step, ModelTrouble):
            raise step
        if isinstance(step, TroubleKind):
            raise ModelTrouble(step, "on purpose", usage=Usage(calls=1, input_tokens=10))
        return ModelAnswer(step, usage=Usage(calls=1, input_tokens=10, output_tokens=5))


async def ignored(_: str) -> None: ...


class World:
    def __init__(self, random_fraction: float = 0.0) -> None:
        self.clock = ManualClock()
        self.retries = Retries(self.clock, random_fraction=lambda: random_fraction)

    async def ask(self, model: Scripted, seconds: float = 60.0) -> ModelAnswer:
        """Time moves in steps of 50 ms until there is an answer."""
        model.clock = self.clock
        deadline = self.clock.now() + seconds
        asking = asyncio.create_task(self.retries.complete(model, PROMPT, ignored, deadline=deadline))
        while not asking.done():
            for _ in range(20):  # everything that can happen now
                await asyncio.sleep(0)
            if not asking.done():
                await self.clock.advance(0.05)
        return await asking


async def failing(world: World, model: Scripted, seconds: float = 60.0) -> ModelTrouble:
    with pytest.raises(ModelTrouble) as raised:
        await world.ask(model, seconds)
    return raised.value


async def test_an_answer_at_once_is_given_as_it_is() -> None:
    model = Scripted("well")
    answered = await World().ask(model)
    assert (answered.text, answered.usage.calls, len(model.asked)) == ("well", 1, 1)


async def test_the_usage_of_all_attempts_adds_up() -> None:
    answered = await World().ask(Scripted(OVERLOADED, OVERLOADED, "well"))
    assert answered.text == "well"
    assert answered.usage == Usage(calls=3, input_tokens=30, output_tokens=5)


async def test_after_three_attempts_it_is_told() -> None:
    model = Scripted(OVERLOADED)
    trouble = await failing(World(), model)
    assert len(model.asked) == 3
    assert trouble.usage.calls == 3
    assert trouble.usage.input_tokens == 30


@pytest.mark.parametrize(("random_fraction", "pauses"), [(0.0, [0.25, 0.5]), (1.0, [0.5, 1.0])])
async def test_pauses_double_and_are_jittered(random_fraction: float, pauses: list[float]) -> None:
    model = Scripted(OVERLOADED)
    await failing(World(random_fraction), model)
    waited = [b - a for a, b in pairwise(model.asked)]
    assert waited == pytest.approx(pauses, abs=0.06)


@pytest.mark.parametrize(
    "kind", [TroubleKind.AUTH, TroubleKind.TOO_LONG, TroubleKind.BAD_REQUEST, TroubleKind.REFUSED]
)
async def test_what_will_not_change_is_not_tried_again(kind: TroubleKind) -> None:
    model = Scripted(kind)
    assert (await failing(World(), model)).kind is kind
    assert len(model.asked) == 1


async def test_nothing_is_repeated_once_text_was_shown() -> None:
    model = Scripted(OVERLOADED, "well", says="I thi")
    assert (await failing(World(), model)).kind is OVERLOADED
    assert len(model.asked) == 1


async def test_a_sign_of_life_is_not_text() -> None:
    assert (await World().ask(Scripted(OVERLOADED, "well", says=""))).text == "well"


async def test_a_wait_that_was_asked_for_is_waited() -> None:
    model = Scripted(ModelTrouble(TroubleKind.RATE_LIMITED, "slow down", retry_after=7.0), "well")
    await World().ask(model)
    first, second = model.asked
    assert 7.0 <= second - first < 7.3


async def test_a_wait_beyond_the_deadline_is_told_at_once() -> None:
    world = World()
    model = Scripted(ModelTrouble(TroubleKind.RATE_LIMITED, "slow down", retry_after=90.0))
    before = world.clock.now()
    trouble = await failing(world, model)
    assert trouble.retry_after == 90.0
    assert world.clock.now() == before
    assert len(model.asked) == 1


async def test_the_deadline_ends_an_attempt_and_cancels_it() -> None:
    world = World()
    model = Scripted("hang")
    before = world.clock.now()
    trouble = await failing(world, model, seconds=2.0)
    assert trouble.kind is TroubleKind.TIMEOUT
    assert 2.0 <= world.clock.now() - before < 2.1
    assert (len(model.asked), model.cancelled) == (1, 1)


async def test_a_deadline_that_is_over_asks_for_nothing_long() -> None:
    assert (await failing(World(), Scripted("hang"), seconds=-1.0)).kind is TroubleKind.TIMEOUT


async def test_an_error_of_the_listener_is_nobodys_trouble() -> None:
    world = World()

    async def broken(_: str) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError):
        await world.retries.complete(Scripted("well"), PROMPT, broken, deadline=world.clock.now() + 9)
    assert world.retries.breakers.of("openai").state is State.CLOSED


# --- the breaker ---------------------------------------------------------------------------------------------


async def test_five_failures_in_a_row_open_the_breaker() -> None:
    world = World()
    model = Scripted(OVERLOADED)
    assert (await failing(world, model)).kind is OVERLOADED
    assert (await failing(world, model)).kind is OVERLOADED
    assert len(model.asked) == FAILURES
    trouble = await failing(world, model)
    assert trouble.kind is TroubleKind.RESTING
    assert trouble.retryable
    assert trouble.usage.calls == 0
    assert len(model.asked) == FAILURES
    assert trouble.sentence == "its model failed 5 times in a row and is not asked for another 30 s"


async def test_models_of_one_endpoint_share_its_breaker_and_others_do_not() -> None:
    world = World()
    for _ in range(2):
        await failing(world, Scripted(OVERLOADED, name="openai:a"))
    assert (await failing(world, Scripted("well", name="openai:b"))).kind is TroubleKind.RESTING
    for name in ("anthropic:a", "openai:a@http://127.0.0.1:1/v1"):
        assert (await world.ask(Scripted("well", name=name))).text == "well"


async def test_after_its_rest_one_attempt_tries_it() -> None:
    world = World()
    for _ in range(2):
        await failing(world, Scripted(OVERLOADED))
    await world.clock.advance(REST_SECONDS)
    assert (await world.ask(Scripted("well"))).text == "well"
    assert world.retries.breakers.of("openai").state is State.CLOSED


async def test_a_failed_try_doubles_the_rest() -> None:
    world = World()
    for _ in range(2):
        await failing(world, Scripted(OVERLOADED))
    await world.clock.advance(REST_SECONDS)
    model = Scripted(OVERLOADED)
    assert (await failing(world, model)).kind is OVERLOADED
    assert len(model.asked) == 1
    trouble = await failing(world, model)
    assert trouble.kind is TroubleKind.RESTING
    assert trouble.retry_after == pytest.approx(2 * REST_SECONDS, abs=1)


def test_the_rest_has_an_end() -> None:
    now = 0.0
    breaker = Breaker(lambda: now)
    for _ in range(FAILURES + 10):
        now += MAX_REST_SECONDS
        with pytest.raises(ModelTrouble), breaker.attempt():
            raise ModelTrouble(OVERLOADED, "on purpose")
    with pytest.raises(ModelTrouble) as raised, breaker.attempt():
        pass
    assert raised.value.retry_after == MAX_REST_SECONDS


def test_only_one_attempt_tries_at_a_time_and_a_cancelled_one_makes_room() -> None:
    now = 0.0
    breaker = Breaker(lambda: now)
    for _ in range(FAILURES):
        with pytest.raises(ModelTrouble), breaker.attempt():
            raise ModelTrouble(OVERLOADED, "on purpose")
    now = REST_SECONDS

    def cancelled_while_another_asks() -> None:
        with breaker.attempt():
            with pytest.raises(ModelTrouble, match="until another attempt"), breaker.attempt():
                pass
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        cancelled_while_another_asks()
    with breaker.attempt():
        pass
    assert breaker.state is State.CLOSED


def test_a_refusal_says_that_the_endpoint_works() -> None:
    breaker = Breaker(lambda: 0.0)
    for kind in [OVERLOADED] * (FAILURES - 1) + [TroubleKind.AUTH] + [OVERLOADED] * (FAILURES - 1):
        with pytest.raises(ModelTrouble), breaker.attempt():
            raise ModelTrouble(kind, "on purpose")
    assert breaker.state is State.CLOSED


def test_breakers_are_not_remembered_without_end() -> None:
    breakers = Breakers(lambda: 0.0)
    first = breakers.of("first")
    assert breakers.of("first") is first
    for number in range(2000):
        breakers.of(str(number))
    assert breakers.of("first") is not first
