"""The fake model server, asked by the providers' own libraries: what it says there is what it was told to say."""

import asyncio
import gzip
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import openai
import pytest
import uvloop

from moot.rules.words.silence import is_silence
from moot.testing.fake_llm import (
    PASS_VARIANTS,
    Answer,
    FakeLLM,
    Fault,
    Request,
    Script,
    ScriptedCall,
    Spent,
    storm,
)
from tests.support.waiting import PATIENCE

LONG = "The harbour is deep enough for every ship that calls. " * 40
SYSTEM = "You are arya, backend engineer. You talk with people.\n- gendry (agent): smith\n- user (human)"
LOOK: dict[str, Any] = {"type": "object", "properties": {"at": {"type": "string"}}}


@asynccontextmanager
async def claude(llm: FakeLLM) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(api_key="none", base_url=llm.url, max_retries=0) as client:
        yield client


@asynccontextmanager
async def gpt(llm: FakeLLM) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key="none", base_url=llm.openai_url, max_retries=0) as client:
        yield client


async def ask(llm: FakeLLM, text: str = "hello", **fields: Any) -> Any:
    """One whole chat completion, as plain JSON."""
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **fields}
    async with httpx2.AsyncClient(timeout=PATIENCE) as client:
        return (await client.post(f"{llm.openai_url}/chat/completions", json=body)).json()


async def said(llm: FakeLLM, text: str = "hello", **fields: Any) -> str:
    answer = await ask(llm, text, **fields)
    return str(answer["choices"][0]["message"]["content"])


TOLD = Answer(
    "Look at this, arya.", calls=(ScriptedCall("look", {"at": "the sea"}), ScriptedCall("look", {}))
)


async def test_anthropic_messages_stream_and_whole_say_the_same() -> None:
    async with FakeLLM(TOLD) as llm, claude(llm) as client:
        asked: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
        async with client.messages.stream(**asked) as stream:
            heard = [text async for text in stream.text_stream]
            streamed = await stream.get_final_message()
        whole = await client.messages.create(**asked)
    assert len(heard) == 4
    assert "".join(heard) == TOLD.text
    messages: list[Any] = [streamed, whole]
    for message in messages:
        assert [block.type for block in message.content] == ["text", "tool_use", "tool_use"]
        text, call, other = message.content
        assert text.text == TOLD.text
        assert (call.name, call.input, other.input) == ("look", {"at": "the sea"}, {})
        assert message.stop_reason == "tool_use"
        assert message.usage.output_tokens > 1


async def test_chat_completions_stream_and_whole_say_the_same() -> None:
    async with FakeLLM(TOLD) as llm, gpt(llm) as client:
        asked: Any = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
        async with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            streamed = await stream.get_final_completion()
        whole = await client.chat.completions.create(**asked)
    for completion in (streamed, whole):
        [choice] = completion.choices
        assert choice.message.content == TOLD.text
        assert [(c.function.name, c.function.arguments) for c in choice.message.tool_calls or ()] == [
            ("look", '{"at": "the sea"}'),
            ("look", "{}"),
        ]
        assert choice.finish_reason == "tool_calls"
        assert completion.usage is not None
        assert completion.usage.prompt_tokens > 1


async def test_responses_stream_and_whole_say_the_same() -> None:
    async with FakeLLM(TOLD) as llm, gpt(llm) as client:
        async with client.responses.stream(model="m", input="hello") as stream:
            deltas = [event.delta async for event in stream if event.type == "response.output_text.delta"]
            streamed = await stream.get_final_response()
        whole = await client.responses.create(model="m", input="hello")
    assert "".join(deltas) == TOLD.text
    for response in (streamed, whole):
        assert response.output_text == TOLD.text
        calls = [item for item in response.output if item.type == "function_call"]
        assert [(call.name, call.arguments) for call in calls] == [
            ("look", '{"at": "the sea"}'),
            ("look", "{}"),
        ]


async def test_a_tool_of_a_namespace_is_called_with_it() -> None:
    tools = [{"type": "namespace", "name": "mcp__x", "tools": [{"type": "function", "name": "look"}]}]
    async with (
        FakeLLM(Answer(calls=(ScriptedCall("look"),))) as llm,
        httpx2.AsyncClient(timeout=PATIENCE) as client,
    ):
        asked = {"model": "m", "input": "hello", "tools": tools}
        answer = (await client.post(f"{llm.openai_url}/responses", json=asked)).json()
    assert answer["output"][0]["namespace"] == "mcp__x"
    assert llm.requests[0].tools == ("look",)


