"""What was delegated comes home: a task ends with the turn that was to do it, and whoever delegated it hears of it.

Whatever ends the turn ends the task in the same decision: an answer is its result, an error its failure, a turn that
is called off calls the task off. The end is reported in the channel of the link, and the delegator is woken where it
delegated. Nobody can forget it, and nobody is told twice.

Above: post.move_on asks for every room, sweep.py when a deadline has passed, update_task.py and the verbs on links.
Below: post.append makes a message of it.
"""

from msgspec import Struct, structs

from moot.errors import WouldDeadlock
from moot.flow import post
from moot.flow.steps.posted import Posted
from moot.flow.steps.put_away import put_away
from moot.model.change import AppendMessage
from moot.model.conversation import ConversationKind
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import SYSTEM, ConversationId, ParticipantId, RootId
from moot.model.intent import Intent
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import Kind, Participant
from moot.model.records.decision import DECISIONS, DecisionId, PersonsDecision
from moot.model.records.task import TASKS, IllegalTaskMove, Task, TaskState
from moot.model.records.wait import WAITS, Wait
from moot.model.turn import RUNNING, Call, RuleName, Turn, TurnState
from moot.rules import brakes, links, why
from moot.rules.draft import Draft
from moot.rules.floor import seats
from moot.rules.floor.calls import Called
from moot.rules.reasons import REASONS
from moot.rules.rings import ring_with
from moot.rules.room import Room

THE_SYSTEM = Participant(id=SYSTEM, name="system", kind=Kind.SYSTEM)
SHOWN = 2000
"""Characters of a result that a notice repeats; all of it stands in the report."""


def move_on(room: Room) -> None:
    """Hand the floor on after turns may have ended, and see what that means for who waits, and for a task."""
    post.move_on(room)
    for turn in room.put_turns.values():
        if not turn.state.is_open and turn.question is not None:
            waited_for(room, turn.question)
    settle(room)


def settle(room: Room) -> None:
    """Look at the task of a branch in which turns have moved."""
    if room.conversation.kind is not ConversationKind.TASK or not room.put_turns:
        return
    task = task_in(room.draft, room.id)
    if task is None or not task.is_open:
        return
    for turn in list(room.put_turns.values()):
        if turn.reason is not RuleName.TASK:
            continue
        if turn.state is RUNNING and task.state is TaskState.OPEN:
            task = moved(room.draft, task, TaskState.WORKING)
        elif not turn.state.is_open and not _goes_on(room, turn, task):
            end(room.draft, task, *_outcome(room, turn))
            return


def task_in(draft: Draft, branch: ConversationId) -> Task | None:
    return next(iter(draft.records(TASKS.where(conversation=branch))), None)


def _goes_on(room: Room, turn: Turn, task: Task) -> bool:
    """Whether somebody is still at it: the worker said so, or who interrupted it has had it begin again."""
    if turn.state is TurnState.SAID and task.kept_by == turn.id:
        return True
    return turn.state is TurnState.CANCELLED and (turn.interrupted or turn.agent in room.turns)


def _outcome(room: Room, turn: Turn) -> tuple[TaskState, str]:
    match turn.state:
        case TurnState.SAID:
            return TaskState.DONE, _words(room, turn)
        case TurnState.PASSED:
            return TaskState.FAILED, "read it and said nothing"
        case TurnState.CANCELLED:
            why = REASONS[turn.rule] if turn.rule is not None else "it was cancelled"
            return TaskState.CANCELLED, why
        case _:
            return TaskState.FAILED, turn.error or turn.state.value


def _words(room: Room, turn: Turn) -> str:
    """What the worker said at the end of its turn; by tool it may have said it elsewhere, and nothing here."""
    for change in reversed(room.draft.others):
        if isinstance(change, AppendMessage):
            message = change.message
            if (message.conversation, message.seq) == (room.id, turn.message):
                return message.text
    return "(no final message)"


