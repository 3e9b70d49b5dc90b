"""The audit: what people did, what was refused to agents, what became of tasks; each entry hashes the one before it.

There is one chain of acts, one of refusals per agent and one per task, so that no write waits for a chain that does not
concern it. Messages, their revisions and the versions of notes have chains of their own, in their own rows.
Above: flow/steps/acts.py and record_refusal.py enter, rules/audit.py hashes. Never in here: secrets, and what was said.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from moot.model.entrance import DoorName
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.records.record import Table

ACTS: Final = "acts"
"""The chain of what people did, and moot.toml."""
REFUSALS: Final = "refusals:"
"""What the chain of an agent's refusals begins with; its id follows."""
OF_TASK: Final = "task:"


class AuditedAct(StrEnum):
    """Everything that is entered."""

    ACCOUNT_LINKED = "account.linked"
    ACCOUNT_UNLINKED = "account.unlinked"
    AGENT_CREATED = "agent.created"
    AGENT_EDITED = "agent.edited"
    AGENT_PAUSED = "agent.paused"
    AGENT_REMOVED = "agent.removed"
    AGENT_RENAMED = "agent.renamed"
    AGENT_RESUMED = "agent.resumed"
    AGENT_RETIRED = "agent.retired"
    AGENT_SPAWNED = "agent.spawned"
    AUDIT_BEGAN = "audit.began"
    """What stood before is adopted behind it; doors of earlier messages are not known."""
    CHAT_PAIRED = "chat.paired"
    CHAT_UNPAIRED = "chat.unpaired"
    CODE_ISSUED = "code.issued"
    """A code that pairs a chat."""
    CONFIG_REFUSED = "config.refused"
    CONFIG_RELOADED = "config.reloaded"
    CONVERSATION_ARCHIVED = "conversation.archived"
    CONVERSATION_CONFIGURED = "conversation.configured"
    CONVERSATION_CONTINUED = "conversation.continued"
    CONVERSATION_IMPORTED = "conversation.imported"
    CONVERSATION_JOINED = "conversation.joined"
    CONVERSATION_LEFT = "conversation.left"
    CONVERSATION_PURGED = "conversation.purged"
    CONVERSATION_UNARCHIVED = "conversation.unarchived"
    DECISION_ANSWERED = "decision.answered"
    DECISION_USED = "decision.used"
    """What a person allowed once was done."""
    LIMIT_RESET = "limit.reset"
    LINK_ADOPTED = "link.adopted"
    LINK_CHANGED = "link.changed"
    LINK_CREATED = "link.created"
    LINK_DELETED = "link.deleted"
    NOTE_DELETED = "note.deleted"
    NOTE_SHARED = "note.shared"
    OWNER_ACTED_AS = "owner.acted_as"
    PERMISSION_ADOPTED = "permission.adopted"
    POST_MOVED = "post.moved"
    """What a bridge could not send, or not surely: sent again, or let go of."""
    POLICY_SET = "policy.set"
    REFUSED = "refused"
    SIGN_IN_OFFERED = "sign_in.offered"
    SIGNED_IN = "sign_in.done"
    TASK_ADOPTED = "task.adopted"
    TASK_CHANGED = "task.changed"
    TASK_CREATED = "task.created"
    TASK_ENDED = "task.ended"
    TOKEN_ISSUED = "token.issued"
    TOKEN_REVOKED = "token.revoked"


class AuditEntry(Struct, frozen=True, gc=False):
    chain: str
    place: int
    """1, 2, 3 … without gaps."""
    at: float
    by: ParticipantId
    """Who did it, or tried to."""
    on_behalf_of: str
    """In whose name, where the owner spoke for somebody."""
    door: DoorName
    act: AuditedAct
    subject: str
    """What it was done to: a word for its kind, and its key."""
    detail: JsonObject
    """What a reader needs to make a sentence of it."""
    digest: str = ""
    """Of the row it left behind; empty where none is."""
    count: int = 1
    """How often in a row, for refusals."""
    last_at: float = 0.0
    """When it was last counted."""
    hash: str = ""

    def is_like(self, other: "AuditEntry") -> bool:
        """Whether the same was done once more."""
        return (self.by, self.on_behalf_of, self.door, self.act, self.subject, self.detail) == (
            other.by,
            other.on_behalf_of,
            other.door,
            other.act,
            other.subject,
            other.detail,
        )


class ChainHead(Struct, frozen=True, gc=False):
    """Where a chain ends."""

    chain: str
    length: int
    hash: str
    """Of the newest entry."""
    before: str = ""
    """Of the entry before the newest, or before the first of several that still count up."""
    newest: AuditEntry | tuple[AuditEntry, ...] | None = None
    """For refusals: those that may still be counted up, in their order. One alone is how it was written at first."""
    sealed: int = 0
    """Entries up to this place are final: they may be exported, and their counts no longer change."""
    digest: str = ""
    """Of all this."""

    @property
    def counting(self) -> tuple[AuditEntry, ...]:
        """The newest refusals, as far as they are not final."""
        kept = (self.newest,) if isinstance(self.newest, AuditEntry) else self.newest or ()
        return tuple(entry for entry in kept if entry.place > self.sealed)


class ChainEnd(Struct, frozen=True, gc=False):
    """Where a chain stands, as it is exported."""

    chain: str
    length: int
    hash: str


class AuditQuery(Struct, frozen=True, gc=False):
    """Which entries, newest first; what is empty does not matter."""

    since: float = 0.0
    before: float = 0.0
    agent: str = ""
    """By it, in its name, or about it."""
    subjects: tuple[str, ...] = ()
    acts: tuple[AuditedAct, ...] = ()
    limit: int = 100

    def picks(self, entry: AuditEntry) -> bool:
        about = (entry.by, entry.on_behalf_of, entry.subject.removeprefix("agent "))
        named = (entry.detail.get(key) for key in ("agent", "participant", "from", "to"))
        return (
            entry.last_at >= self.since
            and (not self.before or entry.last_at < self.before)
            and (not self.agent or self.agent in (*about, *named))
            and (not self.subjects or entry.subject in self.subjects)
            and (not self.acts or entry.act in self.acts)
        )


AUDIT_ENTRIES = Table(
    "audit_entries", AuditEntry, key=("chain", "place"), by=("subject",), in_micros=("at", "last_at")
)
CHAIN_HEADS = Table("chain_heads", ChainHead, key=("chain",), all_at_once=True)
