"""One suite for the `Model` port, over both adapters and real sockets."""

import asyncio
import json
from typing import Any

import pytest

from moot.model.prompt import Prompt, PromptLine, ToolCall, ToolSpec
from moot.testing.fake_llm import Answer, Request, ScriptedCall, Spent
from tests.contract.model.conftest import MakeTalk
from tests.support.talking import KEY
from tests.support.waiting import PATIENCE

LOOK = ToolSpec("look", "Looks at something.", {"type": "object", "properties": {"at": {"type": "string"}}})
ENDLESS = "slow " * 50_000
"""Nobody hears it out by being slow."""
LONG = "The harbour is deep enough for every ship that calls. " * 40


@pytest.mark.req("P-03")
async def test_an_answer_streams_as_it_comes_and_is_given_back_whole(talk: MakeTalk) -> None:
    here = await talk(Answer("The sea is calm today."))
    answered = await here.ask("How is the sea?")
    assert answered.text == here.ear.text == "The sea is calm today."
    assert len([piece for piece in here.ear.pieces if piece]) == 5
    assert (answered.calls, answered.cut) == ((), False)
    assert here.request.body["stream"] is True
    assert here.request.lines == (("user", "How is the sea?"),)


async def test_text_is_heard_before_the_answer_is_over(talk: MakeTalk) -> None:
    here = await talk(Answer("one two three four", chunk_delay=0.02))
    asking = asyncio.create_task(here.ask())
    await asyncio.wait_for(here.ear.heard.wait(), PATIENCE)
    assert not asking.done()
    assert (await asking).text == "one two three four"


async def test_tool_calls_come_whole_with_the_text_before_them(talk: MakeTalk) -> None:
    calls = (ScriptedCall("look", {"at": "the sea"}, id="c1"), ScriptedCall("look", {}, id="c2"))
    here = await talk(Answer("Let me look.", calls=calls))
    answered = await here.ask(Prompt("", (PromptLine("user", "look!"),), tools=(LOOK,)))
    assert answered.text == "Let me look."
    assert [(call.id, call.name) for call in answered.calls] == [("c1", "look"), ("c2", "look")]
    assert [json.loads(call.arguments) for call in answered.calls] == [{"at": "the sea"}, {}]
    assert here.request.tools == ("look",)


async def test_broken_arguments_are_given_as_the_model_wrote_them(talk: MakeTalk) -> None:
    here = await talk(Answer(calls=(ScriptedCall("look", '{"at": "the s'), ScriptedCall("look", "}{ no"))))
    answered = await here.ask()
    assert [call.arguments for call in answered.calls] == ['{"at": "the s', "}{ no"]


async def test_calls_and_results_go_back_to_the_model(talk: MakeTalk) -> None:
    lines = (
        PromptLine("user", "look!"),
        PromptLine(
            "assistant",
            "I look.",
            calls=(ToolCall("c1", "look", '{"at": "sea"}'), ToolCall("c2", "look", "}{")),
        ),
        PromptLine("user", "calm", answers="c1"),
        PromptLine("user", "nothing there", answers="c2"),
    )
    here = await talk(Answer("It is calm."))
    await here.ask(Prompt("", lines, tools=(LOOK,)))
    messages = here.request.body["messages"]
    if here.provider == "anthropic":
        assert [message["role"] for message in messages] == ["user", "assistant", "user"]
        text, first, second = messages[1]["content"]
        assert text["text"] == "I look."
        assert first == {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "sea"}}
        assert second["input"] == {"unreadable": "}{"}
        assert [block["tool_use_id"] for block in messages[2]["content"]] == ["c1", "c2"]
    else:
        assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool"]
        assert messages[1]["content"] == "I look."
        assert [call["function"]["arguments"] for call in messages[1]["tool_calls"]] == [
            '{"at": "sea"}',
            "}{",
        ]
        assert [message["tool_call_id"] for message in messages[2:]] == ["c1", "c2"]


async def test_a_call_that_never_got_its_result_is_still_a_list_the_provider_takes(talk: MakeTalk) -> None:
    lines = (
        PromptLine("user", "result of nothing", answers="gone"),
        PromptLine("assistant", "", calls=(ToolCall("c1", "look", "{}"),)),
        PromptLine("user", "user: are you there?"),
    )
    here = await talk(Answer("Yes."))
    await here.ask(Prompt("", lines))
    messages = here.request.body["messages"]
    if here.provider == "anthropic":
        assert messages[0]["content"] == [{"type": "text", "text": "result of nothing"}]
        assert [block["type"] for block in messages[2]["content"]] == ["tool_result", "text"]
    else:
        assert messages[0] == {"role": "user", "content": "result of nothing"}
        assert [message["role"] for message in messages] == ["user", "assistant", "tool", "user"]
        assert messages[1]["content"] is None


