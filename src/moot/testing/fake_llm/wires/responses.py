"""OpenAI responses, which codex speaks."""

import json
from collections.abc import Iterator
from itertools import count

from moot.model.json import JsonObject
from moot.testing.fake_llm.answers import Answer, Spent, halves, pieces
from moot.testing.fake_llm.requests import Request, named_tools
from moot.testing.fake_llm.wires import chat

CREATED = chat.CREATED
failure = chat.failure


def events(answer: Answer, request: Request, spent: Spent) -> Iterator[bytes]:
    numbers = count()

    def event(kind: str, **fields: object) -> bytes:
        data = json.dumps({"type": kind, "sequence_number": next(numbers), **fields})
        return f"event: {kind}\ndata: {data}\n\n".encode()

    done = whole(answer, request, spent)
    begun = {**done, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for index, item in enumerate(done["output"]):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "message":
            yield event(
                "response.output_item.added",
                output_index=index,
                item={**item, "content": [], "status": "in_progress"},
            )
            part = item["content"][0]
            place["content_index"] = 0
            yield event("response.content_part.added", **place, part={**part, "text": ""})
            for piece in pieces(answer.text):
                yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
            yield event("response.output_text.done", **place, text=answer.text, logprobs=[])
            yield event("response.content_part.done", **place, part=part)
        else:
            opening = {**item, "arguments": "", "status": "in_progress"}
            yield event("response.output_item.added", output_index=index, item=opening)
            for half in halves(item["arguments"]):
                yield event("response.function_call_arguments.delta", **place, delta=half)
            arguments = {"name": item["name"], "arguments": item["arguments"]}
            yield event("response.function_call_arguments.done", **place, **arguments)
        yield event("response.output_item.done", output_index=index, item=item)
    ending = "response.incomplete" if done["status"] == "incomplete" else "response.completed"
    yield event(ending, response=done)


def whole(answer: Answer, request: Request, spent: Spent) -> JsonObject:
    reason = "content_filter" if answer.refused else "max_output_tokens" if answer.cut else None
    return {
        "id": f"resp_fake_{request.number:06d}",
        "object": "response",
        "created_at": CREATED,
        "status": "incomplete" if reason else "completed",
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": None,
        "metadata": {},
        "model": request.model,
        "output": _output(answer, request),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": spent.input,
            "input_tokens_details": {"cached_tokens": spent.cached},
            "output_tokens": spent.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": spent.input + spent.output,
        },
    }


def failed_event(message: str) -> bytes:
    error = {
        "type": "error",
        "code": "server_error",
        "message": message,
        "param": None,
        "sequence_number": 99,
    }
    return f"event: error\ndata: {json.dumps(error)}\n\n".encode()


def _output(answer: Answer, request: Request) -> list[JsonObject]:
    output: list[JsonObject] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        identity = f"msg_fake_{request.number:06d}"
        frame = {"id": identity, "type": "message", "role": "assistant", "status": "completed"}
        output.append({**frame, "content": [part]})
    spaces = {name: space for name, space in named_tools(request.body.get("tools")) if space}
    for index, call in enumerate(answer.calls):
        item = {
            "id": f"fc_fake_{request.number:06d}_{index}",
            "type": "function_call",
            "call_id": call.id or f"call_fake_{request.number:06d}_{index}",
            "name": call.name,
            "arguments": call.json,
            "status": "completed",
        }
        # codex finds a tool of an MCP server only by its namespace
        output.append({**item, "namespace": spaces[call.name]} if call.name in spaces else item)
    return output