def moved(draft: Draft, task: Task, state: TaskState, **fields: object) -> Task:
    """The one function that changes a task's state."""
    if not task.is_open:
        raise IllegalTaskMove(f"task {task.id} has ended as {task.state} and cannot become {state}")
    task = structs.replace(task, state=state, updated_at=draft.at.now, **fields)
    draft.put(TASKS, task)
    kind = EventType.TASK_CHANGED if task.is_open else EventType.TASK_ENDED
    draft.emit(kind, by=task.to, body=event_body(task))
    return task


def event_body(task: Task) -> JsonObject:
    return structs.asdict(task)


def end(draft: Draft, task: Task, state: TaskState, result: str) -> Task:
    """The task is over: its branch closes, its end is reported and its delegator woken, once."""
    task = moved(draft, task, state, result=result)
    branch = draft.seen.conversation(task.conversation)
    if branch is not None and not branch.archived:
        room = draft.room(branch)
        for turn in [*room.turns.values(), *room.asks.all()]:
            seats.cancel(room, turn, RuleName.TASK)
        put_away(room, room.conversation, by=task.to)
    _report(draft, task)
    return task


def expire(room: Room) -> None:
    """The deadline of a branch's task has passed: it is over, whoever is at it."""
    task = task_in(room.draft, room.id)
    if task is None or not task.is_open or not task.deadline or task.deadline > room.now:
        return
    end(room.draft, task, TaskState.EXPIRED, "its deadline passed before it was done")


def call_off(draft: Draft, tasks: list[Task], why: str) -> None:
    for task in tasks:
        if task.is_open:
            end(draft, task, TaskState.CANCELLED, why)


# --- what people decide ---------------------------------------------------------------------------------------


def ask_person(
    room: Room, author: Participant, person: Participant, message: post.Post, choices: tuple[str, ...]
) -> Posted:
    """Put a question to a person: a message as any other, and a decision that can be taken once."""
    draft = room.draft
    id = DecisionId(f"d{draft.at.conversation_id()[1:]}")
    facts: JsonObject = {
        **message.metadata,
        "decision": id,
        **({"choices": list(choices)} if choices else {}),
    }
    posted = post.speak(room, author, structs.replace(message, metadata=facts))
    asked = PersonsDecision(
        id=id,
        by=author.id,
        to=person.id,
        question=message.text,
        choices=choices,
        conversation=room.id,
        seq=posted.message.seq,
        until=message.awaited,
        created_at=room.now,
        updated_at=room.now,
    )
    draft.put(DECISIONS, asked)
    draft.emit(EventType.DECISION_CREATED, room, by=author.id, body=structs.asdict(asked))
    return posted


# --- who waits for whom ---------------------------------------------------------------------------------------


def check_ring(draft: Draft, asker: Participant, target: Participant) -> None:
    """Refuses a question whose answer would wait for its own asker."""
    ring = ring_with(draft.records(WAITS.all()), asker.id, target.id, draft.at.now)
    if ring:
        names = [draft.name(each) for each in ring]
        raise WouldDeadlock(
            f"{target.name} is already waiting for {asker.name}: {' → '.join(names)}",
            detail="nobody in this ring would ever answer; nothing was stored",
            fix=(Hint(Act.SEND_TO_AGENT, agent=target.name), "answer first, and ask later"),
            ring=names,
        )


def wait_for(room: Room, question: Message, target: ParticipantId, until: float) -> None:
    """From here on the author of a question waits, if the question gets a turn. Waits that are over are let go."""
    draft, now = room.draft, room.now
    for wait in draft.records(WAITS.all()):
        if wait.until <= now:
            draft.drop(WAITS, wait.conversation, wait.seq)
    if any(turn.called_by(question.seq) for turn in (*room.turns.values(), *room.asks.of(target))):
        draft.put(WAITS, Wait(room.id, question.seq, question.author, target, until))


def waited_for(room: Room, question: Call) -> None:
    """Nobody waits for the answer to this question any more."""
    if question.awaited and not question.human:
        room.draft.drop(WAITS, room.id, question.seq)


