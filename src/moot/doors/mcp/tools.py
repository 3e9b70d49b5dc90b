"""The tools: every one a row with its name, its words for a model, its arguments and its function.

The words are few on purpose: an agent pays for them in every turn, and the whole table must stay under 1,500 tokens
(M-10, held by a test). Refusals are results that an agent can act on, never protocol errors.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct, structs, to_builtins

from moot.doors import delivery
from moot.doors.lookup import without_hints
from moot.doors.mcp import hint_calls
from moot.doors.mcp.caller import Caller
from moot.errors import BadName, BadValue, MootError, Passed, TimedOut, TurnFailed
from moot.flow.steps.admission import InConversation, OfPerson
from moot.model.hint import said
from moot.rules.access import Action

READ_AT_ONCE = 50
FOUND_AT_ONCE = 20
MOST_WAITING = 300
USUAL_WAITING = 50.0
"""Below the minute after which common clients give up on a tool."""
USUAL_DEADLINE = 60.0

Limit = Annotated[int, Meta(ge=1, le=500)]
Seconds = Annotated[float, Meta(ge=0, le=MOST_WAITING)]
Answer: TypeAlias = dict[str, Any]


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Comes from a model. None of the fields names a sender."""


class Nothing(Arguments, frozen=True):
    pass


class ToAgent(Arguments, frozen=True):
    target: str
    message: str


class ToAll(Arguments, frozen=True):
    message: str


class Name(Arguments, frozen=True):
    name: str


class Checking(Arguments, frozen=True):
    limit: Limit = READ_AT_ONCE


class Waiting(Arguments, frozen=True):
    timeout_seconds: Seconds = USUAL_WAITING


class Replying(Arguments, frozen=True):
    message_id: str
    text: str


class Posting(Arguments, frozen=True):
    conversation: str
    text: str


class Reading(Arguments, frozen=True):
    conversation: str
    after: Annotated[int, Meta(ge=0, le=2**53)] = 0


class Searching(Arguments, frozen=True):
    query: Annotated[str, Meta(max_length=1000)]


class About(Arguments, frozen=True):
    message_id: str


class Asking(Arguments, frozen=True):
    target: str
    question: str
    deadline_seconds: Seconds = USUAL_DEADLINE


Run: TypeAlias = Callable[[Caller, Any], Awaitable[Answer]]


class Tool(Struct, frozen=True):
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


# --- writing ---------------------------------------------------------------------------------------------


async def send_to_agent(caller: Caller, given: ToAgent) -> Answer:
    caller.allowed(Action.POST)
    try:
        sent = await delivery.deliver(
            caller.admitted(Action.POST), given.target, given.message, hint_calls.call
        )
        return _plain(sent)
    except delivery.NotDelivered as refusal:
        return _plain(refusal.told)


async def broadcast(caller: Caller, given: ToAll) -> Answer:
    caller.allowed(Action.POST)
    return _plain(await delivery.broadcast(caller.admitted(Action.POST), given.message))


async def reply(caller: Caller, given: Replying) -> Answer:
    message = await caller.message(given.message_id, Action.POST)
    voice = caller.admitted(Action.POST, InConversation(message.rpartition(":")[0]))
    try:
        receipt = await voice.mailbox.reply(message, given.text)
    except TurnFailed as unheard:
        return {"delivered": False, "error": unheard.title, "rule": unheard.facts.get("rule")}
    return {"delivered": False, "passed": True} if receipt is None else _receipt(receipt)


async def post(caller: Caller, given: Posting) -> Answer:
    voice = caller.admitted(Action.POST, InConversation(given.conversation))
    return _receipt(await voice.post(given.conversation, given.text))


def _receipt(receipt: Any) -> Answer:
    """A message is on disk: which, and who will hear it how."""
    told: Answer = {"delivered": True, "id": receipt.id, "seq": receipt.seq}
    parts = [
        {"agent": one.agent, "duty": one.duty, "state": one.state, "reachability": one.reachability}
        for one in receipt.deliveries
    ]
    if parts:
        told["deliveries"] = parts
    if receipt.warnings:
        told["warnings"] = [
            "; ".join((warning.message, *said(warning.fix, hint_calls.call))) for warning in receipt.warnings
        ]
    return told


async def ask(caller: Caller, given: Asking) -> Answer:
    caller.allowed(Action.POST)
    try:
        with caller.staying():
            answer = await caller.admitted(Action.POST).ask(
                given.target, given.question, timeout=given.deadline_seconds
            )
        await caller.still_good()
    except (TimedOut, Passed, TurnFailed) as unanswered:
        outcome = {TimedOut: "timed_out", Passed: "passed"}.get(type(unanswered), "failed")
        return {"answered": False, "outcome": outcome, "error": unanswered.title}
    return {"answered": True, "message": answer.to_dict()}


# --- reading ---------------------------------------------------------------------------------------------


async def check_messages(caller: Caller, given: Checking) -> Answer:
    caller.allowed(Action.SEE_OWN)
    caller.allowed(Action.CHANGE_OWN)
    return await caller.handed(limit=given.limit)


