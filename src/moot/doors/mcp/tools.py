"""The tools: each a row with its name, its description for a model, its arguments and its function.

The descriptions are short on purpose: an agent pays for them in every turn, and what any caller is listed must stay
under 1,500 tokens (M-10, checked by a test). Refusals are results that an agent can act on, never protocol errors.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct, structs, to_builtins

from moot import shapes
from moot.doors import delivery
from moot.doors.lookup import without_hints
from moot.doors.mcp import hint_calls
from moot.doors.mcp.arguments import (
    MAX_READ,
    MAX_WAIT_SECONDS,
    Arguments,
    AskArguments,
    BroadcastArguments,
    CheckArguments,
    DelegateArguments,
    NameArguments,
    NoArguments,
    PostArguments,
    ReadArguments,
    ReadNoteArguments,
    ReplyArguments,
    SearchArguments,
    SendArguments,
    SpawnArguments,
    UpdateTaskArguments,
    WaitArguments,
    WhyArguments,
    WriteNoteArguments,
)
from moot.doors.mcp.caller import Caller
from moot.errors import BadName, BadValue, MootError, Passed, TimedOut, TurnFailed
from moot.flow.steps.admission import InConversation, OfPerson
from moot.model.hint import worded
from moot.model.ids import ParticipantId
from moot.model.prompt import Need
from moot.model.records.note import NoteAccess
from moot.model.records.task import TaskState
from moot.rules.access import Action
from moot.rules.org_place import OrgPlace
from moot.tools import shared_notes

MAX_HITS = 20
MISFIT_FACTS: Final = ("expected", "answer")
"""What a refusal says about an answer that did not fit."""

Answer: TypeAlias = dict[str, Any]


Run: TypeAlias = Callable[[Caller, Any], Awaitable[Answer]]
Useful: TypeAlias = Callable[[Caller], Awaitable[bool]]


class McpTool(Struct, frozen=True):
    name: str
    says: str
    """What a model reads."""
    arguments: type[Arguments]
    run: Run
    reads: bool = False
    """It changes nothing."""
    repeatable: bool = False
    """Doing it twice does no more than doing it once."""
    aliases: tuple[str, ...] = ()
    """Callable, not listed."""
    useful: Useful | None = None
    """Whether it is listed for a caller; None lists it for all. Whoever calls it anyway is told what it may."""


def to_whom(need: Need) -> Useful:
    """Whether where a caller stands, by its links and tasks, makes a tool useful."""

    async def is_useful(caller: Caller) -> bool:
        return (await caller.hub.org_place()).meets(need)

    return is_useful


# --- writing ---------------------------------------------------------------------------------------------


async def send_to_agent(caller: Caller, arguments: SendArguments) -> Answer:
    caller.require(Action.POST)
    try:
        delivered = await delivery.deliver(
            caller.voice(Action.POST),
            arguments.target,
            arguments.message,
            hint_calls.call,
            intent=arguments.intent,
        )
        return _plain(delivered)
    except delivery.NotDelivered as refusal:
        return _plain(refusal.answer)


async def broadcast(caller: Caller, arguments: BroadcastArguments) -> Answer:
    caller.require(Action.POST)
    return _plain(await delivery.broadcast(caller.voice(Action.POST), arguments.message))


async def reply(caller: Caller, arguments: ReplyArguments) -> Answer:
    message = await caller.message(arguments.message_id, Action.POST)
    voice = caller.voice(Action.POST, InConversation(message.rpartition(":")[0]))
    try:
        receipt = await voice.mailbox.reply(message, arguments.text)
    except TurnFailed as unheard:
        return {"delivered": False, "error": unheard.title, "rule": unheard.facts.get("rule")}
    return {"delivered": False, "passed": True} if receipt is None else _receipt(receipt)


async def post(caller: Caller, arguments: PostArguments) -> Answer:
    voice = caller.voice(Action.POST, InConversation(arguments.conversation))
    return _receipt(await voice.post(arguments.conversation, arguments.text))


def _receipt(receipt: Any) -> Answer:
    """The receipt of a stored message: its id, and how each agent will get it."""
    answer: Answer = {"delivered": True, "id": receipt.id, "seq": receipt.seq}
    parts = [
        {"agent": one.agent, "duty": one.duty, "state": one.state, "reachability": one.reachability}
        for one in receipt.deliveries
    ]
    if parts:
        answer["deliveries"] = parts
    if receipt.warnings:
        answer["warnings"] = [
            "; ".join((warning.message, *worded(warning.fix, hint_calls.call)))
            for warning in receipt.warnings
        ]
    return answer


async def ask(caller: Caller, arguments: AskArguments) -> Answer:
    caller.require(Action.POST)
    try:
        with caller.staying():
            async with asyncio.timeout(MAX_WAIT_SECONDS):
                answer = await caller.voice(Action.POST).ask(
                    arguments.target,
                    arguments.question,
                    timeout=arguments.deadline_seconds,
                    shape=arguments.shape or None,
                    choices=arguments.choices,
                )
        await caller.still_good()
    except (TimedOut, Passed, TurnFailed) as unanswered:
        outcome = {TimedOut: "timed_out", Passed: "passed"}.get(type(unanswered), "failed")
        misfit: Answer = {name: fact for name, fact in unanswered.facts.items() if name in MISFIT_FACTS}
        return {"answered": False, "outcome": outcome, "error": unanswered.title, **misfit}
    except (
        TimeoutError
    ):  # no client holds a call for longer; whoever stops waiting gets a turn for what comes
        later = (
            f"{arguments.target} has not answered within {MAX_WAIT_SECONDS} s: its answer will be among your messages, "
            "or at your deadline a notice that none came"
        )
        return {"answered": False, "outcome": "waiting", "error": later}
    return {"answered": True, "message": answer.to_dict()}


# --- tasks -----------------------------------------------------------------------------------------------


async def delegate(caller: Caller, arguments: DelegateArguments) -> Answer:
    caller.require(Action.POST)
    task = await caller.voice(Action.POST).delegate(
        arguments.target, arguments.task, deadline_seconds=arguments.deadline_seconds or None
    )
    return _task(task)


async def update_task(caller: Caller, arguments: UpdateTaskArguments) -> Answer:
    caller.require(Action.POST)
    words = {"note" if arguments.state == TaskState.WORKING else "result": arguments.result or None}
    return _task(await caller.voice(Action.POST).tasks.update(arguments.id, arguments.state, **words))


def _task(task: shapes.Task) -> Answer:
    """The state of a task; its caller knows its text."""
    fields = ("id", "to", "state", "result", "note", "conversation", "deadline")
    return {name: value for name in fields if (value := getattr(task, name)) is not None}


async def spawn_agent(caller: Caller, arguments: SpawnArguments) -> Answer:
    caller.require(Action.SPAWN)
    spawned = await caller.voice(Action.SPAWN).spawn(
        arguments.template, name=arguments.name, project=arguments.project, task=arguments.task
    )
    answer: Answer = {
        "success": True,
        "name": spawned.agent,
        "template": spawned.template,
        "project": spawned.project,
    }
    return answer if spawned.task is None else {**answer, "task": _task(spawned.task)}


async def may_spawn(caller: Caller) -> bool:
    return caller.may(Action.SPAWN) and bool(await caller.hub.agents.templates())


# --- reading ---------------------------------------------------------------------------------------------


async def check_messages(caller: Caller, arguments: CheckArguments) -> Answer:
    caller.require(Action.SEE_OWN)
    caller.require(Action.CHANGE_OWN)
    return await caller.take_messages(limit=arguments.limit)


async def wait_for_messages(caller: Caller, arguments: WaitArguments) -> Answer:
    caller.require(Action.SEE_OWN)
    caller.require(Action.CHANGE_OWN)
    return await caller.take_messages(timeout=arguments.timeout_seconds)


async def read_conversation(caller: Caller, arguments: ReadArguments) -> Answer:
    where = await caller.version(arguments.conversation)
    if arguments.after:
        messages = await caller.hub.messages(where.id, after=arguments.after, limit=MAX_READ + 1)
        more = len(messages) > MAX_READ
        messages = messages[:MAX_READ]
        return {"messages": [m.to_dict() for m in messages], "next": messages[-1].seq if more else None}
    newest = await caller.hub.encoded.newest_at(where, MAX_READ)
    return {"messages": msgspec.json.decode(newest), "next": None}


async def search(caller: Caller, arguments: SearchArguments) -> Answer:
    caller.require(Action.LOOK)
    hits = await caller.hub.search(arguments.query, limit=MAX_HITS)
    return {"hits": [hit.to_dict() for hit in hits]}


async def why(caller: Caller, arguments: WhyArguments) -> Answer:
    message = await caller.message(arguments.message_id, Action.READ)
    return (await caller.hub.why(message)).to_dict()


# --- shared notes ----------------------------------------------------------------------------------------


async def read_shared_note(caller: Caller, arguments: ReadNoteArguments) -> Answer:
    caller.require(Action.LOOK)
    return await shared_notes.read(caller.hub.notes, arguments.name)


async def write_shared_note(caller: Caller, arguments: WriteNoteArguments) -> Answer:
    caller.require(Action.POST)
    notes = caller.voice(Action.POST).notes
    return await shared_notes.write(notes, arguments.name, arguments.text, arguments.version)


async def reads_notes(caller: Caller) -> bool:
    return await caller.hub.notes.broadest_access() is not None


async def writes_notes(caller: Caller) -> bool:
    return await caller.hub.notes.broadest_access() is NoteAccess.READ_WRITE


async def is_newcomer(caller: Caller) -> bool:
    """Whether nobody counts on its name yet: it has no reports, no unfinished task and no note."""
    place = await caller.hub.org_place()
    counts = place.meets(Need.SOMEBODY_BELOW) or place.meets(Need.UNFINISHED_TASK)
    return not counts and not await reads_notes(caller)


# --- who there is ----------------------------------------------------------------------------------------

ALWAYS_LISTED: Final = ("name", "status", "project")
"""Listed for every agent, even if empty."""
LISTED_FIELDS: Final = (*ALWAYS_LISTED, "role", "reachability")


async def list_agents(caller: Caller, arguments: NoArguments) -> Answer:
    caller.require(Action.LOOK)
    place = await caller.hub.org_place()
    agents = [
        {
            **{
                name: value
                for name in LISTED_FIELDS
                if (value := getattr(agent, name)) or name in ALWAYS_LISTED
            },
            **({} if agent.name == caller.hub.name else _standing(place, ParticipantId(agent.id))),
        }
        for agent in await caller.hub.agents.list()
    ]
    return {"agents": agents, "self": caller.hub.name}


def _standing(place: OrgPlace, other: ParticipantId) -> Answer:
    """Whether the caller may write to somebody, and what that one is to it."""
    relationship = place.relationship(other)
    standing: Answer = {"may_write": place.may_write_to(other)}
    return standing if relationship is None else {**standing, "relationship": relationship.value}


async def set_name(caller: Caller, arguments: NameArguments) -> Answer:
    caller.require(Action.CHANGE_OWN)
    before = caller.hub.name
    try:
        voice = caller.voice(Action.CHANGE_OWN, OfPerson(before))
        renamed = await voice.agents.rename(before, arguments.name)
    except BadName as refusal:
        return {"success": False, "error": refusal.title, "suggestions": list(refusal.suggestions)}
    return {"success": True, "previous_name": before, "new_name": renamed.name}


TOOLS: Final = (
    McpTool(
        "list_agents", "List agents, whom you may_write to; `self` is you.", NoArguments,
        list_agents, reads=True,
    ),
    McpTool(
        "send_to_agent", "Write to an agent; does not wait.", SendArguments,
        send_to_agent, aliases=("send_agent_message",), useful=to_whom(Need.SOMEBODY_TO_WRITE_TO),
    ),
    McpTool(
        "broadcast", "Write to all agents.", BroadcastArguments, broadcast,
        useful=to_whom(Need.SOMEBODY_TO_WRITE_TO),
    ),
    McpTool(
        "check_messages", "Get your messages. Another call acknowledges them.", CheckArguments,
        check_messages,
    ),
    McpTool(
        "wait_for_messages", "Like check_messages, but waits.", WaitArguments,
        wait_for_messages,
    ),
    McpTool(
        "reply", "Answer a message. Silence is fine unless in must_answer.", ReplyArguments,
        reply,
    ),
    McpTool("post", "Post to a conversation; @name asks.", PostArguments, post),
    McpTool(
        "read_conversation", "Newest messages, or after a seq.", ReadArguments, read_conversation, reads=True
    ),
    McpTool(
        "search", "Find words, from:name, in:conversation.", SearchArguments, search, reads=True
    ),
    McpTool("why", "Why agents spoke or stayed silent.", WhyArguments, why, reads=True),
    McpTool("ask", "Ask an agent; waits for an answer.", AskArguments, ask),
    McpTool(
        "delegate", "Give a task to an agent that reports to you.", DelegateArguments, delegate,
        useful=to_whom(Need.SOMEBODY_BELOW),
    ),
    McpTool(
        "spawn_agent", "Start an agent from a template; it reports to you.", SpawnArguments, spawn_agent,
        useful=may_spawn,
    ),
    McpTool(
        "update_task", "Set a task to working, done or failed; cancelled if you gave it.",
        UpdateTaskArguments, update_task, useful=to_whom(Need.UNFINISHED_TASK),
    ),
    McpTool(
        "read_shared_note", "Read a shared note; an unknown name lists them.", ReadNoteArguments, read_shared_note,
        reads=True, useful=reads_notes,
    ),
    McpTool(
        "write_shared_note", "Write a shared note; version is the one you read.", WriteNoteArguments,
        write_shared_note, useful=writes_notes,
    ),
    McpTool(
        "set_name", "Rename yourself; the old name stays an alias.", NameArguments, set_name, repeatable=True,
        aliases=("set_tab_name",), useful=is_newcomer,
    ),
)  # fmt: skip
BY_NAME: Final = {name: tool for tool in TOOLS for name in (tool.name, *tool.aliases)}


async def tools_of(caller: Caller) -> list[McpTool]:
    """The tools that a caller could use."""
    return [tool for tool in TOOLS if tool.useful is None or await tool.useful(caller)]


async def run_tool(caller: Caller, name: str, arguments: dict[str, Any] | None) -> tuple[Answer, bool]:
    """What a tool answers, and whether that is an error. A refusal is part of the answer."""
    tool = BY_NAME.get(name)
    try:
        if tool is None:
            raise BadValue(f'unknown tool "{name}"', detail=f"tools are {', '.join(t.name for t in TOOLS)}")
        return await tool.run(caller, _decode(tool, arguments)), False
    except MootError as refusal:
        return {"error": hint_calls.refusal(without_hints(refusal, caller.principal))}, True


def _decode(tool: McpTool, arguments: dict[str, Any] | None) -> Any:
    try:
        understood = msgspec.convert(arguments or {}, tool.arguments)
        msgspec.json.encode(understood)  # half a character is nobody's name and no text
        return understood
    except (msgspec.ValidationError, UnicodeEncodeError) as wrong:
        fields = ", ".join(field.name for field in structs.fields(tool.arguments)) or "none"
        raise BadValue(f"{tool.name}: {wrong}", detail=f"arguments are {fields}") from wrong


def _plain(shape: Struct) -> Answer:
    answer: Answer = to_builtins(shape)
    return answer
