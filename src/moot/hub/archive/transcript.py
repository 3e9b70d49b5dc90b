"""The lines of an export: what `moot export --format jsonl` writes and `moot import` reads, one JSON object each.

First a `moot-export` line, then for every conversation one `conversation` line, its `message` lines in order, its
`summary` lines and an `end` line that counts them, so that a file that was cut short is noticed. A `person`
line stands before the first line that needs it. Fields with their default value are left out. Equal content gives
equal bytes: keys have a fixed order, times are UTC to the microsecond, nothing tells when it was exported.
"""

from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from msgspec import Struct, json

from moot.model.json import JsonObject

VERSION: Final = 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class TranscriptLine(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type"):
    """One line; `type` says which."""


class HeaderLine(TranscriptLine, frozen=True, tag="moot-export"):
    version: int
    redacted: bool = False


class PersonLine(TranscriptLine, frozen=True, tag="person"):
    name: str
    kind: str
    display: str = ""
    role: str = ""


class MemberEntry(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    joined_at: str


class ConversationLine(TranscriptLine, frozen=True, tag="conversation"):
    id: str
    name: str
    kind: str
    created_at: str
    updated_at: str
    participants: tuple[MemberEntry, ...] = ()
    settings: JsonObject = {}
    """Only what was chosen for this conversation; the rest follows `[groups]` wherever it is read."""
    home: str = ""
    archived: bool = False
    channel_type: str = ""
    channel_group_id: str = ""


class MessageLine(TranscriptLine, frozen=True, tag="message", rename={"sender": "from"}):
    seq: int
    sender: str
    kind: str
    at: str
    text: str = ""
    mentions: tuple[str, ...] = ()
    reply_to: int = 0
    """seq in the same conversation."""
    root: int | str = 0
    """Where its chain began: a seq of the same conversation, an address in another one, 0 with itself."""
    hop: int = 0
    intent: str = ""
    version: int = 1
    deleted: bool = False
    metadata: JsonObject = {}


class SummaryLine(TranscriptLine, frozen=True, tag="summary"):
    upto: int
    text: str
    by: str
    at: str
    version: int = 1
    usage: JsonObject | None = None


class EndLine(TranscriptLine, frozen=True, tag="end"):
    messages: int
    summaries: int = 0


AnyLine: TypeAlias = HeaderLine | PersonLine | ConversationLine | MessageLine | SummaryLine | EndLine

_encoder = json.Encoder(order="deterministic")
_decoder = json.Decoder(AnyLine)


def written(line: AnyLine) -> bytes:
    return _encoder.encode(line) + b"\n"


def read(line: bytes) -> AnyLine:
    """The line, or msgspec's DecodeError or ValidationError, which say what is wrong with it."""
    decoded: AnyLine = _decoder.decode(line)
    return decoded


def moment(at: float) -> str:
    """RFC 3339 in UTC, to the microsecond: what is stored, exactly."""
    moment = (_EPOCH + timedelta(microseconds=round(at * 1_000_000))).isoformat(timespec="microseconds")
    return moment.replace("+00:00", "Z")


def seconds(text: str) -> float:
    """The moment that `moment` wrote; ValueError when it is none, or has no zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return ((moment - _EPOCH) // _MICROSECOND) / 1_000_000
