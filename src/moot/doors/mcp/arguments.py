"""What each tool takes: arguments as a model writes them, checked before anything is done."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from moot.model.json import JsonObject

MAX_READ = 50
MAX_WAIT_SECONDS = 300
DEFAULT_WAIT_SECONDS = 50.0
"""Below the minute after which common clients give up on a tool."""
DEFAULT_DEADLINE_SECONDS = 60.0

UNLISTED: Final = "unlisted"
"""Marks an argument that is accepted but not described to models, since few would use it."""
Limit = Annotated[int, Meta(ge=1, le=500, extra_json_schema={UNLISTED: True})]
Seconds = Annotated[float, Meta(ge=0, le=MAX_WAIT_SECONDS)]
MAX_DEADLINE_SECONDS = 366 * 86400
Deadline = Annotated[float, Meta(ge=0, le=MAX_DEADLINE_SECONDS)]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments from a model. No field names a sender."""


class NoArguments(Arguments, frozen=True):
    pass


class SendArguments(Arguments, frozen=True):
    target: str
    message: str
    intent: str = ""


class BroadcastArguments(Arguments, frozen=True):
    message: str


class NameArguments(Arguments, frozen=True):
    name: str


class CheckArguments(Arguments, frozen=True):
    limit: Limit = MAX_READ


class WaitArguments(Arguments, frozen=True):
    timeout_seconds: Seconds = DEFAULT_WAIT_SECONDS


class ReplyArguments(Arguments, frozen=True):
    message_id: str
    text: str


class PostArguments(Arguments, frozen=True):
    conversation: str
    text: str


class ReadArguments(Arguments, frozen=True):
    conversation: str
    after: Annotated[int, Meta(ge=0, le=2**53)] = 0


class SearchArguments(Arguments, frozen=True):
    query: Annotated[str, Meta(max_length=1000)]


class ReadNoteArguments(Arguments, frozen=True):
    name: str


class WriteNoteArguments(Arguments, frozen=True):
    name: str
    text: str
    version: int = 0
    """The version that was read; without it, the answer is the current note."""


class WhyArguments(Arguments, frozen=True):
    message_id: str


class AskArguments(Arguments, frozen=True):
    target: str
    question: str
    deadline_seconds: Deadline = DEFAULT_DEADLINE_SECONDS
    """Beyond MAX_WAIT_SECONDS the answer comes as a message."""
    shape: JsonObject = {}
    choices: tuple[str, ...] = ()


class DelegateArguments(Arguments, frozen=True):
    target: str
    task: str
    deadline_seconds: Annotated[float, Meta(ge=0)] = 0
    """0 takes the setting."""


class UpdateTaskArguments(Arguments, frozen=True):
    id: str
    state: str
    result: str = ""


class SpawnArguments(Arguments, frozen=True):
    template: str
    task: str = ""
    name: Annotated[str, Meta(extra_json_schema={UNLISTED: True})] = ""
    project: str = ""
