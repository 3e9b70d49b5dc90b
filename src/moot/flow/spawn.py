"""Spawn: start an agent from a template, with its place in the graph and its first task, in one decision.

An agent starts only what its row of moot.toml lists, and only so many. Whoever starts one stands above it: the link
binds the started one alone. A task given with it has its turn when this returns, so that nobody is started and never
told what for. Retiring is retire.py's.

Above: hub/commands/spawn.py, which reads the template and the folders. Below: enrol.py, delegate.py, channel.py.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from moot.errors import Braked, Conflict, NotPermitted
from moot.flow import delegate, enrol, post
from moot.flow.enrol import Newcomer
from moot.flow.steps import acts, channel, find
from moot.flow.steps.registry import answered_to
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import NO_ROOT, ParticipantId, RootId, TurnId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.link import Link, LinkOrigin, Relationship
from moot.model.records.spawned import NOWHERE, SPAWNED, SpawnRecord
from moot.model.records.task import TASKS, Task
from moot.model.turn import Turn
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.words import mentions

HOUR: Final = 3600.0
REMEMBERED: Final = 24 * HOUR
"""For how many seconds it is kept who started an agent that has retired."""


class Spawn(Struct, frozen=True, gc=False):
    author: ParticipantId
    template: str
    newcomer: Newcomer
    """As the template describes it; without a name it is called after the template."""
    allowed: tuple[str, ...] = ()
    """The templates that the author may start from; people may from all."""
    beyond: tuple[str, ...] = ()
    """What it would have that the author has not, in words: then it is refused."""
    elsewhere: str = ""
    """Where it would work, if that is outside what is open to the author; in words."""
    task: str = ""
    max_seconds: float = 0.0
    """It retires after so long at the latest; 0: never because of that."""
    idle_seconds: float = 0.0
    key: str = ""
    """By which a repeat is known: the same key gives the same agent."""
    turn: TurnId | None = None
    fence: int = 0


class SpawnedAgent(Struct, frozen=True, gc=False):
    """What was started."""

    agent: Participant
    record: SpawnRecord
    link: Link | None
    """None where a person started it: people need no link."""
    task: Task | None


def scope(command: Spawn) -> Scope:
    work = _work(command, "")
    first = (TASKS.one(delegate.id_by_key(work)),) if command.key else ()
    return Scope(
        turns=() if command.turn is None else (command.turn,),
        names=(command.author, *post.meant(mentions.parse(command.task))),
        running_of=command.author if command.turn is None else None,
        key=(command.author, command.key) if command.key else None,
        records=(acts.HEAD, SPAWNED.all(), *first),
        everyone=True,
    )


def _work(command: Spawn, target: str) -> delegate.Delegate:
    return delegate.Delegate(
        author=command.author,
        target=target,
        task=command.task,
        key=command.key,
        turn=command.turn,
        fence=command.fence,
    )


def decide(command: Spawn, seen: Seen, at: Moment) -> Decision[SpawnedAgent]:
    kept = seen.records(SPAWNED.all())
    if (before := _started_before(command, seen, kept)) is not None:
        return Decision([], before)
    draft = Draft(seen, at)
    author = find.participant(seen, command.author)
    turn = _turn_of(draft, author, command)
    record = _record(command, author, turn, kept, at)
    _check(draft, author, record, command.allowed, kept)
    _check_rights(author, command)
    participants = {one.id: one for one in seen.everyone()}
    name = command.newcomer.name or _free_name(command.template, participants.values())
    participant = enrol.admit(draft, structs.replace(command.newcomer, name=name), participants)
    link = _link(draft, author, participant) if author.speaks_in_turns else None
    task = delegate.give(draft, _work(command, participant.id), author, participant) if command.task else None
    record = structs.replace(record, agent=participant.id)
    draft.put(SPAWNED, record)
    for old in kept:
        if old.ended_at and old.ended_at < at.now - REMEMBERED:
            draft.drop(SPAWNED, old.agent)
    detail = {"template": command.template, "depth": record.depth}
    acts.enter(draft, AuditedAct.AGENT_SPAWNED, author.id, f"agent {participant.id}", detail)
    draft.emit(EventType.AGENT_STATUS, by=participant.id, body={"spawned_by": author.id, **detail})
    return Decision(draft.changes(), SpawnedAgent(participant, record, link, task))


def _started_before(command: Spawn, seen: Seen, kept: Sequence[SpawnRecord]) -> SpawnedAgent | None:
    """What this very request started before. Another one under its key is refused."""
    if not command.key:
        return None
    record = next((one for one in kept if (one.by, one.key) == (command.author, command.key)), None)
    if record is None:
        if seen.replay(command.author, command.key) is not None:
            raise _key_used(command)
        return None
    task = seen.record(TASKS, delegate.id_by_key(_work(command, record.agent)))
    given = task.task if task is not None else ""
    if (record.template, given) != (command.template, command.task):
        raise _key_used(command)
    participant = seen.named(record.agent)
    if participant is None:
        raise LookupError(f"participant {record.agent} is not in the scope of this decision")
    return SpawnedAgent(participant, record, seen.graph().between(record.by, record.agent), task)


def _key_used(command: Spawn) -> Conflict:
    return Conflict(
        f'the idempotency key "{command.key}" was already used',
        detail="nothing was started",
        fix=("use a new key for a new agent",),
    )


def _turn_of(draft: Draft, author: Participant, command: Spawn) -> Turn | None:
    """The author's turn, in which it starts somebody."""
    if command.turn is None:
        running = draft.seen.running_of(author.id)
        return max(running, key=lambda turn: turn.started_at, default=None)
    turn = find.running(draft.seen, command.turn, command.fence)
    if turn.agent != author.id:
        raise NotPermitted(f"turn {turn.id} belongs to {turn.agent}; {author.name} cannot act in it")
    return turn


