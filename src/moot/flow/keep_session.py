"""Keep a session: what a coding CLI calls its conversation with an agent here, or that it has none any more.

Above: host/agent_turn.py, for the brain that runs the CLI. Nobody else writes it: an agent has one host.
"""

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.records.cli_session import CLI_SESSIONS, CliSession
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class KeepSession(Struct, frozen=True, gc=False):
    agent: ParticipantId
    conversation: ConversationId
    session: CliSession | None
    """None forgets the one there is."""


def scope(command: KeepSession) -> Scope:
    return Scope(
        conversations=(command.conversation,),
        records=(CLI_SESSIONS.one(command.agent, command.conversation),),
    )


def decide(command: KeepSession, seen: Seen, at: Moment) -> Decision[CliSession | None]:
    before = seen.record(CLI_SESSIONS, command.agent, command.conversation)
    draft = Draft(seen, at)
    if command.session is not None and seen.conversation(command.conversation) is not None:
        kept = structs.replace(command.session, updated_at=at.now)
        draft.put(CLI_SESSIONS, kept)
        return Decision(draft.changes(), kept)
    if before is not None:
        draft.drop(CLI_SESSIONS, command.agent, command.conversation)
    return Decision(draft.changes(), None)
