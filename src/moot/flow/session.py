"""Sessions of outside agents: who came in by which door, how soon it can be reached, and when it went.

An outside agent is somebody else's process. It has no host here whose lease would keep it present: while it waits for
messages it is live (`Wait`), while its session gives signs of life it can be reached at its next turn or when it asks,
and without one its reach drops level by level (`Lapse`). Every change of level is an event.

Above: hub/external/sessions.py. Not here: agents that a host of ours runs (presence.py).
"""

from msgspec import Struct, structs

from moot.errors import NotFound, NotPermitted
from moot.flow.enrol import answered_to, back, checked_name, give_way
from moot.flow.steps.lines import check_lines
from moot.model.change import Decision
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
    reach: Reach = Reach.ON_DEMAND
    taken: tuple[ParticipantId, ...] = ()
    """Agents of the same client and folder whose own session goes on; this one is somebody else."""


class Arriving:
    def scope(self, command: Arrive) -> Scope:
        return Scope(everyone=True)

    def decide(self, command: Arrive, seen: Seen, at: Moment) -> Decision[Participant]:
        check_lines(client=command.client, folder=command.folder)
        draft = Draft(seen, at)
        who = _named(command, seen) if command.name else _found_again(command, seen)
        if who is None:
            who = _newcomer(command, seen, at)
            give_way(draft, seen.everyone(), who.name)
            draft.emit("agent.joined", by=who.id)
        elif who.kind is not Kind.EXTERNAL:
            return Decision([], who)
        who = back(draft, who)
        came = {"client": command.client, "folder": command.folder, "pid": command.pid}
        arrived = structs.replace(
            who,
            door=command.door,
            project=command.folder or who.project,
            reach=_kept(who, command.reach, at.now),
            reach_until=at.now + REACH_SECONDS,
            last_active=at.now,
            config={**who.config, **{key: value for key, value in came.items() if value}},
        )
        tell_reach(draft, who, arrived)
        draft.put_participant(arrived)
        return Decision(draft.changes(), arrived)


def _named(command: Arrive, seen: Seen) -> Participant | None:
    who = seen.named(command.name)
    if who is not None and who.kind is Kind.HUMAN:
        raise NotPermitted(
            f"{who.name} is a person; a program cannot come in as one",
            fix=("choose another name for the agent",),
        )
    return who


def _found_again(command: Arrive, seen: Seen) -> Participant | None:
    """Whoever came from the same client and folder before: name and inbox survive a restart."""
    place = (command.client, command.folder)
    known = [
        who
        for who in seen.everyone()
        if who.kind is Kind.EXTERNAL
        and (who.config.get("client"), who.config.get("folder")) == place
        and who.id not in command.taken
    ]
    return min(known, key=lambda who: (who.created_at, who.id), default=None)


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


class Sign(Struct, frozen=True, gc=False):
    """An agent's session gave a sign of life."""

    agent: ParticipantId
    reach: Reach = Reach.ON_DEMAND
    seconds: float = REACH_SECONDS
    """For how long that is good."""
    door: str = ""


class Beat(Struct, frozen=True, gc=False):
    """All sessions of one process at once."""

    signs: tuple[Sign, ...]


class Beating:
    def scope(self, command: Beat) -> Scope:
        return Scope(names=tuple(sign.agent for sign in command.signs))

    def decide(self, command: Beat, seen: Seen, at: Moment) -> Decision[None]:
        draft = Draft(seen, at)
        for sign in command.signs:
            who = seen.participant(sign.agent)
            if who is None or who.kind is not Kind.EXTERNAL:
                continue
            alive = structs.replace(
                who,
                reach=_kept(who, sign.reach, at.now),
                reach_until=max(who.reach_until, at.now + sign.seconds),
                last_active=at.now,
                door=sign.door or who.door,
            )
            tell_reach(draft, who, alive)
            draft.put_participant(alive)
        return Decision(draft.changes(), None)


