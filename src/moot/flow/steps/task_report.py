"""How the end of a task comes home: what is said of it, by whom, and where its delegator hears it.

The hub says only facts: who, which task, how it ended. What the worker said is a message of the worker's, so that
nobody's words stand under the hub's name. The channel of the link keeps the report; the delegator is woken where it
delegated, if it is still there.

Above: obligations.py ends tasks, flow/delegate.py opens them. Below: post.append makes messages.
"""

from msgspec import Struct

from moot.flow import post
from moot.model.ids import SYSTEM, ConversationId, ParticipantId, RootId
from moot.model.intent import Intent
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import Kind, Participant
from moot.model.records.task import TASKS, Task, TaskId, TaskState
from moot.model.turn import Call, RuleName
from moot.rules import brakes, links, why
from moot.rules.draft import Draft
from moot.rules.floor.calls import Called
from moot.rules.room import Room

THE_SYSTEM = Participant(id=SYSTEM, name="system", kind=Kind.SYSTEM)


class TaskEnd(Struct, frozen=True, gc=False):
    """How a task ended."""

    state: TaskState
    result: str
    """What came of it: the words of whoever ended it, or the hub's."""
    by: Participant | None = None
    """Who ended it; nobody where a deadline passed, a turn failed or a link was cut."""
    reason: str = ""
    """Why it ended so, in the hub's words."""


def report(draft: Draft, task: Task, ending: TaskEnd, instead: Room | None = None) -> None:
    """Report the end of a task, and wake its delegator once. `instead` is where it hears of it if the channel is closed
    to it."""
    channel = open_room(draft, task.channel)
    home = _home(draft, task) or instead or channel or open_room(draft, task.conversation)
    for room in {room.id: room for room in (channel, home) if room is not None}.values():
        wakes = _woken(room, task.by) if room is home else None
        _report_in(room, task, ending, wakes)
        post.move_on(room)


class UnheardReport(Struct, frozen=True, gc=False):
    """How a task ended, told to a delegator that was paused then and has not read it since."""

    task: TaskId
    conversation: ConversationId


def remind(draft: Draft, report: UnheardReport) -> None:
    """Wake the delegator now, where the report waits for it."""
    task = draft.record(TASKS, report.task)
    room = open_room(draft, report.conversation)
    if task is None or task.is_open or room is None:
        return
    facts: JsonObject = {"task": task.id, "state": task.state.value}
    text = f"[the task {task.id} of {draft.name(task.to)} ended while you were paused: it is {task.state}]"
    say(
        room,
        TaskMessage(THE_SYSTEM, text, "", facts, task.root, task.hop, wakes=_woken(room, task.by)),
    )
    post.move_on(room)


def _home(draft: Draft, task: Task) -> Room | None:
    """Where it was delegated, if that is another place than the channel and the delegator is still there."""
    room = open_room(draft, task.asked_in) if task.asked_in != task.channel else None
    return room if room is not None and task.by in room.members else None


def needs_the_channel(draft: Draft, task: Task) -> bool:
    """Whether the delegator hears of its end in the channel of the link."""
    return _home(draft, task) is None


def _report_in(room: Room, task: Task, ending: TaskEnd, wakes: ParticipantId | None) -> None:
    facts: JsonObject = {"task": task.id, "state": task.state.value}
    text = notice(room.draft, task, ending)
    if ending.by is not None and ending.by.id == task.to:
        post.notice(room, text, facts)
        news = TaskMessage(ending.by, ending.result, Intent.REPORT, facts, task.root, task.hop, wakes)
    else:
        news = TaskMessage(THE_SYSTEM, text, "", facts, task.root, task.hop, wakes)
    say(room, news)


def notice(draft: Draft, task: Task, ending: TaskEnd) -> str:
    """How a task ended, as the hub says it: facts, and nobody's words."""
    worker = draft.name(task.to)
    by = ending.by.name if ending.by is not None and ending.by.id != task.to else ""
    words = {
        TaskState.DONE: f"{by} marked the task {task.id} of {worker} as done"
        if by
        else f"{worker} finished the task {task.id}",
        TaskState.FAILED: f"{by} marked the task {task.id} of {worker} as failed"
        if by
        else f"{worker} could not do the task {task.id}",
        TaskState.CANCELLED: f"the task {task.id} of {worker} was cancelled{f' by {by}' if by else ''}",
        TaskState.EXPIRED: f"the task {task.id} of {worker} expired",
    }[task.state]
    return f"[{words}: {ending.reason}]" if ending.reason else f"[{words}]"


def open_room(draft: Draft, where: ConversationId) -> Room | None:
    found = draft.seen.conversation(where) if where else None
    return None if found is None or found.archived else draft.room(found)


def _woken(room: Room, delegator: ParticipantId) -> ParticipantId | None:
    """The delegator, if it is an agent that takes turns here; a person reads it."""
    member = room.members.get(delegator)
    return delegator if member is not None and member.speaks else None


class TaskMessage(Struct, frozen=True, gc=False):
    """What is said of a task beside its branch."""

    author: Participant
    text: str
    intent: str
    metadata: JsonObject
    root: RootId
    hop: int
    wakes: ParticipantId | None = None


def say(room: Room, news: TaskMessage) -> Message:
    """Say it, and give whom it wakes a turn for it, inside the brakes."""
    seq, draft = room.conversation.next_seq, room.draft
    calls: list[Call] = []
    blocks: dict[ParticipantId, RuleName] = {}
    if news.wakes is not None:
        by = news.author.id
        call = Call(news.wakes, seq, False, 1, news.hop, news.root, RuleName.TASK, by=by)
        calls.append(call)
        stop = brakes.chain_stop(call, draft.root(news.root), draft.at.terms.limits)
        if stop is None and draft.participant(news.wakes).gets_no_turns:
            stop = RuleName.PAUSED
        if stop is not None:
            blocks[news.wakes] = stop
    message = post.append(
        room,
        links.OF_SYSTEM if news.author.kind is Kind.SYSTEM else links.beside(news.author),
        Message(
            conversation=room.id,
            seq=seq,
            author=news.author.id,
            kind=news.author.kind,
            text=news.text,
            root=news.root,
            hop=news.hop,
            at=room.now,
            intent=news.intent,
            round=room.floor.opener(room, news.author) if calls else 0,
            metadata=room.floor.marked(room, news.metadata, news.author),
            plan=why.plan(room, news.author, calls, blocks, len(calls)),
        ),
    )
    room.floor.hand_out(room, message, Called(news.author.name, calls, blocks, [], None, len(calls)))
    return message