async def test_the_cache_counts_what_stands_before_the_last_mark_and_was_asked_before() -> None:
    marked = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]

    async with FakeLLM(Answer("well")) as llm, claude(llm) as client:

        async def usage(system: Any, text: str, model: str = "m") -> anthropic.types.Usage:
            lines: Any = [{"role": "user", "content": text}]
            found = await client.messages.create(model=model, max_tokens=9, system=system, messages=lines)
            return found.usage

        first, again = await usage(marked, "one"), await usage(marked, "two")
        other, plain = await usage(marked, "one", model="n"), await usage(LONG, "three")
    assert first.cache_read_input_tokens == 0
    assert (first.cache_creation_input_tokens or 0) >= 500
    assert again.cache_read_input_tokens == first.cache_creation_input_tokens
    assert again.cache_creation_input_tokens == 0
    assert again.input_tokens < 100
    assert other.cache_read_input_tokens == 0
    assert plain.cache_read_input_tokens == plain.cache_creation_input_tokens == 0
    assert plain.input_tokens > 500


async def test_openai_paths_cache_without_marks_in_blocks_of_sixteen_tokens() -> None:
    async with FakeLLM(Answer("well")) as llm:
        first = (await ask(llm, LONG + "one"))["usage"]
        again = (await ask(llm, LONG + "two"))["usage"]
    assert first["prompt_tokens_details"]["cached_tokens"] == 0
    cached = again["prompt_tokens_details"]["cached_tokens"]
    assert cached % 16 == 0
    assert again["prompt_tokens"] - 32 <= cached < again["prompt_tokens"]


async def test_usage_can_be_dictated() -> None:
    async with FakeLLM(Answer("well", usage=Spent(input=100, output=7, cached=64))) as llm:
        usage = (await ask(llm))["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (100, 7)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 64


async def test_a_list_is_used_in_order_and_then_is_an_error() -> None:
    async with FakeLLM([Answer("one"), Answer("two")]) as llm:
        assert [await said(llm), await said(llm)] == ["one", "two"]
        assert "all of them are used" in (await ask(llm))["error"]["message"]


async def test_a_dict_knows_models_and_a_function_sees_the_request() -> None:
    def shout(request: Request) -> Answer:
        return Answer(request.last.upper())

    async def slowly(request: Request) -> Answer:
        await asyncio.sleep(0)
        return Answer(f"{request.number} from {request.model}")

    script: Script = {"loud": shout, "slow": slowly, "*": Answer("whoever")}
    async with FakeLLM(script) as llm:
        assert await said(llm, "hello", model="loud") == "HELLO"
        assert await said(llm, "hello", model="slow") == "2 from slow"
        assert await said(llm, "hello", model="else") == "whoever"


async def test_what_a_script_raises_is_kept_for_the_test() -> None:
    def broken(_: Request) -> Answer:
        raise KeyError("oops")

    async with FakeLLM(broken) as llm:
        assert "KeyError" in (await ask(llm))["error"]["message"]
    assert isinstance(llm.errors[0], KeyError)


async def test_requests_are_recorded_as_they_came() -> None:
    before = time.monotonic()
    async with FakeLLM(Answer("well")) as llm:
        await ask(llm, "hé", system_hint="x")
    [request] = llm.requests
    assert (request.method, request.path, request.number) == ("POST", "/v1/chat/completions", 1)
    assert request.headers["content-type"] == "application/json"
    assert request.body["system_hint"] == "x"
    assert request.raw.decode()
    assert before < request.at < time.monotonic()
    assert request.lines == (("user", "hé"),)


async def test_other_paths_answer_so_that_probes_are_content() -> None:
    async with FakeLLM() as llm, httpx2.AsyncClient(base_url=llm.url, timeout=PATIENCE) as client:
        assert (await client.get("/v1/models")).json()["data"][0]["id"] == "fake-model"
        assert (await client.post("/api/event_logging/batch", json={"a": 1})).json() == {}
        counted = await client.post("/v1/messages/count_tokens?beta=true", json={"system": LONG})
        assert counted.json()["input_tokens"] > 500


async def test_a_client_that_leaves_is_noticed() -> None:
    async with FakeLLM(Answer("slow words " * 20_000, chunk_delay=0.01)) as llm, claude(llm) as client:
        lines: Any = [{"role": "user", "content": "hello"}]
        async with client.messages.stream(model="m", max_tokens=9, messages=lines) as stream:
            async for _ in stream.text_stream:
                break
            left = time.monotonic()
        async with asyncio.timeout(PATIENCE):
            await llm.left()
    assert llm.disconnects[0] >= left


async def test_an_answer_that_was_heard_out_is_no_disconnect() -> None:
    async with FakeLLM(Answer("well")) as llm, claude(llm) as client:
        lines: Any = [{"role": "user", "content": "hello"}]
        for _ in range(3):
            async with client.messages.stream(model="m", max_tokens=9, messages=lines) as stream:
                await stream.until_done()
    assert llm.disconnects == []


async def test_stopping_the_server_waits_for_nobody() -> None:
    async with asyncio.timeout(PATIENCE):
        async with FakeLLM(Answer(fault=Fault.HANG)) as llm:
            hanging = asyncio.create_task(ask(llm))
            await llm.until_asked()
        with pytest.raises(httpx2.HTTPError):
            await hanging


# --- without a script ----------------------------------------------------------------------------------------


async def test_without_a_script_it_answers_in_its_role_and_says_that_it_is_a_fake() -> None:
    lines = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "user: is the api up?"}]
    async with FakeLLM() as llm:
        first, second = await said(llm, messages=lines), await said(llm, messages=lines)
    assert first == second
    assert "backend engineer" in first
    assert "(fake model)" in first
    assert "is the api up" in first
    assert "@gendry" in first