def _kept(who: Participant, reach: Reach, now: float) -> Reach:
    """Hooks that were heard of stay while the session does, whoever else speaks for it."""
    return Reach.NEXT_TURN if who.reach is Reach.NEXT_TURN and who.reach_until > now else reach


class Depart(Struct, frozen=True, gc=False):
    """A session has ended."""

    agent: ParticipantId
    pid: int = 0
    """Only if no other process has taken over since."""


class Departing:
    def scope(self, command: Depart) -> Scope:
        return Scope(names=(command.agent,))

    def decide(self, command: Depart, seen: Seen, at: Moment) -> Decision[None]:
        who = seen.participant(command.agent)
        if who is None or who.kind is not Kind.EXTERNAL or who.config.get("pid", 0) != command.pid:
            return Decision([], None)
        draft = Draft(seen, at)
        config = {key: value for key, value in who.config.items() if key != "pid"}
        gone = structs.replace(who, reach=Reach.AWAY, reach_until=0.0, live_until=0.0, config=config)
        tell_reach(draft, who, gone)
        draft.put_participant(gone)
        return Decision(draft.changes(), None)


class Lapse(Struct, frozen=True, gc=False):
    """Leases of these may have run out; what has is taken back, one level at a time."""

    agents: tuple[ParticipantId, ...]


class Lapsing:
    def scope(self, command: Lapse) -> Scope:
        return Scope(names=command.agents)

    def decide(self, command: Lapse, seen: Seen, at: Moment) -> Decision[None]:
        draft = Draft(seen, at)
        for agent in command.agents:
            who = seen.participant(agent)
            if who is not None and has_lapsed(who, at.now):
                draft.put_participant(lapsed(who, at.now))
                draft.emit("agent.status", by=agent, body={"reachability": who.reachable(at.now).value})
        return Decision(draft.changes(), None)


def has_lapsed(who: Participant, now: float) -> bool:
    """What stands written says more than what holds."""
    if who.kind is not Kind.EXTERNAL:
        return False
    waited = 0.0 < who.live_until <= now
    return waited or (who.reach is not Reach.AWAY and who.reach_until <= now)


def lapsed(who: Participant, now: float) -> Participant:
    """As it is now, written down."""
    level = who.reachable(now)
    if who.live_until <= now:
        who = structs.replace(who, live_until=0.0)
    if who.reach_until > now:
        return who
    until = who.reach_until + REACH_SECONDS if level is Reach.ON_DEMAND else 0.0
    return structs.replace(who, reach=level, reach_until=until)


class Wait(Struct, frozen=True, gc=False):
    """An outside agent has a wait open until then; 0 closes it."""

    agent: ParticipantId
    until: float


class Waiting:
    def scope(self, command: Wait) -> Scope:
        return Scope(names=(command.agent,))

    def decide(self, command: Wait, seen: Seen, at: Moment) -> Decision[None]:
        who = seen.participant(command.agent)
        if who is None or who.kind is not Kind.EXTERNAL:
            raise NotFound(f"{command.agent} is not an outside agent", ref=command.agent)
        draft = Draft(seen, at)
        reach = who.reach if who.reachable(at.now) is not Reach.AWAY else Reach.ON_DEMAND
        until = max(who.reach_until, at.now + REACH_SECONDS)
        waits = structs.replace(
            who, live_until=command.until, last_active=at.now, reach=reach, reach_until=until
        )
        tell_reach(draft, who, waits)
        draft.put_participant(waits)
        return Decision(draft.changes(), None)


def tell_reach(draft: Draft, before: Participant, after: Participant) -> None:
    now = draft.at.now
    level = after.reachable(now)
    if before.reachable(now) is not level:
        draft.emit("agent.status", by=after.id, body={"reachability": level.value})


arriving = Arriving()
beating = Beating()
departing = Departing()
lapsing = Lapsing()
waiting = Waiting()
