"""Counting tokens, and a prompt cache that believes what providers promise.

A prompt is laid out in the order in which providers hash it (tools, system, messages) and cut into blocks of 64
characters. A block counts as cached when it and everything before it was asked of the same model before.
"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from moot.model.json import Json, JsonObject
from moot.testing.fake_llm.answers import Answer, Spent
from moot.testing.fake_llm.requests import Request, Wire

CHARACTERS_PER_TOKEN: Final = 4
BLOCK_TOKENS: Final = 16
_BLOCK: Final = BLOCK_TOKENS * CHARACTERS_PER_TOKEN
_MAX_BLOCKS: Final = 1 << 16


def tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


class PromptCache:
    """Remembers hashes only; the oldest are forgotten."""

    def __init__(self) -> None:
        self._seen: dict[bytes, None] = {}

    def spent(self, request: Request, answer: Answer) -> Spent:
        """What the request costs; from now on its prompt is cached."""
        if answer.usage is not None:
            return answer.usage
        prompt, cacheable = layout(request)
        blocks = list(_chain(request.model, prompt[:cacheable]))
        cached = next((n for n, block in enumerate(blocks) if block not in self._seen), len(blocks))
        for block in blocks[cached:]:
            self._seen[block] = None
        while len(self._seen) > _MAX_BLOCKS:
            del self._seen[next(iter(self._seen))]
        text = answer.text + "".join(call.name + call.json for call in answer.calls)
        return Spent(
            input=tokens(prompt),
            output=tokens(text) or 1,
            cached=cached * BLOCK_TOKENS,
            written=(len(blocks) - cached) * BLOCK_TOKENS,
        )


def _chain(model: str, text: str) -> Iterator[bytes]:
    """One hash per whole block, each over everything before it."""
    state = blake2b(model.encode(), digest_size=16)
    for start in range(0, len(text) - _BLOCK + 1, _BLOCK):
        state.update(text[start : start + _BLOCK].encode("utf-8", "surrogatepass"))
        yield state.digest()


def layout(request: Request) -> tuple[str, int]:
    """The prompt as one text, and how much of its beginning may be cached."""
    body = request.body
    parts = [*_blocks(body.get("tools")), *_blocks(body.get("system")), *_blocks(body.get("instructions"))]
    for line in _blocks(body.get("messages", body.get("input"))):
        content = line.pop("content", None)
        parts += [line, *_blocks(content)]
    prompt, marked = "", 0
    for part in parts:
        mark = part.pop("cache_control", None)
        prompt += json.dumps(part, sort_keys=True, ensure_ascii=False)
        if mark is not None:
            marked = len(prompt)
    everything = request.wire is not Wire.MESSAGES or body.get("cache_control") is not None
    return prompt, len(prompt) if everything else marked


def _blocks(content: Json) -> list[JsonObject]:
    """Copies of the blocks of a content; a plain text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [dict(block) for block in content or () if isinstance(block, dict)]
