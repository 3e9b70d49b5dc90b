"""What was delegated comes home: a task ends with the turn that was to do it, and whoever delegated it hears of it.

Whatever ends the turn ends the task in the same decision: an answer is its result, an error its failure, a turn that
is called off calls the task off. The end is reported in the channel of the link, and the delegator is woken where it
delegated. Nobody can forget it, and nobody is told twice.

Above: post.move_on asks for every room, sweep.py when a deadline has passed, update_task.py and the verbs on links.
Below: task_report.py says it.
"""

from msgspec import structs

from moot.errors import WouldDeadlock
from moot.flow import post
from moot.flow.steps import acts, answers, task_report
from moot.flow.steps.posted import Posted
from moot.flow.steps.put_away import put_away
from moot.flow.steps.task_report import TaskEnd
from moot.model.change import AppendMessage
from moot.model.conversation import ConversationKind
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import SYSTEM, ConversationId, ParticipantId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import Kind, Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.decision import DECISIONS, DecisionId, PersonsDecision
from moot.model.records.task import TASKS, IllegalTaskMove, Task, TaskState
from moot.model.records.wait import WAITS, Wait
from moot.model.turn import RUNNING, RuleName, Turn, TurnState
from moot.rules.draft import Draft
from moot.rules.floor import seats
from moot.rules.reasons import REASONS
from moot.rules.rings import ring_with
from moot.rules.room import Room


def move_on(room: Room) -> None:
    """Hand the floor on after turns may have ended, and see what that means for who waits, and for a task."""
    post.move_on(room)
    questions = [(turn, turn.question) for turn in room.put_turns.values() if turn.question]
    still_asked = {question.seq for turn, question in questions if turn.state.is_open}
    for turn, question in questions:
        if not turn.state.is_open and question.seq not in still_asked:
            answers.question_ended(room, turn, question)
    settle(room)


def settle(room: Room) -> None:
    """Look at the task of a branch in which turns have moved."""
    if room.conversation.kind is not ConversationKind.TASK or not room.put_turns:
        return
    task = task_in(room.draft, room.id)
    if task is None:
        return
    if not task.is_open:
        _close(room, task, in_turn=True)
        return
    for turn in list(room.put_turns.values()):
        if turn.agent != task.to:
            continue
        if turn.state is RUNNING and task.state is TaskState.OPEN:
            task = moved(room.draft, task, TaskState.WORKING, task.to)
        elif not turn.state.is_open and not _goes_on(room, turn, task):
            end(room.draft, task, _ending(room, turn))
            return


def task_in(draft: Draft, branch: ConversationId) -> Task | None:
    return next(iter(draft.records(TASKS.where(conversation=branch))), None)


def _goes_on(room: Room, turn: Turn, task: Task) -> bool:
    """Whether somebody is still at it after a turn of the worker: it said so in that turn; or it had said so before and
    was only asked something meanwhile; or a part that it handed further down is still worked on, whose end calls it
    again; or whoever interrupted it has had it begin again."""
    is_about_it = turn.reason is RuleName.TASK
    kept = task.kept_by == turn.id if is_about_it else bool(task.kept_by)
    kept = kept or any(part.by == task.to for part in room.draft.records(TASKS.where(open_in=room.id)))
    match turn.state:
        case TurnState.SAID:
            return kept
        case TurnState.PASSED:
            return kept or not is_about_it
        case TurnState.EXPIRED if room.draft.participant(turn.agent).kind is Kind.EXTERNAL:
            return kept
        case TurnState.CANCELLED:
            return turn.interrupted or turn.agent in room.turns
        case _:
            return kept and not is_about_it


def _ending(room: Room, turn: Turn) -> TaskEnd:
    """What the end of a turn means for its task."""
    match turn.state:
        case TurnState.SAID:
            return TaskEnd(TaskState.DONE, _words(room, turn), room.draft.participant(turn.agent))
        case TurnState.PASSED:
            return _hubs(TaskState.FAILED, "it read the task and said nothing")
        case TurnState.CANCELLED:
            why = REASONS[turn.rule] if turn.rule is not None else ""
            return _hubs(TaskState.CANCELLED, f"{room.draft.name(turn.agent)} {why}" if why else "")
        case TurnState.EXPIRED:
            return _hubs(TaskState.FAILED, "it gave no sign of life for too long")
        case _:
            result = f"{turn.error}. It said: {turn.kept}" if turn.kept else turn.error
            misfit = turn.shape and turn.kept
            reason = "its result did not fit what was asked for" if misfit else "its turn failed"
            return TaskEnd(TaskState.FAILED, result, reason=reason)


