"""A conversation that is being imported: closed until it is whole."""

from moot.errors import Conflict
from moot.flow.steps import find
from moot.model.conversation import Conversation
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId
from moot.rules.draft import Seen


def closed(seen: Seen, conversation: ConversationId) -> Conversation:
    found = find.conversation(seen, conversation)
    if not found.archived:
        raise Conflict(
            f"{found.name} was opened during the import, so nothing more is added to it",
            fix=(Hint(Act.DELETE_CONVERSATION, conversation=found.id), "import the file again"),
        )
    return found
