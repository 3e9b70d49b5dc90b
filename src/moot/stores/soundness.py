"""Reading everything of a store: every row, and every chain of the audit. What is wrong is told with its place, not
raised:
one bad row must not hide the others.

Above: soundness of SQLite (sqlite/file/soundness.py) and of PostgreSQL (postgres/soundness.py), which hand in how
rows are read. It blocks: whoever calls it does so in a thread.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from msgspec import DecodeError

from moot.model.conversation import Conversation, ConversationKind
from moot.model.ids import address
from moot.model.message import Message, Revision
from moot.model.records.audit import AUDIT_ENTRIES, CHAIN_HEADS, OF_TASK
from moot.model.records.link import LINKS
from moot.model.records.note import NOTE_PERMISSIONS, NOTE_VERSIONS, NOTES, NoteVersion, SharedNote
from moot.model.records.record import AnyTable
from moot.model.records.task import TASKS, Task
from moot.ports import AuditReport
from moot.rules import audit
from moot.rules.audit import KnownHead
from moot.rules.audit_walk import AuditWalk
from moot.rules.words.names import is_conversation_id, is_id, is_name
from moot.stores import rows

MAX_PROBLEMS: Final = 100
NOT_A_ROW: Final = (DecodeError, UnicodeDecodeError, ValueError, TypeError, RecursionError)
"""What becomes of a value whose bits have changed."""
READ_APART: Final = frozenset(
    {
        *("conversations", "messages", "revisions"),
        *(AUDIT_ENTRIES.name, CHAIN_HEADS.name, NOTES.name, NOTE_VERSIONS.name),
    }
)
"""Tables that are read conversation by conversation, or along their chains."""
READ_BY_ROW: Final[dict[str, rows.Rows[Any]]] = {
    name: of for name, of in (rows.CORE | rows.RECORDS).items() if name not in READ_APART
}
"""The others, read row by row."""
WALKED: Final[dict[str, AnyTable]] = {LINKS.name: LINKS, NOTE_PERMISSIONS.name: NOTE_PERMISSIONS}
"""Among them, tables whose rows must match the newest act on each."""
Progress = Callable[[int], None]
"""Called now and then with how many messages were read."""
EVERY: Final = 5_000


class StoredRows(Protocol):
    """How a store's rows are read, by the name of their statement: each as its place and its shape, or what it asks
    for."""

    unreadable: tuple[type[Exception], ...]
    """The errors raised where rows cannot be read."""

    def found(self, name: str, *values: str) -> Iterator[tuple[Any, ...]]: ...


class Soundness:
    """One reading of everything."""

    def __init__(self, stored: StoredRows, heads: Mapping[str, KnownHead], progress: Progress) -> None:
        self._stored = stored
        self._compared = len(heads)
        self._heads = dict(heads)
        """Exported chain heads that have not been met yet."""
        self._progress = progress
        self.messages = 0
        self.chains = 0
        """Of conversations and notes."""
        self.problems: list[str] = []
        self.walk = AuditWalk(self._task, heads, self.problems.append)
        self._people: dict[str, set[str]] = {}
        """Everybody's id, with all names they have."""

    def whole(self) -> AuditReport:
        self._entries()
        revisions: dict[str, list[Revision]] = {}
        for _, revision in self._rows("revisions", rows.REVISIONS):
            revisions.setdefault(revision.conversation, []).append(revision)
        for _, conversation in self._rows("conversations", rows.CONVERSATIONS):
            self._conversation(conversation, revisions.pop(conversation.id, []))
        self.problems += [f"{where} has revisions, but is missing" for where in revisions]
        self._orphans()
        for _, note in self._rows(NOTES.name, rows.RECORDS[NOTES.name]):
            self._note(note)
        for table, of in READ_BY_ROW.items():
            for place, value in self._rows(table, of):
                self._named(table, place, value)
        self.walk.rows_ended()
        self._answered_to()
        self._missing()
        return AuditReport(
            messages=self.messages,
            entries=self.walk.entries,
            chains=self.walk.chains + self.chains,
            compared=self._compared,
            has_begun=self.walk.has_begun,
            problems=tuple(self.problems[:MAX_PROBLEMS]),
            purged=tuple(self.walk.purged),
        )

    # --- the audit -----------------------------------------------------------------------------------------

    def _entries(self) -> None:
        for _, head in self._rows(CHAIN_HEADS.name, rows.RECORDS[CHAIN_HEADS.name]):
            self.walk.head(head)
        for _, entry in self._rows(AUDIT_ENTRIES.name, rows.RECORDS[AUDIT_ENTRIES.name]):
            self._heads.pop(entry.chain, None)
            self.walk.entry(entry)
        self.walk.ended()

    def _task(self, id: str) -> Task | None:
        shape = self._one("task", id)
        try:
            return None if shape is None else rows.RECORDS[TASKS.name].one(shape)
        except NOT_A_ROW:
            return None

    def _check_task(self, task: Task) -> None:
        """It has all its changes, and its branch is there, or was purged."""
        if not self.walk.has_begun:
            return
        chain = f"{OF_TASK}{task.id}"
        entries = int(self._one("entries_of", chain))
        if task.chain_length < 1 or entries < 1:
            self.problems.append(f"task {task.id} is nowhere in the audit")
        branch = task.conversation
        is_there = bool(self._one("conversation", branch))
        if branch and not is_there and not self.walk.was_purged(f"conversation:{branch}"):
            self.problems.append(
                f"task {task.id}: its conversation {branch} is missing, and nobody erased it"
            )

    def _note(self, note: SharedNote) -> None:
        self.chains += 1
        head = self._heads.pop(f"note:{note.name}", None)
        if head is not None and self.walk.was_purged(f"note:{note.name}"):
            head = None  # it was another of that name
        found = self._found("note_versions", note.name)
        versions = (
            self._value("note_versions", f"{note.name}@{number}", rows.RECORDS[NOTE_VERSIONS.name], shape)
            for number, shape in found
        )
        before = len(self.problems)
        sound: list[NoteVersion] = [version for version in versions if version is not None]
        problem = audit.verify_note(note, sound, head)
        if problem is None and head is not None and head.length > note.version:
            problem = f"{note.name} has {note.version} versions, but had {head.length} once"
        if problem and len(self.problems) == before:
            self.problems.append(f"note {note.name}: {problem}")

    def _orphans(self) -> None:
        """Messages and versions of what is not there."""
        for (place,) in self._found("orphans"):
            self.problems.append(f"{_text(place)} belongs to nothing that is there")

    def _missing(self) -> None:
        for chain, head in self._heads.items():
            self.walk.missing(chain, head)

    # --- conversations ---------------------------------------------------------------------------------------

    def _conversation(self, conversation: Conversation, revisions: list[Revision]) -> None:
        called = f"{conversation.name} ({conversation.id})"
        if not is_conversation_id(conversation.id):
            self.problems.append(f"conversations {conversation.id!a}: it is not an id")
            return
        before = len(self.problems)
        messages = self._messages(conversation)
        self.chains += 1
        head = self._heads.pop(f"conversation:{conversation.id}", None)
        problem = audit.verify(messages, revisions, conversation.chain, conversation.chain_length, head)
        if problem and len(self.problems) == before:  # a damaged row breaks the chain as well: told once
            self.problems.append(f"{called}: {problem}")

    def _messages(self, conversation: Conversation) -> Iterator[Message]:
        found = self._found("messages", conversation.id)
        for seq, shape in found:
            message = self._value("messages", address(conversation.id, seq), rows.MESSAGES, shape)
            if message is None:
                continue
            self.messages += 1
            if self.messages % EVERY == 0:
                self._progress(self.messages)
            if message.seq == 1 and (task := message.metadata.get("task")):
                self._check_branch(conversation, message, str(task))
            yield message

    def _check_branch(self, conversation: Conversation, first: Message, task: str) -> None:
        """Where a task was given, it is there; what was said about one elsewhere, long ago, says nothing here."""
        is_branch = conversation.kind is ConversationKind.TASK and "imported" not in first.metadata
        if is_branch and self._one("task", task) is None:
            self.problems.append(f"task {task} is missing: it was given in {conversation.id}")

    def _named(self, table: str, place: str, value: Any) -> None:
        """What becomes part of a path must not lead anywhere, who is named must be somebody, and what the audit speaks
        of must be as it says."""
        if table in WALKED:
            self.walk.row(WALKED[table], value)
        if table == TASKS.name:
            self._check_task(value)
        if table in ("registry", "tokens", "hosts", "links") and not is_id(value.id):
            self.problems.append(f"{table} {place}: it is not an id")
        if table == "registry":
            names = (value.name, *value.aliases)
            self._people[value.id] = {value.id, *names}
            self.problems += [
                f"{table} {place}: {name!a} is not a name" for name in names if not is_name(name)
            ]
        if table == "members" and value.participant not in self._people:
            self.problems.append(f"{table} {place}: the registry has no such id")

    def _answered_to(self) -> None:
        """The names by which participants are found are those they have, and no others."""
        stored = {(_text(name), _text(participant_id)) for name, participant_id in self._found("aliases")}
        expected = {
            (name, participant_id) for participant_id, names in self._people.items() for name in names
        }
        self.problems += [
            f"aliases {name}: it points to {participant_id}, which does not have that name"
            for name, participant_id in stored - expected
        ]
        self.problems += [
            f"aliases {name}: it does not point to {participant_id}"
            for name, participant_id in expected - stored
        ]

    # --- rows ----------------------------------------------------------------------------------------------

    def _rows(self, table: str, of: rows.Rows[Any]) -> Iterator[tuple[str, Any]]:
        for key, shape in self._found(table):
            place = _text(key)
            value = self._value(table, place, of, shape)
            if value is not None:
                yield place, value

    def _found(self, name: str, *values: str) -> Iterator[tuple[Any, ...]]:
        """The rows as far as they can be read."""
        try:
            yield from self._stored.found(name, *values)
        except self._stored.unreadable as error:
            self.problems.append(f"{name}: cannot be read completely: {error}")

    def _one(self, name: str, value: str) -> Any:
        return next((found for (found,) in self._stored.found(name, value)), None)

    def _value(self, table: str, place: str, of: rows.Rows[Any], shape: Any) -> Any:
        try:
            return of.one(shape)
        except NOT_A_ROW as error:
            self.problems.append(f"{table} {place}: {_error_text(error)}")
            return None


def _error_text(error: Exception) -> str:
    text = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return "a text is not UTF-8" if "utf-8" in text.lower() else text


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
