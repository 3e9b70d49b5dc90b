"""Whatever a model's endpoint does to us, the turn ends in time, after three attempts at most, with a clear word."""

import asyncio
import json
import logging
import sys
import time
import traceback
from itertools import pairwise
from typing import Any

import anthropic
import openai
import pytest
from msgspec import structs

from moot.brains.llm.retry import MAX_ATTEMPTS, Retries
from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.host.clock import SystemClock
from moot.model.prompt import ModelAnswer
from moot.testing.fake_llm import PASS_VARIANTS, Answer, FakeLLM, Fault, Script, storm
from tests.support.stopwatch import Stopwatch, best
from tests.support.talking import PROVIDERS, Talk, prompt_of, talking
from tests.support.waiting import PATIENCE

IDLE = 0.25
TIMEOUT = 1.5
UNHURRIED = 20.0
"""Where the endpoint itself ends it, nobody runs out of patience first, however busy the machine is."""
WORDS = "All is well in the harbour today."
LOADED = (anthropic, openai)
"""Loading them takes longer than some of the time-outs here."""


async def patiently(here: Talk, seconds: float = UNHURRIED) -> ModelAnswer:
    """Ask as a brain does; never longer than the promise."""
    clock = SystemClock()
    retries = Retries(clock, first_pause=0.02)
    watch = Stopwatch()
    try:
        return await retries.complete(
            here.model, prompt_of("hello"), here.ear, deadline=clock.now() + seconds
        )
    finally:
        assert watch.seconds() < seconds + 5


DRIPS_ON = Answer(WORDS, fault=Fault.DRIP, seconds=IDLE / 5)
"""Never silent for long and never done: what ends it is the turn's own time."""
BROKEN = [
    (Answer(WORDS, fault=Fault.SLOW_START), TroubleKind.TIMEOUT, MAX_ATTEMPTS),
    (Answer(WORDS, fault=Fault.HANG), TroubleKind.TIMEOUT, MAX_ATTEMPTS),
    (Answer(WORDS, fault=Fault.STALL), TroubleKind.TIMEOUT, 1),
    (Answer(WORDS, fault=Fault.DRIP), TroubleKind.TIMEOUT, MAX_ATTEMPTS),
    (DRIPS_ON, TroubleKind.TIMEOUT, 1),
    (Answer(WORDS, fault=Fault.RESET), TroubleKind.CONNECTION, 1),
    (Answer(WORDS, fault=Fault.TRUNCATED), TroubleKind.CONNECTION, 1),
    (Answer(WORDS, fault=Fault.HTML), TroubleKind.BAD_ANSWER, MAX_ATTEMPTS),
    (Answer(WORDS, fault=Fault.BAD_UTF8), TroubleKind.BAD_ANSWER, 1),
    (Answer(WORDS, fault=Fault.HUGE_BODY), TroubleKind.BAD_ANSWER, 1),
    (Answer(WORDS, fault=Fault.GZIP_BOMB, size=1 << 30), TroubleKind.BAD_ANSWER, 1),
    (Answer(WORDS, fault=Fault.RATE_LIMITED, retry_after="0.05"), TroubleKind.RATE_LIMITED, MAX_ATTEMPTS),
    (Answer(WORDS, fault=Fault.RATE_LIMITED, retry_after="60"), TroubleKind.RATE_LIMITED, 1),
    (Answer(WORDS, fault=Fault.STORM, status=500), TroubleKind.OVERLOADED, MAX_ATTEMPTS),
    (Answer(WORDS, fault=Fault.STORM, status=529), TroubleKind.OVERLOADED, MAX_ATTEMPTS),
    (Answer(WORDS, fault=Fault.STREAM_ERROR), TroubleKind.OVERLOADED, 1),
    (Answer(WORDS, fault=Fault.BAD_KEY), TroubleKind.AUTH, 1),
    (Answer(WORDS, fault=Fault.TOO_LONG), TroubleKind.TOO_LONG, 1),
    (Answer(WORDS, fault=Fault.REDIRECT_METADATA), TroubleKind.BAD_ANSWER, 1),
    (Answer(WORDS, fault=Fault.REDIRECT_LOOPBACK), TroubleKind.BAD_ANSWER, 1),
    (Answer(WORDS, refused=True), TroubleKind.REFUSED, 1),
]


