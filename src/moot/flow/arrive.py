"""Arrive: the session of an outside agent begins. Who it is follows from its name, else from its client and folder."""

from msgspec import Struct, structs

from moot.errors import NotPermitted
from moot.flow.steps.lines import check_lines
from moot.flow.steps.reach import emit_reach, keep_hooks
from moot.flow.steps.registry import answered_to, back, checked_name, give_way
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import REACH_SECONDS, Kind, Participant, Reach
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.words.names import free_name, unique_slug

EXTERNAL_BRAIN = "external"


class Arrive(Struct, frozen=True, gc=False):
    """A session begins. Who it is follows from the name it gives, else from its client and folder."""

    door: str
    name: str = ""
    client: str = ""
    folder: str = ""
    pid: int = 0
    machine: str = ""
    """On which `pid` is the number of its process."""
    reach: Reach = Reach.ON_DEMAND
    taken: tuple[ParticipantId, ...] = ()
    """Agents of the same client and folder whose own session goes on; this one is somebody else."""


def scope(command: Arrive) -> Scope:
    return Scope(everyone=True)


def decide(command: Arrive, seen: Seen, at: Moment) -> Decision[Participant]:
    check_lines(client=command.client, folder=command.folder)
    draft = Draft(seen, at)
    participant = _named(command, seen) if command.name else _found_again(command, seen)
    if participant is None:
        participant = _newcomer(command, seen, at)
        give_way(draft, seen.everyone(), participant.name)
        draft.emit(EventType.AGENT_JOINED, by=participant.id)
    elif participant.kind is not Kind.EXTERNAL:
        return Decision([], participant)
    participant = back(draft, participant)
    place = {"pid": command.pid, "machine": command.machine} if command.pid else {}
    came = {"client": command.client, "folder": command.folder, **place}
    arrived = structs.replace(
        participant,
        door=command.door,
        project=command.folder or participant.project,
        reach=keep_hooks(participant, command.reach, at.now),
        reach_until=at.now + REACH_SECONDS,
        last_active=at.now,
        config=structs.replace(participant.config, **{key: value for key, value in came.items() if value}),
    )
    emit_reach(draft, participant, arrived)
    draft.put_participant(arrived)
    return Decision(draft.changes(), arrived)


def _named(command: Arrive, seen: Seen) -> Participant | None:
    participant = seen.named(command.name)
    if participant is not None and participant.kind is Kind.HUMAN:
        raise NotPermitted(
            f"{participant.name} is a person, and a program cannot connect as one",
            fix=("choose another name for the agent",),
        )
    return participant


def _found_again(command: Arrive, seen: Seen) -> Participant | None:
    """Whoever came from the same client and folder before: name and inbox survive a restart."""
    place = (command.client, command.folder)
    visitors = [
        participant
        for participant in seen.everyone()
        if participant.kind is Kind.EXTERNAL
        and (participant.config.client, participant.config.folder) == place
        and participant.id not in command.taken
    ]
    return min(visitors, key=lambda participant: (participant.created_at, participant.id), default=None)


def _newcomer(command: Arrive, seen: Seen, at: Moment) -> Participant:
    everyone = list(seen.everyone())
    taken = answered_to(everyone)
    if command.name:
        name = checked_name(command.name, taken, at.terms.user)
    else:
        name = free_name(default_name(command.client, command.folder), taken, at.terms.user)
    return Participant(
        id=ParticipantId(unique_slug(name, [*taken, "system", "tool"])),
        name=name,
        kind=Kind.EXTERNAL,
        brain=EXTERNAL_BRAIN,
        created_at=at.now,
    )


def default_name(client: str, folder: str) -> str:
    """`claude-api` for the client claude in ~/api."""
    return "-".join(part for part in (client, folder.rstrip("/").rpartition("/")[2]) if part)
