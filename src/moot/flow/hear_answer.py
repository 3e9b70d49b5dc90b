"""Hear an answer: whoever asked has what came of its question, in the process in which it waited for it.

From here on nobody else has to bring it the answer. Above: hub/commands/ask.py and ask_person.py, before they return
it. Beside it: give_up.py, for whoever does not wait any longer.
"""

from msgspec import Struct

from moot.model.change import Decision
from moot.model.ids import ConversationId
from moot.model.moment import Moment
from moot.model.records.wait import WAITS
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class HearAnswer(Struct, frozen=True, gc=False):
    conversation: ConversationId
    seq: int
    """The question."""


def scope(command: HearAnswer) -> Scope:
    return Scope(records=(WAITS.one(command.conversation, command.seq),))


def decide(command: HearAnswer, seen: Seen, at: Moment) -> Decision[bool]:
    """False where it was brought to its asker otherwise: its process was taken for gone."""
    if seen.record(WAITS, command.conversation, command.seq) is None:
        return Decision([], False)
    draft = Draft(seen, at)
    draft.drop(WAITS, command.conversation, command.seq)
    return Decision(draft.changes(), True)
