"""The session that a coding CLI keeps for an agent in one conversation: by which it is resumed, and what it has cost.

Above: brains/command keeps it through the turn. The store remains the memory: a session that its CLI has lost costs
tokens, and nothing that was said.
"""

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.records.record import Table


class CliSession(Struct, frozen=True, gc=False):
    agent: ParticipantId
    conversation: ConversationId
    driver: str
    session: str
    """As the CLI calls it."""
    project: str
    """Where it works; a session of another folder is not resumed."""
    version: str = ""
    """Of the CLI that confirmed it last."""
    brief: str = ""
    """Fingerprint of what the agent was last told about itself and its place."""
    turn: TurnId = TurnId(0)
    """The turn that it was last prompted for."""
    reached: int = 0
    """seq of the newest message that it was shown."""
    open: bool = False
    """That prompt has not come to its end: after a crash the CLI is told so, instead of being prompted again."""
    cost_usd: float = 0.0
    """What is charged of it so far; the CLI counts from the session's beginning."""
    updated_at: float = 0.0


CLI_SESSIONS = Table(
    "cli_sessions",
    CliSession,
    key=("agent", "conversation"),
    by=("agent",),
    in_micros=("updated_at",),
    ends_with_conversation=True,
)
