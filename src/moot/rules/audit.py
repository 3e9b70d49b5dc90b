"""The audit chain: each message, edit and delete hashes the one before it in its conversation.

A changed column, a removed row or a swapped pair breaks every hash after it. `verify` walks it. The versions of a
shared note are a chain of their own, which `verify_note` walks. Acts of people, refusals and changes of tasks are
chained by `appended` and `counted`; audit_walk.py verifies them.
"""

from collections import deque
from collections.abc import Iterable
from hashlib import sha256

from msgspec import Struct, json, structs

from moot.model.message import Message, Revision
from moot.model.moment import micros
from moot.model.records.audit import AuditEntry, ChainHead
from moot.model.records.note import NoteVersion, SharedNote
from moot.model.records.record import R, Table

_encode = json.Encoder().encode
MAX_COUNTING = 8
"""Different refusals of one agent that are counted side by side until they are sealed."""
CHAIN_FIELDS = frozenset({"chain", "chain_length"})
"""Of a row that has a chain of its own: where that stands."""


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


class KnownHead(Struct, frozen=True, gc=False):
    """Where a chain stood once, as it was written down outside the store."""

    length: int
    hash: str


class BrokenChain(Exception):
    """What is wrong with a chain."""


class ChainWalk:
    """Going along the chain of a conversation, entry by entry."""

    def __init__(self, head: KnownHead | None) -> None:
        self._head = head
        self.place = 0
        self.hash = ""

    def message(self, message: Message, original_text_hash: str) -> None:
        self._step(message, message_hash(self.hash, self.place + 1, message, original_text_hash))

    def revision(self, revision: Revision) -> None:
        self._step(revision, revision_hash(self.hash, revision))

    def _step(self, entry: Message | Revision, found: str) -> None:
        """The entry is the next one, and hashes to what it says."""
        self.place += 1
        if entry.chain_place != self.place:
            raise BrokenChain(f"entry {self.place} of the chain is missing")
        if found != entry.hash:
            raise BrokenChain(
                f"message {entry.seq} was altered: entry {self.place} does not hash to what was recorded"
            )
        if self._head is not None and self._head.length == self.place and self._head.hash != found:
            raise BrokenChain(
                f"message {entry.seq} is not the one whose hash was written down outside the store"
            )
        self.hash = found

    def end(self, head: str, length: int) -> None:
        if self.place < length:
            raise BrokenChain(f"entry {self.place + 1} of the chain is missing")
        if (self.place, self.hash) != (length, head):
            raise BrokenChain("the chain does not end where the conversation says it ends")
        if self._head is not None and self._head.length > self.place:
            raise BrokenChain(f"its chain has {self.place} entries, but had {self._head.length} once")


def verify(
    messages: Iterable[Message],
    revisions: Iterable[Revision],
    head: str,
    length: int,
    last_head: KnownHead | None = None,
) -> str | None:
    """None when the chain of a whole conversation holds, else what is wrong with it. Messages are looked at one by one
    and not kept: there may be millions."""
    walk = ChainWalk(last_head)
    try:
        _walk(walk, messages, sorted(revisions, key=lambda revision: revision.chain_place))
        walk.end(head, length)
    except BrokenChain as broken:
        return str(broken)
    return None


def _walk(walk: ChainWalk, messages: Iterable[Message], revisions: list[Revision]) -> None:
    """Messages and revisions in the order of the chain."""
    by_message: dict[int, list[Revision]] = {}
    for revision in revisions:
        by_message.setdefault(revision.seq, []).append(revision)
    left = deque(revisions)
    expected_seq = 1
    for message in messages:
        if message.seq != expected_seq:
            raise BrokenChain(f"message {expected_seq} is missing")
        expected_seq += 1
        later = sorted(by_message.pop(message.seq, ()), key=lambda r: r.version)
        _check_revised(message, later)
        while left and left[0].chain_place < message.chain_place:
            walk.revision(left.popleft())
        walk.message(message, later[0].was_hash if later else text_hash(message.text))
    for revision in left:
        walk.revision(revision)
    if by_message:
        raise BrokenChain(f"message {min(by_message)} has revisions, but is missing")


