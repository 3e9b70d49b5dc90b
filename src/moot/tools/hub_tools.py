"""Tools by which a model's brain speaks to other agents and hands work down: the same acts as over MCP and the SDK.

They act through `turn.hub`, as the agent in its running turn; who may do what is decided there. What a model reads of
them are templates, `tools/NAME.md.j2`. Above: offer.py, for agents whose `tools` say messages or tasks.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct, json

from moot.brain import HostedTurn
from moot.errors import MootError
from moot.model.json import JsonObject
from moot.model.prompt import Need, ToolResult, ToolSpec
from moot.model.records.task import TaskState

USUAL_DEADLINE: Final = 60.0
REFUSAL_FIELDS: Final = (
    *("title", "detail", "suggestions", "allowed", "retry_after_ms"),
    *("current_version", "current_text", "updated_by"),
)
"""The parts of a refusal that a model gets."""


class NoWords(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class ToOne(Struct, frozen=True, forbid_unknown_fields=True):
    target: str
    message: str
    intent: str = ""


class ToAll(Struct, frozen=True, forbid_unknown_fields=True):
    message: str


class AgentQuestion(Struct, frozen=True, forbid_unknown_fields=True):
    target: str
    question: str
    deadline_seconds: float = USUAL_DEADLINE
    shape: JsonObject = {}
    choices: tuple[str, ...] = ()


class NewWork(Struct, frozen=True, forbid_unknown_fields=True):
    target: str
    task: str
    deadline_seconds: float = 0.0
    shape: JsonObject = {}


class WorkNews(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    state: str
    result: str = ""


class AgentWanted(Struct, frozen=True, forbid_unknown_fields=True):
    template: str
    task: str = ""
    name: str = ""
    project: str = ""


def step_key(turn: HostedTurn) -> str:
    """The same when a call is made again after a crash, so that nobody is written to twice."""
    step = next(step for step in turn.steps if not step.seq)
    return f"tool:{turn.id}:{step.answer}:{step.call}"


async def send_agent_message(turn: HostedTurn, given: ToOne) -> JsonObject:
    receipt = await turn.hub.send(
        given.target, given.message, intent=given.intent or None, idempotency_key=step_key(turn)
    )
    return {"delivered": True, "id": receipt.id}


async def broadcast(turn: HostedTurn, given: ToAll) -> JsonObject:
    sent: JsonObject = await turn.hub.broadcast(given.message, idempotency_key=step_key(turn))
    return {"delivered_to": sent["delivered_to"], "failed": sent["failed"]}


async def ask(turn: HostedTurn, given: AgentQuestion) -> JsonObject:
    seconds = max(0.0, min(given.deadline_seconds, turn.seconds_left))
    answer = await turn.hub.ask(
        given.target,
        given.question,
        timeout=seconds,
        choices=given.choices,
        shape=given.shape or None,
        idempotency_key=step_key(turn),
    )
    return {"from": answer.sender, "text": answer.text}


async def list_agents(turn: HostedTurn, given: NoWords) -> JsonObject:
    place = await turn.hub.org_place()
    agents = []
    for one in await turn.hub.agents.list():
        if one.name != turn.agent:
            relationship = place.relationship(one.id)
            row = {"name": one.name, "status": one.status, "may_write": place.may_write_to(one.id)}
            agents.append(row if relationship is None else {**row, "relationship": relationship.value})
    return {"agents": agents, "self": turn.agent}


async def delegate(turn: HostedTurn, given: NewWork) -> JsonObject:
    task = await turn.hub.delegate(
        given.target,
        given.task,
        deadline_seconds=given.deadline_seconds or None,
        shape=given.shape or None,
        idempotency_key=step_key(turn),
    )
    return {"id": task.id, "to": task.to, "state": task.state, "deadline": task.deadline}


async def spawn_agent(turn: HostedTurn, given: AgentWanted) -> JsonObject:
    made = await turn.hub.spawn(
        given.template,
        name=given.name,
        project=given.project,
        task=given.task,
        idempotency_key=step_key(turn),
    )
    answer: JsonObject = {"name": made.agent, "template": made.template}
    return answer if made.task is None else {**answer, "task": made.task.id}


async def update_task(turn: HostedTurn, given: WorkNews) -> JsonObject:
    words = {"note" if given.state == TaskState.WORKING else "result": given.result or None}
    task = await turn.hub.tasks.update(given.id, given.state, **words)
    return {"id": task.id, "state": task.state}


Use: TypeAlias = Callable[[HostedTurn, Any], Awaitable[JsonObject]]


class HubTool:
    """One of them, as a brain calls it. A refusal is a result that the model can act on."""

    def __init__(self, arguments: type[Struct], use: Use, needs: Need = Need.NOTHING) -> None:
        fields = json.schema_components([arguments])[1][arguments.__name__]
        parameters = {"properties": fields["properties"], "required": fields["required"]}
        schema: JsonObject = {"type": "object", **parameters, "additionalProperties": False}
        self.spec = ToolSpec(use.__name__, "", schema, idempotent=True, needs=needs)
        self._arguments = arguments
        self._use = use

    async def run(self, arguments: JsonObject, turn: HostedTurn) -> ToolResult:
        try:
            given = msgspec.convert(arguments, self._arguments)
        except msgspec.ValidationError as wrong:
            return ToolResult(f"{self.spec.name}: {wrong}", failed=True)
        try:
            answer = await self._use(turn, given)
        except MootError as refusal:
            fields = refusal.to_dict()
            shown = {name: fields[name] for name in REFUSAL_FIELDS if fields.get(name)}
            return ToolResult(json.encode(shown).decode(), failed=True)
        return ToolResult(json.encode(answer).decode())


def message_tools() -> tuple[HubTool, ...]:
    return (
        HubTool(ToOne, send_agent_message, Need.SOMEBODY_TO_WRITE_TO),
        HubTool(NoWords, list_agents),
        HubTool(ToAll, broadcast, Need.SOMEBODY_TO_WRITE_TO),
        HubTool(AgentQuestion, ask, Need.SOMEBODY_TO_WRITE_TO),
    )


def task_tools() -> tuple[HubTool, ...]:
    return (
        HubTool(NewWork, delegate, Need.SOMEBODY_BELOW),
        HubTool(WorkNews, update_task, Need.UNFINISHED_TASK),
    )


def spawn_tools() -> tuple[HubTool, ...]:
    return (HubTool(AgentWanted, spawn_agent),)
