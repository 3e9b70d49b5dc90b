"""Reset a pair's limiter: a person lets one agent write to another again, without the delays and the cap it ran into.

What is held already comes when it is due, half a minute later at most.
"""

from msgspec import Struct

from moot.errors import NotPermitted
from moot.flow.steps import acts, find
from moot.model.chain import Pair
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import HUMAN
from moot.model.records.audit import AuditedAct
from moot.model.turn import RuleName
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class ResetPair(Struct, frozen=True, gc=False):
    author: ParticipantId
    sender: str
    receiver: str


def scope(command: ResetPair) -> Scope:
    return Scope(names=(command.author, command.sender, command.receiver), records=(acts.HEAD,))


def decide(command: ResetPair, seen: Seen, at: Moment) -> Decision[Pair]:
    draft = Draft(seen, at)
    author = draft.participant(command.author)
    if author.kind is not HUMAN:
        raise NotPermitted(
            f"{author.name} cannot reset limits", detail="only people reset what slows agents down"
        )
    sender, receiver = (find.participant(seen, name) for name in (command.sender, command.receiver))
    fresh = Pair(sender=sender.id, receiver=receiver.id)
    draft.put_pair(fresh)
    body = {"rule": RuleName.PAIR_LIMIT.value, "agents": [sender.name, receiver.name]}
    draft.emit(EventType.BRAKE_RELEASED, by=author.id, body=body)
    ends = {"from": sender.id, "to": receiver.id}
    acts.enter(draft, AuditedAct.LIMIT_RESET, author.id, f"pair {sender.id} {receiver.id}", ends)
    return Decision(draft.changes(), fresh)
