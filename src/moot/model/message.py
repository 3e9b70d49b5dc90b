"""What is said: a docmem node, child of its conversation, plain text, addressed by `seq`."""

from typing import Final

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId, address
from moot.model.json import JsonObject
from moot.model.participant import TAKES_TURNS, Kind
from moot.model.turn import Duty, RuleName

FIRST_VERSION = 1
"""Of a message as it was posted; each edit makes the next."""
MODEL = "model"
"""What made a summary, where it was not the demo: which model, and where, is the owner's to know."""


class Part(Struct, frozen=True, array_like=True, gc=False):
    """An agent's part in a message, as planned when it was posted."""

    agent: ParticipantId
    duty: Duty
    rule: RuleName


class Plan(Struct, frozen=True, array_like=True, gc=False):
    """The why-record: the parts that differ, and what holds for every other agent member."""

    parts: tuple[Part, ...] = ()
    others: tuple[Duty, RuleName] = (Duty.OBSERVES, RuleName.STRATEGY)

    def of(self, agent: ParticipantId) -> tuple[Duty, RuleName]:
        for part in self.parts:
            if part.agent == agent:
                return part.duty, part.rule
        return self.others


NOTICES: Final = frozenset({Kind.SYSTEM, Kind.TOOL})
"""Kinds of messages that no participant wrote."""
OBLIGED: Final = frozenset({"task", "question"})
"""Metadata of notices that somebody has to hear: what came of a task, or of a question."""


class Message(Struct, frozen=True, gc=False):
    conversation: ConversationId
    seq: int
    author: ParticipantId
    kind: Kind
    text: str
    root: RootId
    hop: int
    at: float
    mentions: tuple[ParticipantId, ...] = ()
    reply_to: int = 0
    intent: str = ""
    version: int = FIRST_VERSION
    turn: TurnId | None = None
    round: int = 0
    """Opener of the round it was said in; its own seq if it opened one; 0 outside groups."""
    depth: int = 0
    metadata: JsonObject = {}
    plan: Plan = Plan()
    key: str = ""
    """Idempotency key, unique per author."""
    digest: str = ""
    """Fingerprint of the request, to tell a repeat from another body under the same key."""
    chain_place: int = 0
    """Its place in the conversation's audit chain."""
    hash: str = ""

    @property
    def id(self) -> str:
        return address(self.conversation, self.seq)

    @property
    def context(self) -> str:
        """The docmem context of the node: type, name and value."""
        return f"text:agent:{self.author}"

    @property
    def by_agent(self) -> bool:
        return self.kind in TAKES_TURNS

    def is_for(self, reader: ParticipantId) -> bool:
        """Said by somebody else, to be read by people and agents; and how a task ended or that a question got no
        answer, which the hub says."""
        if self.author == reader or self.metadata.get("deleted"):
            return False
        return self.kind not in NOTICES or (
            self.kind is Kind.SYSTEM and not OBLIGED.isdisjoint(self.metadata)
        )

    @property
    def from_outside(self) -> bool:
        """Said by a person or an outside system: not by an agent, and not by Moot itself."""
        return self.kind not in TAKES_TURNS and self.kind is not Kind.SYSTEM

    @property
    def is_deleted(self) -> bool:
        return bool(self.metadata.get("deleted"))


class Revision(Struct, frozen=True, gc=False):
    """An edit or a delete: an entry of its own in the audit chain."""

    conversation: ConversationId
    seq: int
    version: int
    was_hash: str
    """Hash of the text before."""
    text_hash: str
    by: ParticipantId
    at: float
    chain_place: int
    hash: str


class Summary(Struct, frozen=True, gc=False):
    """A docmem node of type `summary`: stands for all messages up to a seq. It has no seq and wakes nobody."""

    conversation: ConversationId
    epoch: int
    upto: int
    text: str
    by: str
    """What made it: `demo` or `model`, or what an imported file says."""
    at: float
    version: int = 1
    usage: JsonObject | None = None

    @property
    def id(self) -> str:
        return f"{self.conversation}:s{self.epoch}"

    @property
    def context(self) -> str:
        """The docmem context, as of a message; a brain that sums up is named by its kind alone."""
        return f"summary:agent:{self.by}"


class Permit(Struct, frozen=True, gc=False):
    """The proof that the link policy let an author speak here. Only rules/links.py makes one."""

    author: ParticipantId
    by: str
    """What allowed it: `human`, `system`, `open`, `member`, `link:ID`."""


class ConversationGlance(Struct, frozen=True, gc=False):
    """What a list shows of a conversation beside its name."""

    conversation: ConversationId
    last: Message | None = None
    unread: int = 0
    """Messages of others beyond what its reader has read, counted no further than asked."""