def _check_revised(message: Message, later: list[Revision]) -> None:
    """Whether a message stands as its revisions say, given in their order."""
    seq = message.seq
    if message.version != 1 + len(later):
        raise BrokenChain(
            f"message {seq} has version {message.version}, but its revisions say {1 + len(later)}"
        )
    if later and later[-1].text_hash != text_hash(message.text):
        raise BrokenChain(f"message {seq} does not have the text that its last revision recorded")
    if bool(message.metadata.get("deleted")) != (bool(later) and not message.text):
        raise BrokenChain(f"message {seq} is marked as deleted but was not, or was deleted but is not marked")


def note_version_hash(before: str, v: NoteVersion) -> str:
    """What a version of a note hashes to, behind the version before it."""
    return sha256(_encode((before, v.note, v.version, text_hash(v.text), v.by, micros(v.at)))).hexdigest()


def verify_note(
    note: SharedNote, versions: Iterable[NoteVersion], head: KnownHead | None = None
) -> str | None:
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
        if head is not None and head.length == number and head.hash != version.hash:
            return f"version {number} of {note.name} is not the one whose hash was written down outside the store"
        before, last = version.hash, version
    if last is None or (number, before) != (note.version, note.hash):
        return f"the versions of {note.name} do not end where the note says they end"
    stands = (note.text, note.updated_by, micros(note.updated_at))
    return None if stands == (last.text, last.by, micros(last.at)) else f"{note.name} is not its last version"


# --- acts, refusals and tasks ---------------------------------------------------------------------------------


def row_digest(table: Table[R], record: R) -> str:
    """What a row hashes to as it is stored, but for where its own chain stands."""
    row = [
        micros(value) if name in table.in_micros else value
        for name, value in structs.asdict(record).items()
        if name not in CHAIN_FIELDS
    ]
    return sha256(_encode((table.name, row))).hexdigest()


def entry_hash(before: str, entry: AuditEntry) -> str:
    """What an entry hashes to, behind the one before it."""
    row = (
        before,
        entry.chain,
        entry.place,
        micros(entry.at),
        entry.by,
        entry.on_behalf_of,
        entry.door,
        entry.act,
        entry.subject,
        entry.detail,
        entry.digest,
        entry.count,
        micros(entry.last_at),
    )
    return sha256(_encode(row)).hexdigest()


def with_digest(head: ChainHead) -> ChainHead:
    """A head that says itself whether it was altered."""
    row = (head.chain, head.length, head.hash, head.before, head.newest, head.sealed)
    return structs.replace(head, digest=sha256(_encode(row)).hexdigest())


def appended(head: ChainHead | None, entry: AuditEntry) -> tuple[AuditEntry, ChainHead]:
    """An entry at the end of its chain, and the head behind it."""
    length, before, sealed = (0, "", 0) if head is None else (head.length, head.hash, head.sealed)
    entry = structs.replace(entry, place=length + 1)
    entry = structs.replace(entry, hash=entry_hash(before, entry))
    return entry, with_digest(ChainHead(entry.chain, entry.place, entry.hash, before, None, sealed))


def counted(head: ChainHead | None, entry: AuditEntry) -> tuple[list[AuditEntry], ChainHead]:
    """A refusal: one more of those that may still be counted up, or a new entry. Those that are written anew, and the
    head behind them: whoever alternates between a few refusals leaves a few entries."""
    counting = head.counting if head is not None else ()
    for at, counted_entry in enumerate(counting):
        if head is not None and counted_entry.is_like(entry):
            more = structs.replace(
                counted_entry, count=counted_entry.count + 1, last_at=max(counted_entry.last_at, entry.at)
            )
            before = counting[at - 1].hash if at else head.before
            again = _rehashed(before, (more, *counting[at + 1 :]))
            now = (*counting[:at], *again)
            return again, with_digest(structs.replace(head, hash=again[-1].hash, newest=now))
    entry, after = appended(head, entry)
    first = head.before if head is not None and counting else after.before
    if len(counting) == MAX_COUNTING:
        first, counting = counting[0].hash, counting[1:]
    return [entry], with_digest(structs.replace(after, before=first, newest=(*counting, entry)))


def _rehashed(before: str, entries: Iterable[AuditEntry]) -> list[AuditEntry]:
    """Entries in a row, each behind the one before it."""
    found: list[AuditEntry] = []
    for entry in entries:
        found.append(structs.replace(entry, hash=entry_hash(before, entry)))
        before = found[-1].hash
    return found
