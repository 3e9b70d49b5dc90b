"""Reading everything: the pages of the file, and the audit chain of every conversation.

Above: `moot doctor` (store.py) reads a database in use, backup.py one that lies still.
"""

from collections.abc import Iterator

import apsw

from moot.model.conversation import Conversation
from moot.model.ids import ConversationId
from moot.model.message import Message
from moot.rules import audit
from moot.stores.sqlite import rows
from moot.stores.sqlite.engine import NO_END
from moot.stores.sqlite.statements import READ

PAGE = 1000


def read_all(connection: apsw.Connection) -> tuple[int, list[str]]:
    """How many messages there are, and what is wrong; all of it seen at one moment."""
    connection.execute("BEGIN")
    try:
        verdicts = [str(text) for (text,) in connection.execute("PRAGMA integrity_check")]
        problems = [text for text in verdicts if text != "ok"]
        for archived in (False, True):
            found = connection.execute(READ.conversations, (archived, None)).get
            for conversation in rows.CONVERSATIONS.many(found):
                problem = _chain_problem(connection, conversation)
                problems += [f"{conversation.name} ({conversation.id}): {problem}"] if problem else []
        return int(connection.execute(READ.count_messages).get), problems
    finally:
        connection.execute("ROLLBACK")


def _chain_problem(connection: apsw.Connection, conversation: Conversation) -> str | None:
    revisions = rows.REVISIONS.many(connection.execute(READ.revisions, (conversation.id,)).get)
    messages = _all_messages(connection, conversation.id)
    return audit.verify(messages, revisions, conversation.chain, conversation.links)


def _all_messages(connection: apsw.Connection, conversation: ConversationId) -> Iterator[Message]:
    after = 0
    while True:
        page = connection.execute(READ.messages_after, (PAGE, conversation, after, NO_END)).get
        messages = rows.MESSAGES.many(page)
        if not messages:
            return
        yield from messages
        after = messages[-1].seq
