"""Anthropic Messages through Anthropic's own library.

Above: brain_string.py, which imports this module when a model is first asked. Below: attempt.py, prompt_lines.py,
transport.py.

Tool calls are joined here and not by the library: it raises an error that quotes the arguments if they are not JSON,
and the port wants them as the model wrote them.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from anthropic import AsyncAnthropic, omit
from anthropic.types import RawMessageStreamEvent, TextBlockParam, ToolParam
from msgspec import structs

from moot.brains.llm.answer import PartialAnswer
from moot.brains.llm.attempt import Pieces, query, read_answer
from moot.brains.llm.endpoint import ModelEndpoint
from moot.brains.llm.prices import cost
from moot.brains.llm.prompt_lines import MarkedLine, arguments_of, merge_lines, repair_lines
from moot.brains.llm.transport import new_client
from moot.model.json import Json, JsonObject
from moot.model.prompt import ModelAnswer, Prompt, Usage

CACHED: Any = {"cache_control": {"type": "ephemeral"}}
PAGE = 1000
"""Models in one answer; no provider has that many."""
CUT_BY = ("max_tokens", "model_context_window_exceeded")


class AnthropicModel:
    def __init__(self, endpoint: ModelEndpoint) -> None:
        self.name = endpoint.name
        self._endpoint = endpoint
        self._client = AsyncAnthropic(
            api_key=endpoint.key.reveal() if endpoint.key else "none",
            base_url=endpoint.url,
            max_retries=0,
            http_client=new_client(endpoint.idle_seconds),
            open_telemetry=False,
        )
        self._messages = (
            self._client.messages
        )  # imports half of the library: here it does so in the maker's thread

    async def complete(self, prompt: Prompt, on_piece: Callable[[str], Awaitable[None]]) -> ModelAnswer:
        return await read_answer(self._endpoint, partial(self._pieces, prompt), on_piece)

    async def models(self) -> list[str]:
        return await query(self._endpoint, self._listed())

    async def close(self) -> None:
        await self._client.close()

    async def _listed(self) -> list[str]:
        return [model.id async for model in self._client.models.list(limit=PAGE)]

    async def _pieces(self, prompt: Prompt, answer: PartialAnswer) -> Pieces:
        async with await self._messages.create(
            model=self._endpoint.model,
            max_tokens=self._endpoint.max_tokens,
            system=system(prompt) or omit,
            messages=messages(prompt),
            tools=tools(prompt) or omit,
            stream=True,
        ) as stream:
            async for event in stream:
                yield self._take(event, answer)

    def _take(self, event: RawMessageStreamEvent, answer: PartialAnswer) -> str:
        match event.type:
            case "message_start":
                self._count(event.message.usage, answer)
            case "content_block_start":
                if event.content_block.type == "tool_use":
                    answer.add_call(event.index, event.content_block.id, event.content_block.name)
                elif event.content_block.type == "text" and event.content_block.text:
                    return answer.add_text(event.content_block.text)
            case "content_block_delta":
                if event.delta.type == "text_delta":
                    return answer.add_text(event.delta.text)
                if event.delta.type == "input_json_delta":
                    answer.add_arguments(event.index, event.delta.partial_json)
            case "message_delta":
                answer.cut = event.delta.stop_reason in CUT_BY
                answer.is_refused = event.delta.stop_reason == "refusal"
                self._count(event.usage, answer)
            case "message_stop":
                answer.is_whole = True
            case _:
                pass  # kinds of events that are not yet known
        return ""

    def _count(self, reported: Any, answer: PartialAnswer) -> None:
        """Totals so far; a number that is left out has not changed. The three kinds of input are added up here."""
        before = answer.usage
        cached = _or(reported.cache_read_input_tokens, before.cached_tokens)
        written = _or(reported.cache_creation_input_tokens, before.written_tokens)
        plain_before = before.input_tokens - before.cached_tokens - before.written_tokens
        usage = Usage(
            input_tokens=_or(reported.input_tokens, plain_before) + cached + written,
            output_tokens=_or(reported.output_tokens, before.output_tokens),
            cached_tokens=cached,
            written_tokens=written,
            calls=1,
            model=self._endpoint.model,
        )
        answer.usage = structs.replace(usage, cost_usd=cost(usage, self._endpoint.model))


def _or(counted: int | None, before: int) -> int:
    return before if counted is None else counted


def system(prompt: Prompt) -> list[TextBlockParam]:
    """The first mark for the cache comes after the tools and the system prompt."""
    if not prompt.system.strip():
        return []
    return [{"type": "text", "text": prompt.system, "cache_control": CACHED["cache_control"]}]


def tools(prompt: Prompt) -> list[ToolParam]:
    tools: list[ToolParam] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in prompt.tools
    ]
    if tools and not prompt.system.strip():
        tools[-1]["cache_control"] = CACHED["cache_control"]
    return tools


def messages(prompt: Prompt) -> list[Json]:
    """This provider requires user and assistant to alternate, the user first."""
    return [
        {"role": group.role, "content": [block for place in group.lines for block in _blocks(place)]}
        for group in merge_lines(repair_lines(prompt))
    ]


def _blocks(place: MarkedLine) -> list[JsonObject]:
    line = place.line
    blocks: list[JsonObject] = []
    if line.answers:
        blocks.append({"type": "tool_result", "tool_use_id": line.answers, "content": line.content})
    elif line.content.strip():
        blocks.append({"type": "text", "text": line.content})
    for call in line.calls:
        block = {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)}
        blocks.append(block)
    if place.marked and blocks:
        blocks[-1].update(CACHED)
    return blocks
