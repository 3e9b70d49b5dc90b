"""Anthropic Messages."""

import json
from collections.abc import Iterator

from moot.model.json import JsonObject
from moot.testing.fake_llm.answers import Answer, ScriptedCall, Spent, halves, pieces
from moot.testing.fake_llm.requests import Request

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def events(answer: Answer, request: Request, spent: Spent) -> Iterator[bytes]:
    opening = {**_frame(answer, request), "content": [], "stop_reason": None}
    yield _event("message_start", message={**opening, "usage": {**_input_usage(spent), "output_tokens": 1}})
    yield _event("ping")
    if answer.text:
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in pieces(answer.text):
            yield _event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        yield _event("content_block_stop", index=0)
    for index, call in enumerate(answer.calls, start=1 if answer.text else 0):
        block = {"type": "tool_use", "id": _call_id(call, request, index), "name": call.name, "input": {}}
        yield _event("content_block_start", index=index, content_block=block)
        for part in halves(call.json):
            delta = {"type": "input_json_delta", "partial_json": part}
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event(
        "message_delta",
        delta={"stop_reason": _stop_reason(answer), "stop_sequence": None},
        usage={"output_tokens": spent.output},
    )
    yield _event("message_stop")


def whole(answer: Answer, request: Request, spent: Spent) -> JsonObject:
    content: list[JsonObject] = [{"type": "text", "text": answer.text}] if answer.text else []
    for index, call in enumerate(answer.calls, start=len(content)):
        block = {"type": "tool_use", "id": _call_id(call, request, index), "name": call.name}
        content.append({**block, "input": _input(call)})
    usage = {**_input_usage(spent), "output_tokens": spent.output}
    return {
        **_frame(answer, request),
        "content": content,
        "stop_reason": _stop_reason(answer),
        "usage": usage,
    }


def failure(status: int, message: str) -> JsonObject:
    return {"type": "error", "error": {"type": KINDS.get(status, "api_error"), "message": message}}


def failed_event(message: str) -> bytes:
    return _event("error", error={"type": "overloaded_error", "message": message})


def _event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _frame(answer: Answer, request: Request) -> JsonObject:
    return {
        "id": f"msg_fake_{request.number:06d}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "stop_sequence": None,
    }


def _input_usage(spent: Spent) -> dict[str, int]:
    """Here the three kinds of input add up; elsewhere cached ones are part of the sum."""
    return {
        "input_tokens": max(0, spent.input - spent.cached - spent.written),
        "cache_read_input_tokens": spent.cached,
        "cache_creation_input_tokens": spent.written,
    }


def _stop_reason(answer: Answer) -> str:
    if answer.refused:
        return "refusal"
    if answer.cut:
        return "max_tokens"
    return "tool_use" if answer.calls else "end_turn"


def _call_id(call: ScriptedCall, request: Request, index: int) -> str:
    return call.id or f"toolu_fake_{request.number:06d}_{index}"


def _input(call: ScriptedCall) -> object:
    """A whole answer cannot carry broken JSON here: the provider would have failed instead."""
    try:
        return json.loads(call.json or "{}")
    except ValueError:
        return {"broken": call.json}
