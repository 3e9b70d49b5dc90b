"""All kinds of records there are. A new one is declared in the module of its value, and listed here."""

from typing import Final

from moot.model.chain import RESERVATIONS, SPENDING
from moot.model.records.audit import AUDIT_ENTRIES, CHAIN_HEADS
from moot.model.records.bookmark import BOOKMARKS, WATCH_POSITIONS
from moot.model.records.chat_apps.bridge import (
    ARRIVALS,
    BRIDGE_ACCOUNTS,
    BRIDGE_CHATS,
    BRIDGE_LEASES,
    BRIDGE_POSTS,
    PAIRING_CODES,
)
from moot.model.records.cli_session import CLI_SESSIONS
from moot.model.records.dead_letter import DEAD_LETTERS
from moot.model.records.decision import DECISIONS
from moot.model.records.link import LINKS
from moot.model.records.note import NOTE_PERMISSIONS, NOTE_VERSIONS, NOTES
from moot.model.records.outbox import OUTBOX
from moot.model.records.position import POSITIONS
from moot.model.records.record import AnyTable
from moot.model.records.relay import RELAYS
from moot.model.records.share import SHARES
from moot.model.records.spawned import SPAWNED
from moot.model.records.task import TASKS
from moot.model.records.token import TOKENS
from moot.model.records.topic import TOPIC_TROUBLES, TOPICS
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
    SPAWNED,
    AUDIT_ENTRIES,
    CHAIN_HEADS,
    SHARES,
    OUTBOX,
    RELAYS,
    TOPICS,
    TOPIC_TROUBLES,
    DEAD_LETTERS,
    WATCH_POSITIONS,
    CLI_SESSIONS,
    SPENDING,
    RESERVATIONS,
    BRIDGE_CHATS,
    BRIDGE_ACCOUNTS,
    ARRIVALS,
    BRIDGE_POSTS,
    BRIDGE_LEASES,
    PAIRING_CODES,
)
