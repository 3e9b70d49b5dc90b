"""Reading everything: the pages of the file, every row, and the audit chain of every conversation.

Above: `moot doctor` (store.py) reads a database in use, copies.py one that lies still. What is wrong is told with its
place, not raised: one bad row must not hide the others.
"""

from collections.abc import Iterator
from typing import Any, Final

import apsw
from msgspec import DecodeError

from moot.model.conversation import Conversation
from moot.model.ids import address
from moot.model.message import Message, Revision
from moot.rules import audit
from moot.rules.words.names import is_conversation_id, is_id, is_name
from moot.stores.sqlite import rows
from moot.stores.sqlite.file import outline
from moot.stores.sqlite.statements import READ, RECORDS, SCHEMA, SOUND

MAX_PROBLEMS: Final = 100
NOT_A_ROW: Final = (DecodeError, UnicodeDecodeError, ValueError, TypeError, RecursionError)
"""What becomes of a value whose bits have changed."""
BESIDES: Final[dict[str, rows.Rows[Any]]] = {
    "registry": rows.PARTICIPANTS,
    "members": rows.MEMBERS,
    "turns": rows.TURNS,
    "rounds": rows.ROUNDS,
    "roots": rows.ROOTS,
    "pairs": rows.PAIRS,
    "quotas": rows.QUOTAS,
    "hosts": rows.HOSTS,
    "summaries": rows.SUMMARIES,
    "events": rows.EVENTS,
    **rows.RECORDS,
}
"""Tables that no chain holds together."""


def read_all(connection: apsw.Connection) -> tuple[int, list[str]]:
    """How many messages there are, and what is wrong; all of it seen at one moment."""
    connection.execute("BEGIN")
    try:
        reading = _Reading(connection)
        reading.whole()
        return reading.messages, reading.problems[:MAX_PROBLEMS]
    finally:
        connection.execute("ROLLBACK")


class _Reading:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.messages = 0
        self.problems: list[str] = []
        self._people: dict[str, set[str]] = {}
        """Everybody's id, with all that they go by."""

    def whole(self) -> None:
        verdicts = [str(text) for (text,) in self._connection.execute("PRAGMA integrity_check")]
        self.problems += [text for text in verdicts if text != "ok"]
        version, *_ = self._connection.execute(SCHEMA.newest).fetchone() or (0,)
        self.problems += outline.differences(self._connection, version)
        revisions: dict[str, list[Revision]] = {}
        for _, revision in self._rows("revisions", rows.REVISIONS):
            revisions.setdefault(revision.conversation, []).append(revision)
        for _, conversation in self._rows("conversations", rows.CONVERSATIONS):
            self._conversation(conversation, revisions.get(conversation.id, []))
        for table, of in BESIDES.items():
            for place, value in self._rows(table, of):
                self._named(table, place, value)
        self._answered_to()
        self.messages = int(self._connection.execute(READ.count_messages).get)

    def _conversation(self, conversation: Conversation, revisions: list[Revision]) -> None:
        called = f"{conversation.name} ({conversation.id})"
        if not is_conversation_id(conversation.id):
            self.problems.append(f"conversations {conversation.id!a}: it is not an id")
            return
        before = len(self.problems)
        messages = self._messages(conversation)
        problem = audit.verify(messages, revisions, conversation.chain, conversation.chain_length)
        if problem and len(self.problems) == before:  # a damaged row breaks the chain as well: told once
            self.problems.append(f"{called}: {problem}")

    def _messages(self, conversation: Conversation) -> Iterator[Message]:
        found = self._found("messages", SOUND.messages, (conversation.id,))
        for seq, shape in found:
            message = self._value("messages", address(conversation.id, seq), rows.MESSAGES, shape)
            if message is not None:
                yield message

    def _named(self, table: str, place: str, value: Any) -> None:
        """What becomes part of a path must not lead anywhere, and who is named must be somebody."""
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
        found = self._found("aliases", SOUND.aliases, ())
        known = {(name.decode("utf-8", "replace"), who.decode("utf-8", "replace")) for name, who in found}
        expected = {(name, who) for who, names in self._people.items() for name in names}
        self.problems += [
            f"aliases {name}: it points to {who}, which does not have that name"
            for name, who in known - expected
        ]
        self.problems += [f"aliases {name}: it does not point to {who}" for name, who in expected - known]

    # --- rows ----------------------------------------------------------------------------------------------

    def _rows(self, table: str, of: rows.Rows[Any]) -> Iterator[tuple[str, Any]]:
        statement = RECORDS[table].every if table in RECORDS else SOUND.all()[table]
        for key, shape in self._found(table, statement, ()):
            place = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
            value = self._value(table, place, of, shape)
            if value is not None:
                yield place, value

    def _found(self, table: str, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
        """The rows as far as they can be read."""
        try:
            yield from self._connection.execute(statement, values)
        except (apsw.Error, UnicodeDecodeError) as error:
            self.problems.append(f"{table}: cannot be read completely: {error}")

    def _value(self, table: str, place: str, of: rows.Rows[Any], shape: Any) -> Any:
        try:
            return of.one(shape)
        except NOT_A_ROW as error:
            self.problems.append(f"{table} {place}: {_error_text(error)}")
            return None


def _error_text(error: Exception) -> str:
    text = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return "a text is not UTF-8" if "utf-8" in text.lower() else text