def _hubs(state: TaskState, reason: str) -> TaskEnd:
    """An end that the hub saw, in its own words."""
    return TaskEnd(state, reason, reason=reason)


def _words(room: Room, turn: Turn) -> str:
    """What the worker said at the end of its turn; by tool it may have said it elsewhere, and nothing here."""
    for change in reversed(room.draft.others):
        if isinstance(change, AppendMessage):
            message = change.message
            if (message.conversation, message.seq) == (room.id, turn.message):
                return message.text
    return "(no final message)"


def moved(draft: Draft, task: Task, state: TaskState, by: ParticipantId | None, **fields: object) -> Task:
    """The one function that changes a task's state. `by` is who did, if somebody did."""
    if not task.is_open:
        raise IllegalTaskMove(f"task {task.id} has ended as {task.state} and cannot become {state}")
    task = structs.replace(task, state=state, updated_at=draft.at.now, **fields)
    act = AuditedAct.TASK_CHANGED if task.is_open else AuditedAct.TASK_ENDED
    task = acts.put_task(draft, act, task, by or SYSTEM)
    kind = EventType.TASK_CHANGED if task.is_open else EventType.TASK_ENDED
    draft.emit(kind, by=by, body=event_body(task))
    return task


def event_body(task: Task) -> JsonObject:
    return structs.asdict(task)


def end(draft: Draft, task: Task, ending: TaskEnd, instead: Room | None = None) -> Task:
    """The task is over: its end is reported, its delegator woken, once, and its branch closes."""
    by = ending.by.id if ending.by is not None else None
    task = moved(draft, task, ending.state, by, result=ending.result)
    task_report.report(draft, task, ending, instead)
    branch = task_report.open_room(draft, task.conversation)
    if branch is not None:
        _close(branch, task, in_turn=by == task.to)
    return task


def _close(branch: Room, task: Task, *, in_turn: bool) -> None:
    """The branch of a task that has ended. A worker that said so in the middle of its turn may end that first."""
    for turn in [*branch.turns.values(), *branch.asks.all()]:
        if not in_turn or turn.state is not RUNNING or turn.agent != task.to:
            seats.cancel(branch, turn, RuleName.TASK)
    if not branch.turns and not branch.conversation.archived:
        put_away(branch, branch.conversation, by=task.to)


def expire(room: Room) -> None:
    """The deadline of a branch's task has passed: it is over, whoever is at it."""
    task = task_in(room.draft, room.id)
    if task is None or not task.is_open or not task.deadline or task.deadline > room.now:
        return
    end(room.draft, task, _hubs(TaskState.EXPIRED, "its deadline passed before it was done"))


def end_with_branch(room: Room, by: ParticipantId, what: str) -> None:
    """Somebody does away with the conversation of a task: it is called off, if it is open."""
    if room.conversation.kind is not ConversationKind.TASK:
        return
    task = task_in(room.draft, room.id)
    if task is not None and task.is_open:
        reason = f"its conversation was {what}"
        end(room.draft, task, TaskEnd(TaskState.CANCELLED, reason, room.draft.participant(by), reason))


def has_open_task(room: Room) -> bool:
    """Whether something is to be done here."""
    if room.conversation.kind is not ConversationKind.TASK:
        return False
    task = task_in(room.draft, room.id)
    return task is not None and task.is_open


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
    decision = PersonsDecision(
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
    draft.put(DECISIONS, decision)
    draft.emit(EventType.DECISION_CREATED, room, by=author.id, body=structs.asdict(decision))
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


def wait_for(room: Room, question: Message, target: Participant, asked: post.Post) -> None:
    """From here on the author of a question waits, if the question gets a turn."""
    called = (
        *room.turns.values(),
        *room.put_turns.values(),
    )  # a turn that waited, or one made with the question
    if not target.speaks_in_turns or any(turn.called_by(question.seq) for turn in called):
        wait = Wait(room.id, question.seq, question.author, target.id, asked.awaited, asked.waits_in)
        room.draft.put(WAITS, wait)
