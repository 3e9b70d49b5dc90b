"""Delegate: give work down a link; its report always comes back.

Only superiors and people may delegate; to a peer one may talk or ask. The task gets a conversation of its own in which
the worker has a turn; the delegator goes on at once.
"""

from hashlib import sha256

from msgspec import Struct

from moot.errors import Braked, Conflict, NotPermitted
from moot.flow import create, post
from moot.flow.steps import acts, find, lineage, membership, obligations, task_report
from moot.flow.steps.task_report import TaskMessage
from moot.model.answer import Delivery
from moot.model.change import Decision
from moot.model.conversation import ConversationKind
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.json import JsonObject
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.link import Link, pair_key
from moot.model.records.task import NOWHERE, TASKS, Task, TaskId
from moot.model.turn import RuleName, Turn
from moot.ports import Scope
from moot.rules import links
from moot.rules.access import NO_CONVERSATION, ConversationTarget, hidden
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room
from moot.rules.words import mentions

MAX_TASK_SECONDS = 366 * 86400.0
"""The longest time limit of a task."""
ID_LENGTH = 16


class Delegate(Struct, frozen=True, gc=False):
    author: ParticipantId
    target: str
    task: str
    deadline: float = 0.0
    """When it expires; 0 takes the setting."""
    asked_in: str = ""
    """A conversation of the author in which the outcome wakes it, if it delegates outside a turn."""
    shape: str = ""
    """What the result has to look like, as JSON."""
    key: str = ""
    """The idempotency key: the same key gives the same task."""
    turn: TurnId | None = None
    fence: int = 0
    taken_for: ParticipantId = ParticipantId("")
    """The participant whom the caller means by the name: the channel of the pair has to be loaded."""


def scope(command: Delegate) -> Scope:
    refs = (*_between(command), command.asked_in) if command.asked_in else _between(command)
    return Scope(
        refs=refs,
        turns=() if command.turn is None else (command.turn,),
        names=(command.author, command.target, *post.meant(mentions.parse(command.task))),
        running_of=command.author if command.turn is None else None,
        key=(command.author, command.key) if command.key else None,
        records=(TASKS.one(id_by_key(command)),) if command.key else (),
    )


def _between(command: Delegate) -> tuple[str, ...]:
    """Where the two talk: the channel of their link, or their direct conversation, which may not exist yet."""
    if not command.taken_for or command.taken_for == command.author:
        return ()
    pair = create.among(command.author, (command.taken_for,))
    return pair_key(command.author, command.taken_for), pair.key, pair.name


def id_by_key(command: Delegate) -> TaskId:
    """The task's id, made from the key, so that the same key finds it again."""
    digest = sha256(f"{command.author}\n{command.key}".encode()).hexdigest()
    return TaskId(f"t{digest[:ID_LENGTH]}")


def decide(command: Delegate, seen: Seen, at: Moment) -> Decision[Task]:
    if command.key and (before := _earlier_task(command, seen)) is not None:
        return Decision([], before)
    draft = Draft(seen, at)
    author, worker = find.participant(seen, command.author), find.addressee(seen, command.target)
    task = give(draft, command, author, worker)
    return Decision(draft.changes(), task)


def give(draft: Draft, command: Delegate, author: Participant, worker: Participant) -> Task:
    """Create the task, with a turn for its worker; refused if the worker would get none."""
    at, link = draft.at, draft.graph.between(author.id, worker.id)
    check(draft, author, worker, link)
    task_id = id_by_key(command) if command.key else TaskId(f"t{at.conversation_id()[1:]}")
    branch = _branch(draft, author, worker, task_id)
    turn = lineage.current_turn(branch, author, command.turn, command.fence)
    links.may_hand_down(branch, author, worker, turn)
    posted = post.speak(
        branch,
        author,
        post.Post(
            author=author.id,
            conversation=branch.id,
            text=command.task,
            mentions=mentions.parse(command.task),
            intent=post.DELEGATE,
            shape=command.shape,
            key=command.key,
            turn=command.turn,
            fence=command.fence,
            metadata={"task": task_id},
        ),
    )
    if worker.id not in branch.turns:
        raise _no_turn(draft, worker, posted.receipt().deliveries)
    channel = link.channel if link is not None else NOWHERE
    task = Task(
        id=task_id,
        by=author.id,
        to=worker.id,
        task=command.task,
        conversation=branch.id,
        channel=channel,
        asked_in=_asked_in(draft, command, turn, channel) or _pair(draft, author, worker),
        link=link.id if link is not None else "",
        root=posted.message.root,
        hop=posted.message.hop + 1,
        deadline=command.deadline or at.now + at.terms.limits.task_deadline_seconds,
        created_at=at.now,
        updated_at=at.now,
    )
    task = acts.put_task(draft, AuditedAct.TASK_CREATED, task, author.id)
    draft.emit(EventType.TASK_CREATED, by=author.id, body=obligations.event_body(task))
    _note_in_channel(draft, task, author)
    _keep_parent_open(draft, turn)
    return task