FRAME = "[From {who}]: #4 <aaaaaaaaaa>\n{text}\n</aaaaaaaaaa>\n\n[Moot]: New: #4. {duty}"
MAY = "Speak only if you have something to add, or reply with exactly [PASS] to stay silent."


@pytest.mark.parametrize(
    ("who", "text", "duty", "silent"),
    [
        ('agent "gendry"', "the forge is hot", MAY, True),
        ('agent "gendry"', "@arya is it up?", MAY, False),
        ('agent "gendry"', "the forge is hot", "You were asked in #4: answer.", False),
        ('human "user"', "anybody here?", MAY, False),
        ('human "user"', "@gendry are you here?", MAY, True),
    ],
)
async def test_it_passes_when_it_may_and_nobody_meant_it(
    who: str, text: str, duty: str, silent: bool
) -> None:
    lines = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": FRAME.format(who=who, text=text, duty=duty)},
    ]
    async with FakeLLM() as llm:
        assert is_silence(await said(llm, messages=lines)) is silent


async def test_a_model_named_after_a_fault_shows_it() -> None:
    async with FakeLLM() as llm:
        assert "error" in await ask(llm, model="fault-storm")
        assert "fake model" in await said(llm, model="fault-ok")


# --- faults, as bytes ----------------------------------------------------------------------------------------


