"""All kinds of records there are. A new one is declared in the module of its value, and listed here."""

from typing import Final

from moot.model.records.audit import AUDIT_ENTRIES, CHAIN_HEADS
from moot.model.records.bookmark import BOOKMARKS
from moot.model.records.decision import DECISIONS
from moot.model.records.link import LINKS
from moot.model.records.note import NOTE_PERMISSIONS, NOTE_VERSIONS, NOTES
from moot.model.records.position import POSITIONS
from moot.model.records.record import AnyTable
from moot.model.records.task import TASKS
from moot.model.records.token import TOKENS
from moot.model.records.wait import WAITS

TABLES: Final[tuple[AnyTable, ...]] = (
    TOKENS,
    BOOKMARKS,
    LINKS,
    TASKS,
    WAITS,
    DECISIONS,
    NOTES,
    NOTE_VERSIONS,
    NOTE_PERMISSIONS,
    POSITIONS,
    AUDIT_ENTRIES,
    CHAIN_HEADS,
)
