"""Who may speak to whom, and who stands above whom: a link between two participants.

There is one link per pair, whichever way round it is written; its channel is the conversation `link:ID`. Above:
rules/graph.py makes a graph of them, rules/links.py decides by it.
"""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.record import Table

LinkId = NewType("LinkId", str)

CHANNEL = "link:"
"""What the id of a link's conversation begins with."""


class Policy(StrEnum):
    """Whom links bind."""

    AUTO = "auto"
    """Whoever has a link."""
    OPEN = "open"
    """Nobody."""
    LINKS = "links"
    """Every agent."""


class Direction(StrEnum):
    ONE_WAY = "one_way"
    """Only `from` may start; `to` answers."""
    TWO_WAY = "two_way"


class Relationship(StrEnum):
    """What `from` is of `to`."""

    PEER = "peer"
    SUPERIOR = "superior"
    SUBORDINATE = "subordinate"

    @property
    def seen_from_there(self) -> "Relationship":
        """What `to` is of `from`."""
        return _REVERSED[self]


_REVERSED = {
    Relationship.PEER: Relationship.PEER,
    Relationship.SUPERIOR: Relationship.SUBORDINATE,
    Relationship.SUBORDINATE: Relationship.SUPERIOR,
}


class LinkOrigin(StrEnum):
    CONFIG = "config"
    """`[[links]]` of moot.toml, which wins for what it names."""
    OVERRIDDEN = "overridden"
    """Named in moot.toml and changed by somebody since: the file wins again when it is read the next time."""
    API = "api"
    SPAWN = "spawn"
    """Made with an agent that another one started: it binds the started one alone."""


class Link(Struct, frozen=True, gc=False):
    id: LinkId
    source: ParticipantId
    """`from`."""
    target: ParticipantId
    """`to`."""
    direction: Direction = Direction.TWO_WAY
    relationship: Relationship = Relationship.PEER
    wanted: bool = True
    """Whether it is on as far as its maker says."""
    switched_off: bool = False
    """Somebody turned it off while the hub ran: it stays off until somebody turns it on, whatever moot.toml says."""
    origin: LinkOrigin = LinkOrigin.API
    place: str = ""
    """Where moot.toml says so: file and line."""
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def enabled(self) -> bool:
        return self.wanted and not self.switched_off

    @property
    def in_file(self) -> bool:
        """Whether moot.toml names it."""
        return self.origin in (LinkOrigin.CONFIG, LinkOrigin.OVERRIDDEN)

    @property
    def channel(self) -> ConversationId:
        return ConversationId(f"{CHANNEL}{self.id}")

    @property
    def ends(self) -> tuple[ParticipantId, ParticipantId]:
        return self.source, self.target

    def other(self, end: ParticipantId) -> ParticipantId:
        return self.target if end == self.source else self.source

    def may_start(self, end: ParticipantId) -> bool:
        """Whether this end may write first, while the link is on."""
        return self.direction is Direction.TWO_WAY or end == self.source

    def seen_by(self, end: ParticipantId) -> Relationship:
        """What the other end is to this one."""
        return self.relationship if end == self.target else self.relationship.seen_from_there

    @property
    def meaning(
        self,
    ) -> tuple[frozenset[ParticipantId], frozenset[ParticipantId], ParticipantId | None, bool]:
        """What it says, whichever way round it is written: who is linked, who may start, who is above, whether it is
        on."""
        starters = self.ends if self.direction is Direction.TWO_WAY else (self.source,)
        return frozenset(self.ends), frozenset(starters), self.superior, self.enabled

    @property
    def superior(self) -> ParticipantId | None:
        if self.relationship is Relationship.SUPERIOR:
            return self.source
        return self.target if self.relationship is Relationship.SUBORDINATE else None


LINKS = Table(
    "links", Link, key=("id",), all_at_once=True, in_micros=("created_at", "updated_at"), audited_as="link"
)


def is_channel(conversation: str) -> bool:
    """Whether a conversation is the channel of a link, by its id."""
    return conversation.startswith(CHANNEL)


def pair_key(one: ParticipantId, other: ParticipantId) -> str:
    """By which the channel of two participants is found, whichever way round they are named."""
    return f"{CHANNEL}{'+'.join(sorted((one, other)))}"
