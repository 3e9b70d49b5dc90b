"""Enrol participants: known names are brought up to date, unknown ones get an id."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

from moot.errors import BadValue
from moot.flow.steps import acts
from moot.flow.steps.lines import check_lines
from moot.flow.steps.registry import answered_to, back, checked_display, checked_name, give_way
from moot.model.change import Decision
from moot.model.entrance import DoorName
from moot.model.event import EventType
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import NO_CONFIG, AgentConfig, Kind, Participant
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.words.names import unique_slug
from moot.rules.words.redact import bare_brain


class Newcomer(Struct, frozen=True, gc=False):
    """What is known of a participant before it has an id."""

    name: str
    kind: Kind = Kind.AGENT
    display: str = ""
    role: str = ""
    brain: str = ""
    project: str = ""
    config: AgentConfig = NO_CONFIG


class Enrol(Struct, frozen=True, gc=False):
    """Known names are brought up to date; unknown ones get an id."""

    newcomers: tuple[Newcomer, ...]
    fresh: bool = False
    """None of the names may be known yet."""
    author: ParticipantId = SYSTEM


def scope(command: Enrol) -> Scope:
    return Scope(records=(acts.HEAD,), everyone=True)


def decide(command: Enrol, seen: Seen, at: Moment) -> Decision[tuple[Participant, ...]]:
    draft = Draft(seen, at)
    participants = {participant.id: participant for participant in seen.everyone()}
    enrolled: list[Participant] = []
    for new in command.newcomers:
        participant = seen.named(new.name)
        if participant is not None and not _takes_up(participant, new, fresh=command.fresh):
            participant = None
        elif participant is not None and new.name not in (participant.name, *participant.aliases):
            participant = None  # only its id is spelled like this; the name is refused below
        if participant is None:
            participant = admit(draft, new, participants, fresh=command.fresh)
            _enter(draft, AuditedAct.AGENT_CREATED, participant, command.author)
        else:
            others = [one for one in participants.values() if one.id != participant.id]
            participant = structs.replace(
                back(draft, participant), kind=new.kind, **_described(new, others, fresh=command.fresh)
            )
            if participants.get(participant.id) != participant:
                _enter(draft, AuditedAct.AGENT_EDITED, participant, command.author)
                draft.put_participant(participant)
            participants[participant.id] = participant
        enrolled.append(participant)
    for participant in participants.values():
        if participant.brain != bare_brain(participant.brain):  # stored before secrets were kept out
            draft.put_participant(structs.replace(participant, brain=bare_brain(participant.brain)))
    return Decision(draft.changes(), tuple(enrolled))


def admit(
    draft: Draft,
    new: Newcomer,
    participants: dict[ParticipantId, Participant],
    *,
    fresh: bool = True,
) -> Participant:
    """Somebody new among those who are known; whoever calls this enters it into the audit."""
    others = list(participants.values())
    fields = _described(new, others, fresh=fresh)
    id, now = _new_id(new, participants, draft.at), draft.at.now
    participant = Participant(id=id, name=new.name, kind=new.kind, created_at=now, **fields)
    participants |= {one.id: one for one in give_way(draft, others, participant.name)}
    participants[participant.id] = participant
    draft.emit(EventType.AGENT_JOINED, by=participant.id)
    draft.put_participant(participant)
    return participant


def _described(new: Newcomer, others: Iterable[Participant], *, fresh: bool) -> dict[str, Any]:
    """What is kept of how somebody is described."""
    check_lines(role=new.role, project=new.project)
    return {
        "display": _display_of(new, others, fresh=fresh),
        "role": new.role,
        "brain": bare_brain(new.brain),
        "project": new.project,
        "config": new.config,
    }


def _enter(draft: Draft, act: AuditedAct, participant: Participant, author: ParticipantId) -> None:
    """What nobody asked for by name is what the owner's settings say, or a program's own agents."""
    door = DoorName.CONFIG if draft.at.entrance.door is DoorName.HUB else None
    detail = {"kind": participant.kind.value, "role": participant.role}
    acts.enter(draft, act, author, f"agent {participant.id}", detail, door=door)


def _takes_up(participant: Participant, new: Newcomer, *, fresh: bool) -> bool:
    """Whether somebody known is meant: a person stays a person, and whoever was removed may come anew."""
    if fresh and not participant.removed:
        return False
    return (participant.kind is Kind.HUMAN) == (new.kind is Kind.HUMAN)


def _new_id(new: Newcomer, participants: dict[ParticipantId, Participant], at: Moment) -> ParticipantId:
    taken = answered_to(participants.values())
    user = at.terms.user
    if new.kind is not Kind.HUMAN or new.name != user:
        checked_name(new.name, taken, user)
    return ParticipantId(unique_slug(new.name, [*taken, "system", "tool"]))


def _display_of(new: Newcomer, others: Iterable[Participant], *, fresh: bool) -> str:
    """Of those that the owner's settings name, one that clashes with somebody's name is left out: whoever took that
    name must not be able to keep the home from opening."""
    try:
        return checked_display(new.display, others)
    except BadValue:
        if fresh:
            raise
        return ""