@pytest.mark.req("K-06")
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((), [("user", 1)]),
        ((PromptLine("assistant", "mine"),), [("user", 1), ("assistant", 1), ("user", 1)]),
        (
            (PromptLine("user", "a"), PromptLine("user", "b"), PromptLine("assistant", "c")),
            [("user", 2), ("assistant", 1), ("user", 1)],
        ),
        ((PromptLine("user", "a"), PromptLine("assistant", " \n"), PromptLine("user", "b")), [("user", 2)]),
        (
            (PromptLine("assistant", "a"), PromptLine("assistant", "b"), PromptLine("user", "c")),
            [("user", 1), ("assistant", 2), ("user", 1)],
        ),
    ],
)
async def test_the_list_begins_with_the_user_and_goes_by_turns(
    talk: MakeTalk, lines: tuple[PromptLine, ...], expected: list[tuple[str, int]]
) -> None:
    here = await talk(Answer("well"))
    await here.ask(Prompt("", lines))
    messages = here.request.body["messages"]
    parts = [m["content"] if isinstance(m["content"], list) else m["content"].split("\n\n") for m in messages]
    assert [(m["role"], len(p)) for m, p in zip(messages, parts, strict=True)] == expected


async def test_usage_is_told_in_one_way_whoever_counts(talk: MakeTalk) -> None:
    here = await talk(Answer("well", usage=Spent(input=1000, output=20, cached=640)))
    usage = (await here.ask()).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (1000, 20, 640)
    assert (usage.calls, usage.model, usage.cost_usd) == (1, "some-model", None)


async def test_what_is_stable_is_read_from_the_cache_the_next_time(talk: MakeTalk) -> None:
    here = await talk(Answer("well"))
    said = (PromptLine("user", LONG), PromptLine("assistant", "I see."))
    first = await here.ask(Prompt(LONG, (*said, PromptLine("user", "first closing")), stable=2))
    grown = (
        *said,
        PromptLine("user", "first closing"),
        PromptLine("assistant", "well"),
        PromptLine("user", LONG),
    )
    second = await here.ask(Prompt(LONG, (*grown, PromptLine("user", "second closing")), stable=4))
    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens >= 1000
    assert second.usage.input_tokens > second.usage.cached_tokens


async def test_the_marks_for_the_cache_stand_where_the_prompt_says(talk: MakeTalk) -> None:
    here = await talk(Answer("well"))
    lines = tuple(PromptLine("user" if n % 2 else "assistant", f"line {n}") for n in range(1, 6))
    await here.ask(Prompt("Be brief.", lines, tools=(LOOK,), stable=3))
    body = here.request.body
    if here.provider == "anthropic":
        marked = [b["text"] for m in body["messages"] for b in m["content"] if "cache_control" in b]
        assert marked == ["line 3"]
        assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    else:
        assert "cache_control" not in json.dumps(body)
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_an_answer_that_was_cut_says_so(talk: MakeTalk) -> None:
    here = await talk(Answer("and then", cut=True))
    assert (await here.ask()).cut is True


@pytest.mark.req("P-03")
async def test_cancelling_closes_the_connection(talk: MakeTalk) -> None:
    here = await talk(Answer(ENDLESS, chunk_delay=0.01))
    asking = asyncio.create_task(here.ask())
    await asyncio.wait_for(here.ear.heard.wait(), PATIENCE)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.wait_for(here.llm.left(), PATIENCE)


async def test_a_listener_that_fails_ends_the_answer_with_its_own_error(talk: MakeTalk) -> None:
    here = await talk(Answer(ENDLESS, chunk_delay=0.01))

    async def broken(_: str) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await here.model.complete(Prompt("", (PromptLine("user", "hello"),)), broken)
    await asyncio.wait_for(here.llm.left(), PATIENCE)


async def test_several_answers_at_once_do_not_mix(talk: MakeTalk) -> None:
    def echo(request: Request) -> Answer:
        return Answer(f"you said {request.last}", chunk_delay=0.002)

    here = await talk(echo)
    answers = await asyncio.gather(*(here.ask(f"number {n}") for n in range(8)))
    assert [answer.text for answer in answers] == [f"you said number {n}" for n in range(8)]


async def test_the_key_goes_into_a_header_and_nowhere_else(talk: MakeTalk) -> None:
    here = await talk(Answer("well"))
    await here.ask()
    assert here.request.headers["authorization"] == f"Bearer {KEY}"
    assert KEY.encode() not in here.request.raw
    assert here.request.headers["accept-encoding"] == "identity"


async def test_a_model_is_named_as_in_the_settings(talk: MakeTalk) -> None:
    here = await talk(Answer("well"))
    assert here.model.name == f"{here.provider}:some-model"


async def test_odd_texts_pass_unchanged(talk: MakeTalk) -> None:
    odd = 'quotes " and \\ and \u2028 and \U0001f600 and \x07'

    def echo(request: Request) -> Answer:
        return Answer(request.last)

    here = await talk(echo)
    assert (await here.ask(odd)).text == odd


async def test_a_listener_is_told_of_life_without_text(talk: MakeTalk) -> None:
    here = await talk(Answer(calls=(ScriptedCall("look", {"at": "the sea"}),)))
    await here.ask()
    pieces: list[Any] = here.ear.pieces
    assert len(pieces) >= 3
    assert set(pieces) == {""}
