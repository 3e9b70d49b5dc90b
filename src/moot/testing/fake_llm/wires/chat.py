"""OpenAI chat completions, which every compatible server speaks."""

import json
from collections.abc import Iterator

from moot.model.json import JsonObject
from moot.testing.fake_llm.answers import Answer, ScriptedCall, Spent, halves, pieces
from moot.testing.fake_llm.requests import Request

CREATED = 1_790_000_000


def events(answer: Answer, request: Request, spent: Spent) -> Iterator[bytes]:
    yield _chunk(request, {"role": "assistant", "content": ""})
    for piece in pieces(answer.text):
        yield _chunk(request, {"content": piece})
    for index, call in enumerate(answer.calls):
        opening = {**_call(call, request, index), "function": {"name": call.name, "arguments": ""}}
        yield _chunk(request, {"tool_calls": [{"index": index, **opening}]})
        for part in halves(call.json):
            yield _chunk(request, {"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield _chunk(request, {}, _finish_reason(answer))
    options = request.body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage"):
        yield _event({**_frame(request, "chat.completion.chunk"), "choices": [], "usage": _usage(spent)})
    yield b"data: [DONE]\n\n"


def whole(answer: Answer, request: Request, spent: Spent) -> JsonObject:
    message: JsonObject = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.calls:
        message["tool_calls"] = [_call(call, request, index) for index, call in enumerate(answer.calls)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
    return {**_frame(request, "chat.completion"), "choices": [choice], "usage": _usage(spent)}


def failure(status: int, message: str) -> JsonObject:
    code = {400: "context_length_exceeded", 401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
    return {"error": {"message": message, "type": "fake_error", "param": None, "code": code}}


def failed_event(message: str) -> bytes:
    return _event({"error": {"message": message, "type": "server_error", "code": "overloaded"}})


def _event(value: JsonObject) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _chunk(request: Request, delta: JsonObject, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return _event({**_frame(request, "chat.completion.chunk"), "choices": [choice]})


def _frame(request: Request, kind: str) -> JsonObject:
    identity = f"chatcmpl-fake-{request.number:06d}"
    return {"id": identity, "object": kind, "created": CREATED, "model": request.model}


def _call(call: ScriptedCall, request: Request, index: int) -> JsonObject:
    return {
        "id": call.id or f"call_fake_{request.number:06d}_{index}",
        "type": "function",
        "function": {"name": call.name, "arguments": call.json},
    }


def _finish_reason(answer: Answer) -> str:
    if answer.refused:
        return "content_filter"
    if answer.cut:
        return "length"
    return "tool_calls" if answer.calls else "stop"


def _usage(spent: Spent) -> JsonObject:
    return {
        "prompt_tokens": spent.input,
        "completion_tokens": spent.output,
        "total_tokens": spent.input + spent.output,
        "prompt_tokens_details": {"cached_tokens": spent.cached},
    }
