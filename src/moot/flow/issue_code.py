"""Issue a code that pairs one chat elsewhere, once. Whoever calls brings its hash; the code is shown and not kept.

Codes that have run out go with the next one that is issued.
"""

from msgspec import Struct

from moot.errors import NotPermitted
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.chat_apps.bridge import PAIRING_CODES, PairingCode
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class IssueCode(Struct, frozen=True, gc=False):
    author: ParticipantId
    bridge: str
    digest: str
    seconds: float


def scope(command: IssueCode) -> Scope:
    return Scope(names=(command.author,), records=(acts.HEAD, PAIRING_CODES.all()))


def decide(command: IssueCode, seen: Seen, at: Moment) -> Decision[PairingCode]:
    draft = Draft(seen, at)
    if not find.is_owner(find.participant(seen, command.author), at):
        raise NotPermitted("only the owner may pair chats", fix=("ask the owner for a code",))
    for old in seen.records(PAIRING_CODES.all()):
        if old.until <= at.now and not old.used_by:  # one that was used says since when its chat is paired
            draft.drop(PAIRING_CODES, old.digest)
    code = PairingCode(
        command.digest, command.bridge, command.author, until=at.now + command.seconds, created_at=at.now
    )
    draft.put(PAIRING_CODES, code)
    detail = {"bridge": command.bridge}
    acts.enter(draft, AuditedAct.CODE_ISSUED, command.author, f"bridge {command.bridge}", detail)
    return Decision(draft.changes(), code)
