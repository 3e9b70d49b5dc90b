"""Tasks over HTTP: what goes in, what comes out, and how."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from moot import shapes
from moot.doors.http.api.constraints import Text
from moot.doors.http.api.conversations import CREATED, idempotency_key
from moot.doors.http.api.problems import Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import Limit, RequestShape
from moot.flow.delegate import MAX_TASK_SECONDS
from moot.hub.tasks import UNFINISHED_ONES
from moot.model.records.task import TaskState

STATES = [UNFINISHED_ONES, *(state.value for state in TaskState)]


class TasksQuery(RequestShape, frozen=True):
    state: Annotated[str, Meta(extra_json_schema={"enum": STATES})] | None = None
    """A state, or `unfinished`."""
    by: str | None = None
    to: str | None = None
    before: str | None = None
    """The id of a task: only those that are older."""
    limit: Limit = 100


class NewTask(RequestShape, frozen=True):
    to: str
    task: Text
    deadline_seconds: Annotated[float, Meta(gt=0, le=MAX_TASK_SECONDS)] | None = None
    conversation: str | None = None
    """Where you hear how it ended; one that you are in."""
    shape: dict[str, Any] | None = None
    """A JSON Schema that the result has to fit."""


class ChangedTask(RequestShape, frozen=True):
    state: TaskState
    result: Text | None = None
    note: Text | None = None


class TaskList(Struct, frozen=True):
    tasks: list[shapes.Task]
    next: str | None = None
    """`before` of the page with older ones, if there may be any."""


async def tasks(call: ApiCall) -> TaskList:
    query = call.query
    rows = await call.hub.tasks.list(
        state=query.state, by=query.by, to=query.to, before=query.before, limit=query.limit
    )
    return TaskList(rows, rows[0].id if len(rows) == query.limit else None)


async def task(call: ApiCall) -> shapes.Task:
    return await call.hub.tasks.get(call.path["id"])


async def create(call: ApiCall) -> Response:
    body = call.body
    task = await call.hub.delegate(
        body.to,
        body.task,
        deadline_seconds=body.deadline_seconds,
        conversation=body.conversation,
        shape=body.shape,
        idempotency_key=idempotency_key(call),
    )
    return Response(task, CREATED, {"Location": f"/api/tasks/{task.id}"})


async def change(call: ApiCall) -> shapes.Task:
    body = call.body
    return await call.hub.tasks.update(call.path["id"], body.state.value, result=body.result, note=body.note)