def _earlier_task(command: Delegate, seen: Seen) -> Task | None:
    """The task that the same request created before. A different request under its key is refused."""
    task = seen.record(TASKS, id_by_key(command))
    message = seen.replay(command.author, command.key)
    if task is None and message is None:
        return None
    if task is None or (task.task, task.to) != (command.task, command.taken_for):
        what = (
            f"task {task.id}" if task is not None else f"message {message.id if message is not None else ''}"
        )
        raise Conflict(
            f'the idempotency key "{command.key}" was already used',
            detail=f"it belongs to {what}; nothing was stored",
            fix=("use a new key for a new task",),
        )
    return task


def check(draft: Draft, author: Participant, worker: Participant, link: Link | None) -> None:
    """Refuse if one may not give the other work: people may, agents only to those who report to them."""
    if not worker.speaks_in_turns:
        raise NotPermitted(f"{worker.name} is a person; ask instead of delegating")
    if author.id == worker.id:
        raise NotPermitted("nobody can delegate to itself", fix=("name another agent",))
    if not author.speaks_in_turns or links.is_above(draft.graph, author, worker):
        return
    names = (author.name, worker.name)
    if link is None or not link.enabled:
        state = "their link is disabled" if link is not None else "they are not linked"
        way = Hint(Act.NEW_LINK, agents=names) if link is None else Hint(Act.ENABLE_LINK, id=link.id)
        raise NotPermitted(
            f"{author.name} cannot delegate to {worker.name}: {state}",
            detail="only a superior may delegate, over a link",
            fix=(way,),
            rule="link",
        )
    raise NotPermitted(
        f"{author.name} cannot delegate to {worker.name}: {links.sentence(link, draft.name)}",
        detail="only a superior may delegate; a peer may ask, and a report may escalate",
        fix=(Hint(Act.ASK_AGENT, agent=worker.name), Hint(Act.SHOW_LINK, id=link.id)),
        rule="link",
        link=link.id,
    )


def _no_turn(draft: Draft, worker: Participant, deliveries: tuple[Delivery, ...]) -> Braked:
    """A task without a turn would never be reported."""
    delivery = next((each for each in deliveries if each.agent == worker.name), None)
    return Braked(
        f"{worker.name} gets no turn for this task: it {delivery.reason if delivery is not None else 'is not asked'}",
        detail="nothing was stored",
        rule=delivery.rule if delivery is not None else RuleName.CHAIN.value,
    )


def _branch(draft: Draft, author: Participant, worker: Participant, task: TaskId) -> Room:
    """The task's own conversation: the worker takes turns there, the delegator reads."""
    command = create.Create(
        author=author.id,
        name=f"task-{task}",
        participants=(worker.id,),
        kind=ConversationKind.TASK,
        joins=False,
    )
    room = create.make(draft, command)
    membership.add(room, author, cursor=0, speaks=False)
    return room


def _asked_in(draft: Draft, command: Delegate, turn: Turn | None, channel: ConversationId) -> ConversationId:
    """Where the delegator gets the outcome: where it delegates, or over the link."""
    if turn is not None:
        return turn.conversation
    if not command.asked_in:
        return channel
    conversation = draft.seen.find(command.asked_in)
    if conversation is None or command.author not in draft.seen.members(conversation.id):
        raise hidden(ConversationTarget(command.asked_in, NO_CONVERSATION))
    return conversation.id


def _pair(draft: Draft, author: Participant, worker: Participant) -> ConversationId:
    """For a person who delegates outside any conversation: that of the two, created if need be."""
    pair = create.among(author.id, (worker.id,))
    existing = create.found_by_key(draft.seen, pair.key)
    return existing.id if existing is not None else create.make(draft, pair).id


def _keep_parent_open(draft: Draft, turn: Turn | None) -> None:
    """An agent that delegates a part of its own task has not finished it: its reply at the end of this turn is no
    result, and the end of the part wakes it in the conversation of the whole task."""
    parent = obligations.task_in(draft, turn.conversation) if turn is not None else None
    if turn is not None and parent is not None and parent.is_open and parent.to == turn.agent:
        obligations.moved(draft, parent, parent.state, turn.agent, kept_by=turn.id)


def _note_in_channel(draft: Draft, task: Task, author: Participant) -> None:
    """Show both ends in their channel that there is a task; nobody is woken by that."""
    room = task_report.open_room(draft, task.channel)
    if room is None:
        return
    facts: JsonObject = {"notice": "task", "task": task.id}
    if author.speaks_in_turns:
        task_report.say(room, TaskMessage(author, task.task, post.DELEGATE, facts, task.root, task.hop - 1))
    else:
        post.notice(room, f"[{author.name} gave {draft.name(task.to)} the task {task.id}]", facts)
