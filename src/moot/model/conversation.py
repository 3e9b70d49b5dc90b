"""Where they talk. Direct, group, link, task and ephemeral are one thing with other settings."""

from enum import StrEnum
from typing import ClassVar, TypedDict

from msgspec import Struct, structs

from moot.model.ids import ConversationId, ParticipantId
from moot.model.turn import Call


class ConversationKind(StrEnum):
    DIRECT = "direct"
    GROUP = "group"
    LINK = "link"
    TASK = "task"
    EPHEMERAL = "ephemeral"


WITH_ROUNDS = frozenset({ConversationKind.GROUP, ConversationKind.EPHEMERAL})


class ReplyStrategy(StrEnum):
    HYBRID = "hybrid"
    MENTION_ONLY = "mention_only"
    ROUND_ROBIN = "round_robin"


# Names for members that every post asks for: looking one up in its enum takes ten times as long.
EPHEMERAL, HYBRID = ConversationKind.EPHEMERAL, ReplyStrategy.HYBRID
MENTION_ONLY = ReplyStrategy.MENTION_ONLY


class TurnOrder(StrEnum):
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


class GroupSettings(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """How a group takes turns. The defaults are those of `[groups]` in moot.toml."""

    reply_strategy: ReplyStrategy = ReplyStrategy.HYBRID
    turn_order: TurnOrder = TurnOrder.SEQUENTIAL
    max_agent_turns_per_message: int = 3
    max_depth: int = 2
    reactive_round: bool = True
    agent_reply_timeout: float = 30.0
    turn_limit_seconds: float = 600.0
    voluntary_timeout: float = 10.0
    cooldown_seconds: float = 2.0
    max_voluntary_responders: int = 3
    max_voluntary_polls: int = 8
    agents_may_invite: bool = False
    links_bind: bool = False
    budget_usd: float = 0.0
    budget_tokens: int = 0


class GroupOverrides(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """The settings one conversation has chosen for itself; None follows the defaults."""

    reply_strategy: ReplyStrategy | None = None
    turn_order: TurnOrder | None = None
    max_agent_turns_per_message: int | None = None
    max_depth: int | None = None
    reactive_round: bool | None = None
    agent_reply_timeout: float | None = None
    turn_limit_seconds: float | None = None
    voluntary_timeout: float | None = None
    cooldown_seconds: float | None = None
    max_voluntary_responders: int | None = None
    max_voluntary_polls: int | None = None
    agents_may_invite: bool | None = None
    links_bind: bool | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None

    def over(self, defaults: GroupSettings) -> GroupSettings:
        """The settings in force: these where chosen, the defaults elsewhere."""
        if self == NOTHING_CHOSEN:
            return defaults
        chosen = {name: value for name, value in structs.asdict(self).items() if value is not None}
        return structs.replace(defaults, **chosen)


NOTHING_CHOSEN = GroupOverrides()


class Talk(TypedDict, total=False):
    """What changes in a conversation by talking."""

    updated_at: float
    next_seq: int
    chain: str
    chain_length: int
    last_human: int
    pointer: ParticipantId | None
    answered: int
    stalled: int


class Conversation(Struct, frozen=True, gc=False):
    """The root node of a docmem tree: its children are the messages 1, 2, 3 … without gaps."""

    id: ConversationId
    name: str
    kind: ConversationKind
    created_at: float
    updated_at: float
    settings: GroupOverrides = NOTHING_CHOSEN
    home: ParticipantId | None = None
    """The agent on whose topic the conversation lives; in an ephemeral one, its target."""
    next_seq: int = 1
    chain: str = ""
    """Hash of the newest entry of the audit chain."""
    chain_length: int = 0
    """How many entries the audit chain has: one per message, one per edit or delete."""
    version: int = 1
    archived: bool = False
    key: str = ""
    """What makes an implicit conversation findable: the sorted names of a pair or group."""
    channel_type: str = ""
    channel_group_id: str = ""
    last_human: int = 0
    """seq of the newest message by a human or an outside system."""
    pointer: ParticipantId | None = None
    """round_robin: who was readied last."""
    answered: int = 0
    """round_robin: up to which seq a turn that spoke has answered."""
    stalled: int = 0
    """Opener of the newest round that left calls blocked; `/continue` takes it up again."""
    blocked: tuple[Call, ...] = ()
    """Outside groups: calls a brake refused, newest per agent, for `/continue`."""
    epoch: int = 0
    """How many summaries there are; each begins an epoch."""
    summarised: int = 0
    """The newest summary stands for everything up to this seq."""

    TALK: ClassVar = tuple(Talk.__annotations__)
    """The fields that change by talking."""

    @property
    def head(self) -> int:
        return self.next_seq - 1

    @property
    def takes_rounds(self) -> bool:
        return self.kind in WITH_ROUNDS

    def found_like(self, before: "Conversation") -> bool:
        """Whether it is found by the same name and key as before, and is archived or not as before."""
        return self.name == before.name and self.key == before.key and self.archived is before.archived


class Member(Struct, frozen=True, gc=False):
    """A participant's place in one conversation."""

    conversation: ConversationId
    participant: ParticipantId
    position: int
    """Joining order, which is polling order."""
    joined_at: float
    speaks: bool = True
    """Takes turns: an agent, inside or outside; a person does not."""
    joined_seq: int = 0
    cursor: int = 0
    """All up to here was covered by completed turns; for a person, was read."""
    mark: str = ""
    streak: int = 0
    """Voluntary polls passed in a row."""
    rested: int = 0
    """Rounds sat out since the last poll."""
    said_at: float = 0.0
    cut: bool = False
    """Its last turn here was interrupted."""