async def wait_for_messages(caller: Caller, given: Waiting) -> Answer:
    caller.allowed(Action.SEE_OWN)
    caller.allowed(Action.CHANGE_OWN)
    return await caller.handed(timeout=given.timeout_seconds)


async def read_conversation(caller: Caller, given: Reading) -> Answer:
    where = await caller.conversation(given.conversation, Action.READ)
    if given.after:
        found = await caller.hub.messages(where.id, after=given.after, limit=READ_AT_ONCE + 1)
        more = len(found) > READ_AT_ONCE
        found = found[:READ_AT_ONCE]
        return {"messages": [m.to_dict() for m in found], "next": found[-1].seq if more else None}
    newest = await caller.hub.newest(where.id, READ_AT_ONCE)
    return {"messages": [message.to_dict() for message in newest], "next": None}


async def search(caller: Caller, given: Searching) -> Answer:
    caller.allowed(Action.LOOK)
    hits = await caller.hub.search(given.query, limit=FOUND_AT_ONCE)
    return {"hits": [hit.to_dict() for hit in hits]}


async def why(caller: Caller, given: About) -> Answer:
    message = await caller.message(given.message_id, Action.READ)
    return (await caller.hub.why(message)).to_dict()


# --- who there is ----------------------------------------------------------------------------------------

ALWAYS_TOLD: Final = ("name", "status", "project")
"""Promised of every agent, empty or not."""
TOLD_OF_AGENTS: Final = (*ALWAYS_TOLD, "role", "reachability")


async def list_agents(caller: Caller, given: Nothing) -> Answer:
    caller.allowed(Action.LOOK)
    agents = [
        {name: value for name in TOLD_OF_AGENTS if (value := getattr(agent, name)) or name in ALWAYS_TOLD}
        for agent in await caller.hub.agents.list()
    ]
    return {"agents": agents, "self": caller.hub.name}


async def set_name(caller: Caller, given: Name) -> Answer:
    caller.allowed(Action.CHANGE_OWN)
    before = caller.hub.name
    try:
        voice = caller.admitted(Action.CHANGE_OWN, OfPerson(before))
        renamed = await voice.agents.rename(before, given.name)
    except BadName as refusal:
        return {"success": False, "error": refusal.title, "suggestions": list(refusal.suggestions)}
    return {"success": True, "previous_name": before, "new_name": renamed.name}


TOOLS: Final = (
    Tool(
        "list_agents", "Who there is: name, status, project, reachability. `self` is you.", Nothing,
        list_agents, reads=True,
    ),
    Tool(
        "send_to_agent", "Write to an agent. Returns when stored, never waits for an answer.", ToAgent,
        send_to_agent, aliases=("send_agent_message",),
    ),
    Tool("broadcast", "Write to all other agents.", ToAll, broadcast),
    Tool(
        "check_messages", "What waits for you. Calling again means you dealt with the last ones.", Checking,
        check_messages,
    ),
    Tool(
        "wait_for_messages", "Like check_messages, but waits for something to come.", Waiting,
        wait_for_messages,
    ),
    Tool("reply", "Answer a message you were given. Silence is fine unless it is in must_answer.", Replying, reply),
    Tool("post", "Say something in a conversation you are in. @name calls a member.", Posting, post),
    Tool(
        "read_conversation", "Newest messages, or those after a seq.", Reading, read_conversation, reads=True
    ),
    Tool("search", 'Find messages: words, "phrase", from:name, in:conversation.', Searching, search, reads=True),
    Tool("why", "Why each agent answered a message or was silent.", About, why, reads=True),
    Tool("ask", "Write to an agent and wait for its answer.", Asking, ask),
    Tool(
        "set_name", "Take another name; the old one stays an alias.", Name, set_name, repeatable=True,
        aliases=("set_tab_name",),
    ),
)  # fmt: skip
BY_NAME: Final = {name: tool for tool in TOOLS for name in (tool.name, *tool.aliases)}


async def called(caller: Caller, name: str, arguments: dict[str, Any] | None) -> tuple[Answer, bool]:
    """What a tool answers, and whether that is an error. Whatever is refused is told in the answer."""
    tool = BY_NAME.get(name)
    try:
        if tool is None:
            raise BadValue(
                f'there is no tool "{name}"', detail=f"tools are {', '.join(t.name for t in TOOLS)}"
            )
        return await tool.run(caller, _understood(tool, arguments)), False
    except MootError as refusal:
        return {"error": hint_calls.refusal(without_hints(refusal, caller.who))}, True


def _understood(tool: Tool, arguments: dict[str, Any] | None) -> Any:
    try:
        return msgspec.convert(arguments or {}, tool.arguments)
    except (msgspec.ValidationError, UnicodeEncodeError) as wrong:
        fields = ", ".join(field.name for field in structs.fields(tool.arguments)) or "none"
        raise BadValue(f"{tool.name}: {wrong}", detail=f"arguments are {fields}") from wrong


def _plain(told: Struct) -> Answer:
    found: Answer = to_builtins(told)
    return found
