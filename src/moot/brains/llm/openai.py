"""OpenAI chat completions through OpenAI's own library, for OpenAI and for every server that is compatible.

Above: brain_string.py, which imports this module when a model is first asked. Below: attempt.py, prompt_lines.py,
transport.py.

OpenAI itself accepts any order of lines. Compatible servers fill templates that often refuse two user lines in a row,
which cannot be seen from outside: for them neighbours are merged (K-06).
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from msgspec import structs
from openai import AsyncOpenAI, Omit, omit
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk

from moot.brains.llm.answer import PartialAnswer
from moot.brains.llm.attempt import Pieces, query, read_answer
from moot.brains.llm.endpoint import ModelEndpoint
from moot.brains.llm.prices import cost
from moot.brains.llm.prompt_lines import MarkedLine, MergedLines, merge_lines, repair_lines
from moot.brains.llm.transport import new_client
from moot.model.json import Json, JsonObject
from moot.model.prompt import ModelAnswer, Prompt, ToolSpec, Usage


class OpenAIModel:
    def __init__(self, endpoint: ModelEndpoint) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        self._client = AsyncOpenAI(
            api_key=endpoint.key.reveal() if endpoint.key else "none",
            base_url=endpoint.url,
            max_retries=0,
            http_client=new_client(endpoint.idle_seconds),
        )
        if not endpoint.is_own:
            # The library takes these from the environment; they are not for another provider.
            self._client.organization = self._client.project = None
        # Servers without keys get none: some refuse an invented one.
        self._headers: dict[str, str | Omit] = {} if endpoint.key else {"Authorization": omit}
        self._completions = (
            self._client.chat.completions
        )  # imports half of the library, in the maker's thread

    async def complete(self, prompt: Prompt, on_piece: Callable[[str], Awaitable[None]]) -> ModelAnswer:
        return await read_answer(self._endpoint, partial(self._pieces, prompt), on_piece)

    async def models(self) -> list[str]:
        return await query(self._endpoint, self._listed())

    async def close(self) -> None:
        await self._client.close()

    async def _listed(self) -> list[str]:
        return [model.id async for model in self._client.models.list(extra_headers=self._headers)]

    async def _pieces(self, prompt: Prompt, answer: PartialAnswer) -> Pieces:
        calls = _Calls()
        max_tokens = self._endpoint.max_tokens
        async with await self._completions.create(
            model=self._endpoint.model,
            messages=self._messages(prompt),
            tools=tools(prompt.tools) or omit,
            # The newer name is refused by compatible servers, the older one by OpenAI's newer models.
            max_completion_tokens=max_tokens if self._endpoint.is_own else omit,
            max_tokens=omit if self._endpoint.is_own else max_tokens,
            stream=True,
            stream_options={"include_usage": True},
            extra_headers=self._headers,
        ) as stream:
            async for chunk in stream:
                yield self._take(chunk, answer, calls)
        calls.hand_on(answer)

    def _messages(self, prompt: Prompt) -> list[Json]:
        lines = repair_lines(prompt)
        groups = (
            merge_lines(lines)
            if not self._endpoint.is_own
            else [MergedLines(p.line.role, (p,)) for p in lines]
        )
        begin = [{"role": "system", "content": prompt.system}] if prompt.system.strip() else []
        return [*begin, *(message for group in groups for message in _messages(group))]

    def _take(self, chunk: ChatCompletionChunk, answer: PartialAnswer, calls: "_Calls") -> str:
        if chunk.usage is not None:
            self._count(chunk.usage, answer)
        piece = ""
        for choice in chunk.choices:
            if choice.finish_reason is not None:
                answer.is_whole = True
                answer.cut = choice.finish_reason == "length"
                answer.is_refused = answer.is_refused or choice.finish_reason == "content_filter"
            answer.is_refused = answer.is_refused or bool(choice.delta.refusal)
            piece += answer.add_text(choice.delta.content or "")
        calls.take(chunk, answer)
        return piece

    def _count(self, reported: CompletionUsage, answer: PartialAnswer) -> None:
        details = reported.prompt_tokens_details
        usage = Usage(
            input_tokens=reported.prompt_tokens or 0,
            output_tokens=reported.completion_tokens or 0,
            cached_tokens=(details.cached_tokens if details else None) or 0,
            written_tokens=(details.cache_write_tokens if details else None) or 0,
            calls=1,
            model=self._endpoint.model,
        )
        priced = None if self._endpoint.is_local else cost(usage, self._endpoint.model)
        answer.usage = structs.replace(usage, cost_usd=priced)


class _Calls:
    """Tool calls, joined by the library. It gets nothing else, because it copies everything it has for each piece."""

    def __init__(self) -> None:
        self._state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
        self._is_used = False

    def take(self, chunk: ChatCompletionChunk, answer: PartialAnswer) -> None:
        found = [call for choice in chunk.choices for call in choice.delta.tool_calls or ()]
        for call in found:
            answer.count_arguments(call.function.arguments or "" if call.function else "")
        if found:
            self._is_used = True
            self._state.handle_chunk(chunk)

    def hand_on(self, answer: PartialAnswer) -> None:
        for choice in self._state.current_completion_snapshot.choices if self._is_used else ():
            for call in choice.message.tool_calls or ():
                answer.add_whole_call(call.id, call.function.name, call.function.arguments or "")


def tools(specs: Iterable[ToolSpec]) -> list[Json]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in specs
    ]


def _messages(merged_lines: MergedLines) -> list[JsonObject]:
    """Each tool result is a message of its own here; the other texts are one message."""
    results = [place.line for place in merged_lines.lines if place.line.answers]
    answers: list[JsonObject] = [
        {"role": "tool", "tool_call_id": line.answers, "content": line.content} for line in results
    ]
    rest = [place for place in merged_lines.lines if not place.line.answers]
    return [*answers, *([_plain(merged_lines.role, rest)] if rest else [])]


def _plain(role: str, places: list[MarkedLine]) -> JsonObject:
    text = "\n\n".join(place.line.content for place in places if place.line.content.strip())
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for place in places
        for call in place.line.calls
    ]
    return (
        {"role": role, "content": text or None, "tool_calls": calls}
        if calls
        else {"role": role, "content": text}
    )