# --- the report ---------------------------------------------------------------------------------------------


def _report(draft: Draft, task: Task) -> None:
    """In the channel by the worker's own words where it had any; where the delegator asked, as a notice."""
    channel, asked_in = _open(draft, task.channel), _open(draft, task.asked_in)
    facts: JsonObject = {"task": task.id, "state": task.state.value}
    if channel is not None:
        wake = _waked(channel, task.by) if asked_in is None or asked_in.id == channel.id else None
        if task.state is TaskState.DONE:
            worker = draft.participant(task.to)
            ending = TaskReport(worker, task.result, Intent.REPORT, facts, task.root, task.hop, wake)
        else:
            ending = TaskReport(THE_SYSTEM, notice(draft, task), "", facts, task.root, task.hop, wake)
        report(channel, ending)
        post.move_on(channel)
    if asked_in is not None and (channel is None or asked_in.id != channel.id):
        wake = _waked(asked_in, task.by)
        report(asked_in, TaskReport(THE_SYSTEM, notice(draft, task), "", facts, task.root, task.hop, wake))
        post.move_on(asked_in)


def notice(draft: Draft, task: Task) -> str:
    """How a task ended, as Moot says it where the delegator is."""
    worker = draft.name(task.to)
    first_line = task.task.strip().splitlines()[0][:80] if task.task.strip() else ""
    shown = task.result if len(task.result) <= SHOWN else f"{task.result[:SHOWN]} …"
    words = {
        TaskState.DONE: f"{worker} finished the task",
        TaskState.FAILED: f"{worker} could not do the task",
        TaskState.CANCELLED: f"the task of {worker} was cancelled",
        TaskState.EXPIRED: f"the task of {worker} expired",
    }[task.state]
    return f'[{words} {task.id} ("{first_line}"): {shown}]'


def _open(draft: Draft, where: ConversationId) -> Room | None:
    found = draft.seen.conversation(where) if where else None
    return None if found is None or found.archived else draft.room(found)


def _waked(room: Room, delegator: ParticipantId) -> ParticipantId | None:
    """The delegator, if it is an agent that takes turns here; a person reads it."""
    member = room.members.get(delegator)
    return delegator if member is not None and member.speaks else None


class TaskReport(Struct, frozen=True, gc=False):
    """How a task ended, on its way to whoever gave it."""

    author: Participant
    text: str
    intent: str
    metadata: JsonObject
    root: RootId
    hop: int
    wakes: ParticipantId | None


def report(room: Room, ending: TaskReport) -> Message:
    """Say how a task ended, and give its delegator a turn for it, inside the brakes."""
    seq, draft = room.conversation.next_seq, room.draft
    calls: list[Call] = []
    blocks: dict[ParticipantId, RuleName] = {}
    if ending.wakes is not None:
        by = ending.author.id
        call = Call(ending.wakes, seq, False, 1, ending.hop, ending.root, RuleName.TASK, by=by)
        calls.append(call)
        stop = brakes.chain_stop(call, draft.root(ending.root), draft.at.terms.limits)
        if stop is None and draft.participant(ending.wakes).paused:
            stop = RuleName.PAUSED
        if stop is not None:
            blocks[ending.wakes] = stop
    message = post.append(
        room,
        links.OF_SYSTEM if ending.author.kind is Kind.SYSTEM else links.beside(ending.author),
        Message(
            conversation=room.id,
            seq=seq,
            author=ending.author.id,
            kind=ending.author.kind,
            text=ending.text,
            root=ending.root,
            hop=ending.hop,
            at=room.now,
            intent=ending.intent,
            round=room.floor.opener(room, ending.author) if calls else 0,
            metadata=room.floor.marked(room, ending.metadata, ending.author),
            plan=why.plan(room, ending.author, calls, blocks, len(calls)),
        ),
    )
    room.floor.hand_out(room, message, Called(ending.author.name, calls, blocks, [], None, len(calls)))
    return message
