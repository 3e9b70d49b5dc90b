"""A request as the server read it, and the same in words whichever of the three APIs it came by."""

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property

from msgspec import Struct

from moot.model.json import JsonObject


class Wire(StrEnum):
    """Which API a path belongs to."""

    MESSAGES = "messages"
    CHAT = "chat"
    RESPONSES = "responses"
    MODELS = "models"
    OTHER = "other"


PATHS = {
    "/messages": Wire.MESSAGES,
    "/chat/completions": Wire.CHAT,
    "/responses": Wire.RESPONSES,
    "/models": Wire.MODELS,
}


class Request(Struct, frozen=True, dict=True):
    """`path` is without its query; header names are in lower case; `at` is time.monotonic()."""

    method: str
    path: str
    headers: dict[str, str]
    raw: bytes
    at: float
    number: int
    """Counts from 1 over the life of the server."""

    @cached_property
    def body(self) -> JsonObject:
        """The parsed JSON; empty where it is none."""
        try:
            parsed = json.loads(self.raw)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {}

    @property
    def wire(self) -> Wire:
        """Clients whose base URL has no `/v1` in it are served too."""
        return PATHS.get(self.path.removeprefix("/v1"), Wire.OTHER)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True

    @cached_property
    def system(self) -> str:
        """What the model was told to be."""
        parts = [text_of(self.body.get("system")), text_of(self.body.get("instructions"))]
        return "\n".join(text for text in [*parts, *(t for role, t in self._lines if role in SYSTEM)] if text)

    @cached_property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """Role and text of each message; results of tools are the user's."""
        return tuple(
            ("assistant" if role == "assistant" else "user", text)
            for role, text in self._lines
            if role not in SYSTEM
        )

    @property
    def last(self) -> str:
        """What the user side said last."""
        return next((text for role, text in reversed(self.lines) if role == "user"), "")

    @cached_property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools on offer, those in a namespace too."""
        return tuple(name for name, _ in named_tools(self.body.get("tools")))

    @cached_property
    def _lines(self) -> tuple[tuple[str, str], ...]:
        sent = self.body.get("messages", self.body.get("input", ()))
        if isinstance(sent, str):
            return (("user", sent),)
        entries = [entry for entry in sent or () if isinstance(entry, dict)]
        return tuple(
            (str(entry.get("role", "user")), text_of(entry.get("content", entry.get("output"))))
            for entry in entries
        )


SYSTEM = ("system", "developer")


def text_of(content: object) -> str:
    """The words of a content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    found = (_block_text(block) for block in content if isinstance(block, dict))
    return "\n".join(text for text in found if text)


def _block_text(block: JsonObject) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else text_of(block.get("content"))


def named_tools(tools: object) -> Iterator[tuple[str, str]]:
    """Name and namespace of each tool, in all the shapes that the APIs know."""
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        if tool.get("type") == "namespace":
            inside = named_tools(tool.get("tools"))
            yield from ((name, str(tool.get("name", ""))) for name, _ in inside)
            continue
        function = tool.get("function")
        name = function.get("name") if isinstance(function, dict) else tool.get("name")
        if isinstance(name, str):
            yield name, ""