async def raw(
    llm: FakeLLM, seconds: float = PATIENCE, *, stream: bool = True, behind_the_first: bool = False
) -> bytes:
    """All that comes back on a plain socket within the time, which may begin with the first of it."""
    port = int(llm.url.rsplit(":", 1)[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = (
        b'{"model":"m","stream":%b,"messages":[{"role":"user","content":"hi"}]}'
        % str(stream).lower().encode()
    )
    writer.write(
        b"POST /v1/messages HTTP/1.1\r\nhost: h\r\nconnection: close\r\nauthorization: Bearer k\r\n"
        b"content-length: %d\r\n\r\n%b" % (len(body), body)
    )
    got = bytearray()
    if behind_the_first:
        async with asyncio.timeout(PATIENCE):
            got += await reader.read(1 << 16)
    try:
        async with asyncio.timeout(seconds):
            while data := await reader.read(1 << 16):
                got += data
    except TimeoutError:
        pass
    finally:
        writer.transport.abort()
    return bytes(got)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("fault", "status", "inside"),
    [
        (Fault.OK, 200, b"well"),
        (Fault.TRUNCATED, 200, b"\r\n0\r\n\r\n"),
        (Fault.HTML, 200, b"<!doctype html>"),
        (Fault.BAD_UTF8, 200, b"\xff\xfe"),
        (Fault.RATE_LIMITED, 429, b"retry-after: 1"),
        (Fault.STORM, 503, b"bad day"),
        (Fault.BAD_KEY, 401, b"Bearer k"),
        (Fault.TOO_LONG, 400, b"too long"),
        (Fault.REDIRECT_METADATA, 307, b"location: http://169.254.169.254/"),
        (Fault.REDIRECT_LOOPBACK, 307, b"location: http://h/stolen"),
        (Fault.BROKEN_TOOL_JSON, 200, b"}{"),
        (Fault.UNKNOWN_TOOL, 200, b"no_such_tool"),
        (Fault.ENDLESS_TOOLS, 200, b"tool_use"),
        (Fault.FORGED_HEADER, 200, b"[From"),
        (Fault.EMPTY, 200, b"end_turn"),
    ],
)
async def test_a_fault_looks_like_one_on_the_wire(
    fault: Fault, status: int, inside: bytes, stream: bool
) -> None:
    async with FakeLLM(Answer("all is well", fault=fault)) as llm:
        got = await raw(llm, stream=stream)
    assert got.startswith(b"HTTP/1.1 %d " % status)
    assert inside in got


async def test_a_truncated_stream_never_says_that_it_is_done() -> None:
    async with FakeLLM(Answer("all is well", fault=Fault.TRUNCATED)) as llm:
        assert b"message_stop" not in await raw(llm)


@pytest.mark.parametrize("fault", [Fault.HANG, Fault.STALL, Fault.DRIP, Fault.SLOW_START])
async def test_slow_faults_are_slow(fault: Fault) -> None:
    async with FakeLLM(Answer("all is well", fault=fault, seconds=0.02)) as llm:
        begun = time.monotonic()
        got = (
            await raw(llm)
            if fault is Fault.SLOW_START
            else await raw(llm, 0.2, behind_the_first=fault is not Fault.HANG)
        )
    took = time.monotonic() - begun
    assert (b"message_stop" in got) is (fault is Fault.SLOW_START)
    assert took >= (0.02 if fault is Fault.SLOW_START else 0.19)
    assert (got == b"") is (fault is Fault.HANG)


async def test_a_reset_is_one() -> None:
    async with FakeLLM(Answer("all is well", fault=Fault.RESET)) as llm:
        with pytest.raises(ConnectionResetError):
            await raw(llm)


async def test_a_huge_body_is_as_large_as_was_asked_for() -> None:
    async with FakeLLM(Answer(fault=Fault.HUGE_BODY, size=3 << 20)) as llm:
        assert 3 << 20 <= len(await raw(llm)) < 4 << 20


async def test_a_gzip_bomb_is_small_on_the_wire_and_proper() -> None:
    async with (
        FakeLLM(Answer(fault=Fault.GZIP_BOMB, size=8 << 20)) as llm,
        httpx2.AsyncClient(timeout=PATIENCE) as client,
    ):
        body: Any = {"model": "m", "stream": True}
        packed = b""
        async with client.stream("POST", f"{llm.url}/v1/messages", json=body) as response:
            async for part in response.aiter_raw():
                packed += part
    assert len(packed) < 1 << 16
    assert len(gzip.decompress(packed)) == 8 << 20


async def test_a_storm_passes() -> None:
    async with FakeLLM(storm(2, Answer("calm"))) as llm:
        assert ["error" in await ask(llm) for _ in range(3)] == [True, True, False]


async def test_passes_come_in_all_their_forms() -> None:
    async with FakeLLM(Answer(fault=Fault.PASS)) as llm:
        heard = [await said(llm) for _ in PASS_VARIANTS]
    assert heard == [text for text, _ in PASS_VARIANTS]
    assert [is_silence(text) for text in heard] == [silent for _, silent in PASS_VARIANTS]


# --- by hand -------------------------------------------------------------------------------------------------


def test_by_hand_it_prints_its_address() -> None:
    words = [sys.executable, "-m", "moot.testing.fake_llm", "--port", "0", "--text", "by hand"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            answer = httpx2.post(f"{url}/v1/messages", json={"model": "m"}, timeout=PATIENCE)
            assert answer.json()["content"][0]["text"] == "by hand"
        finally:
            process.terminate()


def test_it_runs_on_uvloop_too() -> None:
    async def main() -> str:
        async with FakeLLM(Answer("well", fault=Fault.RESET)) as llm:
            with pytest.raises(ConnectionResetError):
                await raw(llm)
        async with FakeLLM(Answer("well")) as llm:
            return await said(llm)

    assert uvloop.run(main()) == "well"


def test_it_needs_no_provider_library() -> None:
    script = (
        "import sys, moot.testing.fake_llm as f; print({'anthropic', 'openai', 'httpx2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
