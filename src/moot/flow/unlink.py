"""Delete a link: its channel is archived and stays readable; who waited there because of it waits no more.

A link of moot.toml is deleted there: it would come back with the next reload. Erasing what was said is an act of its
own (erase.py), once the link is gone.
"""

from msgspec import Struct

from moot.errors import Conflict
from moot.flow.steps import channel
from moot.model.change import Decision
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.records.link import Link
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Unlink(Struct, frozen=True, gc=False):
    author: ParticipantId
    link: str
    ends: tuple[ParticipantId, ...] = ()
    """Whom it links, as the caller knows it."""
    branches: tuple[ConversationId, ...] = ()
    """Where what was delegated over it is worked on."""


def scope(command: Unlink) -> Scope:
    return channel.cutting(command.author, command.link, command.ends, command.branches)


def decide(command: Unlink, seen: Seen, at: Moment) -> Decision[Link]:
    draft = Draft(seen, at)
    channel.by_person(draft, command.author)
    link = channel.found(seen.graph(), command.link)
    if link.in_file:
        raise Conflict(
            f"this link is set in {link.place or 'moot.toml'}, and would come back with the next reload",
            fix=(Hint(Act.EDIT_SETTINGS), Hint(Act.DISABLE_LINK, id=link.id)),
            place=link.place,
        )
    channel.open_tasks(seen, link, command.branches)
    channel.remove(draft, link, command.author)
    return Decision(draft.changes(), link)
