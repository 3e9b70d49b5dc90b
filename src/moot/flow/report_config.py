"""Report config: tell that moot.toml was read again, and what came of it.

What it changed is stored by the verbs that changed it; a file that was refused changed nothing. Above:
hub/process/settings_in_force.py.
"""

from msgspec import Struct

from moot.flow.steps import acts
from moot.model.change import Decision
from moot.model.entrance import DoorName
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class ReportConfig(Struct, frozen=True, gc=False):
    author: ParticipantId
    body: JsonObject
    """What changed; of a refused file, the error."""
    refused: bool = False


def scope(command: ReportConfig) -> Scope:
    return Scope(names=(command.author,), records=(acts.HEAD,))


def decide(command: ReportConfig, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    kind = EventType.CONFIG_REFUSED if command.refused else EventType.CONFIG_RELOADED
    act = AuditedAct.CONFIG_REFUSED if command.refused else AuditedAct.CONFIG_RELOADED
    detail: JsonObject = {key: command.body[key] for key in ("digest", "code") if key in command.body}
    acts.enter(draft, act, command.author, "file moot.toml", detail, door=DoorName.CONFIG)
    draft.emit(kind, by=command.author, body=command.body)
    return Decision(draft.changes(), None)
