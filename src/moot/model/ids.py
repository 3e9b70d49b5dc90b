"""Typed identifiers. A message has no id of its own: its address is `conversation:seq`."""

from typing import NewType

ParticipantId = NewType("ParticipantId", str)
ConversationId = NewType("ConversationId", str)
TurnId = NewType("TurnId", int)
HostId = NewType("HostId", str)
RootId = NewType("RootId", str)
"""Address of the message at the start of a chain."""

NO_ROOT = RootId("")
SYSTEM = ParticipantId("system")
"""Author of notices. Nobody holds a credential for it."""

TOOL = ParticipantId("tool")
"""Author of what tools answer. Nobody holds a credential for it either."""


def address(conversation: ConversationId, seq: int) -> str:
    """The address of a message, unique over the whole store."""
    return f"{conversation}:{seq}"


def parse_address(text: str) -> tuple[ConversationId, int]:
    """The parts of a message address; `ValueError` when the text is not one."""
    conversation, colon, seq = text.rpartition(":")
    if not colon or not conversation or not seq.isascii() or not seq.isdigit():
        raise ValueError(f"{text!r} is not a message address; expected CONVERSATION:SEQ")
    return ConversationId(conversation), int(seq)
