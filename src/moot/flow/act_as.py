"""Act as somebody: the owner did something in another's name, which is told."""

from msgspec import Struct

from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class ActAs(Struct, frozen=True, gc=False):
    """The owner did something in somebody's name."""

    owner: ParticipantId
    speaker: ParticipantId
    what: str


def scope(command: ActAs) -> Scope:
    return Scope(names=(command.owner, command.speaker))


def decide(command: ActAs, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    draft.emit(EventType.OWNER_ACTED_AS, by=command.owner, body={"as": command.speaker, "what": command.what})
    return Decision(draft.changes(), None)