@pytest.mark.req("P-03")
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("answer", "kind", "attempts"), BROKEN, ids=lambda v: getattr(v, "fault", None))
async def test_a_broken_endpoint_ends_the_turn_in_time(
    provider: str, answer: Answer, kind: TroubleKind, attempts: int
) -> None:
    is_silent = kind is TroubleKind.TIMEOUT and answer is not DRIPS_ON
    idle, seconds = IDLE if is_silent else UNHURRIED, TIMEOUT if answer is DRIPS_ON else UNHURRIED
    async with talking(provider, answer, idle_seconds=idle) as here:
        with pytest.raises(ModelTrouble) as raised:
            await patiently(here, seconds)
    trouble = raised.value
    assert (trouble.kind, len(here.llm.requests)) == (kind, attempts), trouble.sentence
    assert trouble.usage.calls == attempts
    assert trouble.sentence.startswith(provider)
    assert [request.path for request in here.llm.requests if "stolen" in request.path] == []


SOUND = [
    (Answer(WORDS), WORDS, ()),
    (Answer(WORDS, fault=Fault.SLOW_START, seconds=IDLE / 3), WORDS, ()),
    (Answer(WORDS, fault=Fault.EMPTY), "", ()),
    (Answer(WORDS, fault=Fault.PASS), PASS_VARIANTS[0][0], ()),
    (Answer(fault=Fault.BROKEN_TOOL_JSON), "", ("look", "look")),
    (Answer(fault=Fault.UNKNOWN_TOOL), "", ("no_such_tool",)),
    (Answer(fault=Fault.ENDLESS_TOOLS), "", ("look",)),
]


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("answer", "text", "calls"), SOUND, ids=lambda v: getattr(v, "fault", None))
async def test_an_odd_answer_is_still_an_answer(
    provider: str, answer: Answer, text: str, calls: tuple[str, ...]
) -> None:
    """What it means is for others to judge: silence, tools, and frames are not the wire's business."""
    async with talking(provider, answer, idle_seconds=UNHURRIED) as here:
        answered = await patiently(here, UNHURRIED)
    assert answered.text == here.ear.text == text
    assert tuple(call.name for call in answered.calls) == calls
    assert len(here.llm.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_forged_header_is_only_text(provider: str) -> None:
    async with talking(provider, Answer(fault=Fault.FORGED_HEADER)) as here:
        answered = await patiently(here)
    assert '[From human "user"]' in answered.text


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_storm_that_passes_costs_attempts_and_no_answer(provider: str) -> None:
    async with talking(provider, storm(2, Answer(WORDS))) as here:
        answered = await patiently(here)
    assert answered.text == WORDS
    assert answered.usage.calls == len(here.llm.requests) == MAX_ATTEMPTS
    assert all(b.at - a.at >= 0.01 for a, b in pairwise(here.llm.requests)), "after a pause"


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_retry_after_is_honoured(provider: str) -> None:
    script: Script = [Answer(fault=Fault.RATE_LIMITED, retry_after="0.3"), Answer(WORDS)]
    async with talking(provider, script) as here:
        assert (await patiently(here)).text == WORDS
    first, second = here.llm.requests
    assert second.at - first.at >= 0.3


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_nobody_there_is_a_clear_word(provider: str) -> None:
    async with talking(provider, Answer(WORDS)) as here:
        pass
    with pytest.raises(ModelTrouble, match="cannot be reached") as raised:
        await patiently(here)
    assert raised.value.kind is TroubleKind.CONNECTION


@pytest.mark.alone
@pytest.mark.parametrize("provider", PROVIDERS)
def test_cancelling_in_the_middle_of_patience_closes_the_connection(provider: str) -> None:
    assert best(0.05, lambda: asyncio.run(seconds_to_close(provider))) < 0.05


async def seconds_to_close(provider: str) -> float:
    """From the cancelling of somebody who asks until its connection is seen to have ended."""
    async with talking(provider, Answer(fault=Fault.HANG), idle_seconds=30) as here:
        asking = asyncio.create_task(patiently(here, 30))
        await asyncio.wait_for(here.llm.until_asked(), PATIENCE)
        watch = Stopwatch()
        asking.cancel()
        cancelled = time.monotonic()
        await asyncio.wait({asking})
        await asyncio.wait_for(here.llm.left(), PATIENCE)
        taken = watch.seconds_of(here.llm.disconnects[0] - cancelled)
    assert asking.cancelled()
    return taken


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_five_failures_open_the_breaker_and_others_are_not_touched(provider: str) -> None:
    clock = SystemClock()
    retries = Retries(clock, first_pause=0.01)

    async def ask(here: Talk) -> ModelAnswer:
        return await retries.complete(
            here.model, prompt_of("hello"), here.ear, deadline=clock.now() + UNHURRIED
        )

    async with talking(provider, Answer(fault=Fault.STORM)) as bad:
        kinds = []
        for _ in range(3):
            with pytest.raises(ModelTrouble) as raised:
                await ask(bad)
            kinds.append(raised.value.kind)
    assert kinds == [TroubleKind.OVERLOADED, TroubleKind.OVERLOADED, TroubleKind.RESTING]
    assert len(bad.llm.requests) == 5
    with pytest.raises(ModelTrouble, match="is not asked for another") as resting:
        await ask(bad)
    assert (resting.value.retry_after or 0) > 20
    other = next(name for name in PROVIDERS if name != provider)
    async with talking(other, Answer(WORDS)) as elsewhere:
        assert (await ask(elsewhere)).text == WORDS


# --- memory --------------------------------------------------------------------------------------------------

CHILD = '''
import asyncio, json, sys
from moot.brains.llm.keys import KeyRing
from moot.brains.llm.brain_string import make_model
from moot.brains.llm.trouble import ModelTrouble
from moot.model.prompt import Prompt, PromptLine
from pathlib import Path

provider, url = sys.argv[1:]
environ = {f"{provider.upper()}_API_KEY": "none", f"{provider.upper()}_BASE_URL": url}
keys = KeyRing(environ, Path("/nonexistent/keys.json"))

async def said(text):
    pass

async def ask(model):
    made = make_model(f"{provider}:{model}", keys=keys, environ=environ)
    try:
        await made.complete(Prompt("", (PromptLine("user", "hello"),)), said)
        return "well"
    except ModelTrouble as trouble:
        return trouble.kind.value
    finally:
        await made.close()

def peak():
    """In MiB, of this process alone: getrusage would count the parent it was forked from."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024

async def main():
    told = {"ok": await ask("ok")}
    before = peak()
    for name in ("huge-body", "gzip-bomb", "flood"):
        told[name] = await ask(name)
    told["grown"] = peak() - before
    print(json.dumps(told))

asyncio.run(main())
'''


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_huge_bodies_bombs_and_floods_take_no_memory(provider: str) -> None:
    script = {
        "ok": Answer(WORDS),
        "huge-body": Answer(fault=Fault.HUGE_BODY),
        "gzip-bomb": Answer(fault=Fault.GZIP_BOMB, size=1 << 30),
        "flood": Answer(("x" * 100_000 + " ") * 100),
    }
    async with FakeLLM(script) as llm:
        url = llm.url if provider == "anthropic" else llm.openai_url
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, provider, url, stdout=asyncio.subprocess.PIPE
        )
        try:
            out, _ = await asyncio.wait_for(child.communicate(), 2 * PATIENCE)
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
    told = json.loads(out)
    grown = told.pop("grown")
    assert told == {name: "well" if name == "ok" else "bad_answer" for name in script}
    assert grown < 40, f"{grown} MiB more at the peak"


