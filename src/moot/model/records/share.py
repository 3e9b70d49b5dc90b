"""Shares: who has which part of something that several hosts could do, for as long as it says so.

An agent with N partitions has N parts, and each conversation belongs to one of them; what only one hub may do has a
single part. Above: flow/hold_shares.py gives and takes them, host/held_shares.py heeds them. The fence rises with each
new holder.
"""

from typing import Final
from zlib import crc32

from msgspec import Struct

from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.records.record import Table

CONFIG: Final = "config"
"""The group of one part whose holder keeps the links as its moot.toml says."""


class Share(Struct, frozen=True, gc=False):
    grp: str
    """What is shared: `agent-ID`, or what one hub does for all."""
    part: int
    host: HostId
    fence: int
    until: float
    """0: given back."""
    place: str = ""
    """Where its holder runs, for people."""


SHARES = Table("shares", Share, key=("grp", "part"), by=("grp",), all_at_once=True)


def group_of(agent: ParticipantId) -> str:
    return f"agent-{agent}"


def supervision_of(agent: ParticipantId) -> str:
    """The group of one part whose holder shows a supervisor what happens."""
    return f"watch-{agent}"


def part_of(conversation: ConversationId, parts: int) -> int:
    """The same in every process, and for as long as there are as many parts."""
    return crc32(conversation.encode()) % parts
