"""What each tool takes: arguments as a model writes them, checked before anything is done."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from moot.model.json import JsonObject

READ_AT_ONCE = 50
MAX_WAITING = 300
USUAL_WAITING = 50.0
"""Below the minute after which common clients give up on a tool."""
USUAL_DEADLINE = 60.0

UNLISTED: Final = "unlisted"
"""Marks an argument that may be given, and that no model pays for: hardly one would."""
Limit = Annotated[int, Meta(ge=1, le=500, extra_json_schema={UNLISTED: True})]
Seconds = Annotated[float, Meta(ge=0, le=MAX_WAITING)]
LONGEST_DEADLINE = 366 * 86400
Deadline = Annotated[float, Meta(ge=0, le=LONGEST_DEADLINE)]


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
    limit: Limit = READ_AT_ONCE


class WaitArguments(Arguments, frozen=True):
    timeout_seconds: Seconds = USUAL_WAITING


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
    """The one that was read; without it the answer is what stands."""


class WhyArguments(Arguments, frozen=True):
    message_id: str


class AskArguments(Arguments, frozen=True):
    target: str
    question: str
    deadline_seconds: Deadline = USUAL_DEADLINE
    """Beyond MAX_WAITING the answer comes as a message."""
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