def _record(
    command: Spawn, author: Participant, turn: Turn | None, kept: Sequence[SpawnRecord], at: Moment
) -> SpawnRecord:
    above = next((one for one in kept if one.agent == author.id and one.lives), None)
    return SpawnRecord(
        agent=ParticipantId(""),
        by=author.id,
        template=command.template,
        depth=above.depth + 1 if above is not None else 1,
        project=command.newcomer.project,
        root=_root(turn, above),
        asked_in=turn.conversation if turn is not None else NOWHERE,
        until=at.now + command.max_seconds if command.max_seconds else 0.0,
        idle_seconds=command.idle_seconds,
        key=command.key,
        created_at=at.now,
    )


def _root(turn: Turn | None, above: SpawnRecord | None) -> RootId:
    if turn is not None:
        return turn.root
    return above.root if above is not None else NO_ROOT


def _link(draft: Draft, author: Participant, participant: Participant) -> Link:
    now = draft.at.now
    link = Link(
        id=channel.new_id(draft),
        source=author.id,
        target=participant.id,
        relationship=Relationship.SUPERIOR,
        origin=LinkOrigin.SPAWN,
        created_at=now,
        updated_at=now,
    )
    channel.check(draft, link)
    return channel.make(draft, link, author.id)


def _free_name(template: str, participants: Iterable[Participant]) -> str:
    taken = {name.casefold() for name in answered_to(participants)}
    if template.casefold() not in taken:
        return template
    number = 2
    while f"{template}-{number}".casefold() in taken:
        number += 1
    return f"{template}-{number}"


# --- who may, and how many ------------------------------------------------------------------------------------


def _check(
    draft: Draft,
    author: Participant,
    record: SpawnRecord,
    allowed: Sequence[str],
    kept: Sequence[SpawnRecord],
) -> None:
    limits, now = draft.at.terms.spawn, draft.at.now
    living = [one for one in kept if one.lives]
    if len(living) >= limits.max_live:
        raise _full(author, "max_live", limits.max_live, "agents that were started are there at a time")
    if not author.speaks_in_turns:
        return
    if record.template not in allowed:
        raise NotPermitted(
            f"{author.name} may not start agents from the template {record.template}",
            detail=f"it may start: {', '.join(allowed)}" if allowed else "it may start no agents",
            fix=(f"ask a person to add it to the `spawns` of {author.name}", Hint(Act.EDIT_SETTINGS)),
            rule="spawn",
            allowed=list(allowed),
        )
    if record.depth > limits.max_depth:
        raise _full(author, "max_depth", limits.max_depth, "generations of started agents may follow")
    children = [one for one in living if one.by == author.id]
    if len(children) >= limits.max_children:
        raise _full(author, "max_children", limits.max_children, "agents of one are there at a time")
    lately = [one for one in kept if one.created_at > now - HOUR]
    own = sum(one.by == author.id for one in lately)
    in_chain = sum(bool(record.root) and one.root == record.root for one in lately)
    if max(own, in_chain) >= limits.per_hour:
        words = "agents may be started in an hour, by one agent and in one chain"
        raise _full(author, "per_hour", limits.per_hour, words)


def _check_rights(author: Participant, command: Spawn) -> None:
    """Rights are handed on, not made: whoever starts an agent has them too."""
    if command.elsewhere:
        raise NotPermitted(
            f"{author.name} may not start an agent in {command.newcomer.project}",
            detail=command.elsewhere,
            fix=(Hint(Act.SHOW_SETTING, setting="spawn.directories"),),
            rule="spawn",
            limit="directories",
        )
    if command.beyond:
        raise NotPermitted(
            f"{author.name} may not start an agent from the template {command.template}, which may do more than itself",
            detail=f"it would have {'; '.join(command.beyond)}",
            fix=(
                f"ask a person to narrow the template, or to widen the row of {author.name}",
                Hint(Act.EDIT_SETTINGS),
            ),
            rule="spawn",
            limit="rights",
        )


def _full(author: Participant, limit: str, maximum: int, words: str) -> Braked:
    return Braked(
        f"{author.name} cannot start another agent: at most {maximum} {words}",
        detail=f"the limit is spawn.{limit} = {maximum}; nothing was started",
        fix=(
            "wait for one of them to retire, or remove one",
            Hint(Act.SHOW_SETTING, setting=f"spawn.{limit}"),
        ),
        rule="spawn",
        limit=limit,
    )
