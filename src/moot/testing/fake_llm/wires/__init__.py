"""An answer in the words of each API: as a stream of events, whole, and as an error."""

import json
from collections.abc import Iterator
from typing import Protocol

from moot.model.json import JsonObject
from moot.testing.fake_llm.answers import Answer, Spent
from moot.testing.fake_llm.requests import Request, Wire
from moot.testing.fake_llm.wires import chat, messages, responses


class Speech(Protocol):
    """What each module here can do."""

    def events(self, answer: Answer, request: Request, spent: Spent) -> Iterator[bytes]: ...
    def whole(self, answer: Answer, request: Request, spent: Spent) -> JsonObject: ...
    def failure(self, status: int, message: str) -> JsonObject: ...
    def failed_event(self, message: str) -> bytes: ...


def speech_of(wire: Wire) -> Speech:
    match wire:
        case Wire.MESSAGES:
            return messages
        case Wire.RESPONSES:
            return responses
        case _:
            return chat


def packed(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