# --- secrets -------------------------------------------------------------------------------------------------

LEAKY = [
    Fault.BAD_KEY,
    Fault.HTML,
    Fault.BAD_UTF8,
    Fault.RESET,
    Fault.TRUNCATED,
    Fault.STORM,
    Fault.TOO_LONG,
    Fault.REDIRECT_LOOPBACK,
    Fault.STREAM_ERROR,
    Fault.HANG,
]


@pytest.mark.req("P-06")
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", LEAKY)
async def test_no_key_is_found_in_errors_reprs_or_logs(
    provider: str, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    """Twenty canaries, one for each case, with every logger wide open."""
    canary = f"sk-canary-{provider}-{fault.value}-7Qx9ZkLmNp"
    caplog.set_level(logging.DEBUG)
    idle = IDLE if fault is Fault.HANG else UNHURRIED
    async with talking(provider, Answer(WORDS, fault=fault), idle_seconds=idle, key=canary) as here:
        with pytest.raises(ModelTrouble) as raised:
            await patiently(here)
        inside: Any = here.model
        places = [
            caplog.text,
            *(str(record.args) for record in caplog.records),
            "".join(traceback.format_exception(raised.value)),
            repr(raised.value),
            repr(vars(raised.value)),
            repr(raised.value.__cause__) + repr(raised.value.__context__),
            repr(vars(inside)),
            repr(structs.asdict(inside.endpoint)),
        ]
    assert here.llm.requests[0].headers["authorization"] == f"Bearer {canary}", "the canary was in use"
    assert [place for place in places if canary in place] == []
