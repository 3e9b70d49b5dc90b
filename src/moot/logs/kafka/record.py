"""A record: the seed's envelope with `seq`, `epoch`, `instance` and `event`, as JSON of at most 1 KiB.

It never has content. A reader uses the fields it knows and keeps the rest: fields and actions of a later version are no
error. Anything that is no envelope raises `UnreadableRecord`, and is put aside.
"""

from datetime import UTC, datetime
from typing import Any

from msgspec import UNSET, DecodeError, Struct, UnsetType, ValidationError, convert, json, to_builtins

from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, address
from moot.model.records.outbox import OutboxRow

VERSION = "1.0.0"
KNOWN_MAJOR = "1"
MAX_RECORD_BYTES = 1024


class UnreadableRecord(Exception):
    """Not a record of this format."""


class Envelope(Struct, frozen=True, omit_defaults=False):
    version: str
    conversation_id: str
    agent_id: str
    timestamp: str
    docmem_node_id: str
    node_id: str
    action: str
    correlation_id: str | UnsetType = UNSET
    command: list[str] | UnsetType = UNSET
    seq: int = 0
    epoch: int = 0
    instance: str = ""
    event: int = 0
    """Events up to this one are readable; 0 where that is not known."""


EVENTS_OF = {
    "append": EventType.MESSAGE_POSTED,
    "tool_result": EventType.MESSAGE_POSTED,
    "system_message": EventType.MESSAGE_POSTED,
    "edit": EventType.MESSAGE_EDITED,
    "delete": EventType.MESSAGE_DELETED,
}
"""Action of a record → event of its message."""
FIELDS = frozenset(Envelope.__struct_fields__)
_encoder = json.Encoder()


class Record(Struct, frozen=True):
    """An envelope, and the fields beside it that this version does not know."""

    envelope: Envelope
    more: dict[str, Any] = {}


def envelope_of(row: OutboxRow, *, epoch: int, instance: str) -> Envelope:
    where = row.conversation
    return Envelope(
        version=VERSION,
        conversation_id=where,
        agent_id=row.by,
        timestamp=datetime.fromtimestamp(row.at, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z"),
        docmem_node_id=where,
        node_id=address(where, row.seq) if row.seq else where,
        action=row.action,
        correlation_id=row.correlation or UNSET,
        command=[row.tool, row.call] if row.tool else UNSET,
        seq=row.seq,
        epoch=epoch,
        instance=instance,
        event=0 if row.call else row.event,
    )


def encode_record(record: Record) -> bytes:
    """As JSON. If that is too long, optional fields are dropped: an incomplete hint is better than none."""
    value = _encoder.encode({**record.more, **to_builtins(record.envelope)})
    if len(value) <= MAX_RECORD_BYTES:
        return value
    bare = {**to_builtins(record.envelope)}
    for name in ("correlation_id", "command"):
        bare.pop(name, None)
    return _encoder.encode(bare)


def decode_record(value: bytes | None) -> Record:
    if not value:
        raise UnreadableRecord("it is empty")
    if len(value) > MAX_RECORD_BYTES:
        raise UnreadableRecord(f"it has {len(value)} bytes; {MAX_RECORD_BYTES} are the most")
    try:
        fields = json.decode(value)
        if not isinstance(fields, dict):
            raise UnreadableRecord("it is no object")
        envelope = convert({name: fields[name] for name in FIELDS & fields.keys()}, Envelope)
    except (DecodeError, ValidationError, RecursionError) as error:
        raise UnreadableRecord(str(error)) from error
    if envelope.version.partition(".")[0] != KNOWN_MAJOR:
        raise UnreadableRecord(f"version {envelope.version} is not known here")
    return Record(envelope, {name: field for name, field in fields.items() if name not in FIELDS})


def event_of(envelope: Envelope) -> Event | None:
    """The event of the message that a record is about: posted, edited or deleted; None if it is about none."""
    kind = EVENTS_OF.get(envelope.action)
    if kind is None or not envelope.seq:
        return None
    return Event(kind, 0.0, conversation=ConversationId(envelope.conversation_id), seq=envelope.seq)
