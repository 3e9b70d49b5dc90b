"""Starting agents from templates over HTTP: what goes in, what comes out, and how."""

from msgspec import Struct

from moot import shapes
from moot.doors.http.api.constraints import Text
from moot.doors.http.api.conversations import CREATED, idempotency_key
from moot.doors.http.api.problems import Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import RequestShape


class NewSpawn(RequestShape, frozen=True):
    template: str
    name: str = ""
    """Empty: it is called after the template."""
    project: str = ""
    """The folder it works in; empty: that of the template, or yours."""
    task: Text | None = None
    """Delegated to it at once."""


class SpawnedList(Struct, frozen=True):
    spawned: list[shapes.Spawned]


async def tree(call: ApiCall) -> SpawnedList:
    return SpawnedList(await call.hub.agents.tree())


async def create(call: ApiCall) -> Response:
    body = call.body
    spawned = await call.hub.spawn(
        body.template,
        name=body.name,
        project=body.project,
        task=body.task or "",
        idempotency_key=idempotency_key(call),
    )
    return Response(spawned, CREATED, {"Location": f"/api/agents/{spawned.agent}"})
