"""The audit chain: each message, edit and delete hashes the one before it in its conversation.

A changed column, a removed row or a swapped pair breaks every hash after it. `verify` walks it. The versions of a
shared note are a chain of their own, which `verify_note` walks.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256

from msgspec import json

from moot.model.message import Message, Revision
from moot.model.moment import micros
from moot.model.records.note import NoteVersion, SharedNote

_encode = json.Encoder().encode


def text_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def message_hash(before: str, place: int, m: Message, original_text_hash: str) -> str:
    """What a message hashes to as this entry of the chain. What may change later (text, the deleted mark) enters
    by its first form."""
    metadata = {k: v for k, v in m.metadata.items() if k != "deleted"} if m.metadata else m.metadata
    row = (
        before,
        m.conversation,
        m.seq,
        place,
        m.author,
        m.kind,
        original_text_hash,
        m.mentions,
        m.root,
        m.hop,
        micros(m.at),
        m.reply_to,
        m.intent,
        m.turn,
        m.round,
        m.depth,
        metadata,
        m.plan,
        m.key,
        m.digest,
    )
    return sha256(_encode(row)).hexdigest()


def revision_hash(before: str, r: Revision) -> str:
    row = (
        before,
        r.conversation,
        r.seq,
        r.version,
        r.chain_place,
        r.was_hash,
        r.text_hash,
        r.by,
        micros(r.at),
    )
    return sha256(_encode(row)).hexdigest()


def verify(messages: Iterable[Message], revisions: Iterable[Revision], head: str, length: int) -> str | None:
    """None when the chain of a whole conversation holds, else what is wrong with it."""
    by_message: dict[int, list[Revision]] = {}
    chain: dict[int, Message | Revision] = {}
    for revision in revisions:
        by_message.setdefault(revision.seq, []).append(revision)
        chain[revision.chain_place] = revision
    expected_seq = 1
    for message in messages:
        if message.seq != expected_seq:
            return f"message {expected_seq} is missing"
        expected_seq += 1
        chain[message.chain_place] = message
        later = sorted(by_message.get(message.seq, ()), key=lambda r: r.version)
        if message.version != 1 + len(later):
            return (
                f"message {message.seq} has version {message.version}, but its revisions say {1 + len(later)}"
            )
        if later and later[-1].text_hash != text_hash(message.text):
            return f"message {message.seq} does not have the text that its last revision recorded"
        if bool(message.metadata.get("deleted")) != (bool(later) and not message.text):
            return f"message {message.seq} is marked as deleted but was not, or was deleted but is not marked"
    return _walk(chain, by_message, head, length)


def _walk(
    chain: Mapping[int, Message | Revision],
    by_message: Mapping[int, list[Revision]],
    head: str,
    length: int,
) -> str | None:
    before = ""
    for number in range(1, length + 1):
        entry = chain.get(number)
        if entry is None:
            return f"entry {number} of the chain is missing"
        if isinstance(entry, Message):
            later = by_message.get(entry.seq)
            first = min(later, key=lambda r: r.version).was_hash if later else text_hash(entry.text)
            found = message_hash(before, number, entry, first)
        else:
            found = revision_hash(before, entry)
        if found != entry.hash:
            return f"message {entry.seq} was altered: entry {number} does not hash to what was recorded"
        before = found
    if len(chain) != length or before != head:
        return "the chain does not end where the conversation says it ends"
    return None


def note_version_hash(before: str, v: NoteVersion) -> str:
    """What a version of a note hashes to, behind the version before it."""
    return sha256(_encode((before, v.note, v.version, text_hash(v.text), v.by, micros(v.at)))).hexdigest()


def verify_note(note: SharedNote, versions: Iterable[NoteVersion]) -> str | None:
    """None when a note stands as its versions say, given in order from the first, else what is wrong with it."""
    before, number = "", 0
    last: NoteVersion | None = None
    for version in versions:
        number += 1
        if version.version != number or version.note != note.name:
            return f"version {number} of {note.name} is missing"
        if note_version_hash(before, version) != version.hash:
            return f"version {number} of {note.name} was altered: it does not hash to what was recorded"
        if number == 1 and (version.by, micros(version.at)) != (note.created_by, micros(note.created_at)):
            return f"{note.name} was not created as its first version says"
        before, last = version.hash, version
    if last is None or (number, before) != (note.version, note.hash):
        return f"the versions of {note.name} do not end where the note says they end"
    stands = (note.text, note.updated_by, micros(note.updated_at))
    return None if stands == (last.text, last.by, micros(last.at)) else f"{note.name} is not its last version"
