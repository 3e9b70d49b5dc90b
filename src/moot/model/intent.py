"""What a message is meant as. Closed: programs act on it, so a word that nobody knows would mean nothing."""

from enum import StrEnum
from typing import Final


class Intent(StrEnum):
    INFORM = "inform"
    ASK = "ask"
    DELEGATE = "delegate"
    REPORT = "report"
    ESCALATE = "escalate"
    APPROVE = "approve"
    DECLINE = "decline"


INTENTS: Final = tuple(intent.value for intent in Intent)
UPWARD: Final = frozenset({Intent.REPORT, Intent.ESCALATE})
"""For whoever stands above."""
ANSWERS: Final = frozenset({Intent.APPROVE, Intent.DECLINE})
"""Said of another message."""
