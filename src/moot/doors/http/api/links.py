"""Links over HTTP: what goes in, what comes out, and how."""

from typing import Annotated

from msgspec import Meta, Struct, structs, to_builtins

from moot import shapes
from moot.doors.http.api.agents import as_seen_by
from moot.doors.http.api.conversations import CREATED
from moot.doors.http.api.problems import Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import RequestShape
from moot.flow.arrange import MAX_DISTANCE, MAX_MOVED
from moot.model.records.link import Direction, Relationship

ONE_OR_TWO = r"^ *[A-Za-z0-9@._-]+ *(, *[A-Za-z0-9@._-]+ *)?$"


class Between(RequestShape, frozen=True):
    between: Annotated[str, Meta(pattern=ONE_OR_TWO)] | None = None
    """One name, or two with a comma between."""


class NewLink(RequestShape, frozen=True, rename={"sender": "from"}):
    sender: str
    to: str
    direction: Direction = Direction.TWO_WAY
    relationship: Relationship = Relationship.PEER
    """What `from` is of `to`."""
    enabled: bool = True


class WantedLinks(RequestShape, frozen=True):
    links: tuple[NewLink, ...]
    """All there shall be."""
    dry_run: bool = False
    expects: str | None = None
    """The `version` that a look with `dry_run` gave: 409 where links have changed since."""
    """Only say what would change."""


class ChangedLink(RequestShape, frozen=True):
    direction: Direction | None = None
    relationship: Relationship | None = None
    enabled: bool | None = None
    override: bool = False
    """Also what moot.toml says of it, until the file is read again."""


Coordinate = Annotated[float, Meta(ge=-MAX_DISTANCE, le=MAX_DISTANCE)]


class NewPoint(RequestShape, frozen=True):
    x: Coordinate
    y: Coordinate


class NewPositions(RequestShape, frozen=True):
    positions: Annotated[dict[str, NewPoint], Meta(max_length=MAX_MOVED)]
    """By name or id; who is not named stays where it is."""


class LinkList(Struct, frozen=True):
    links: list[shapes.Link]


async def links(call: ApiCall) -> LinkList:
    return LinkList(await call.hub.links.list(between=call.query.between))


async def link(call: ApiCall) -> shapes.Link:
    return await call.hub.links.get(call.path["id"])


async def prompts(call: ApiCall) -> shapes.LinkPrompts:
    return await call.hub.links.prompts(call.path["id"])


async def create(call: ApiCall) -> Response:
    body = call.body
    link = await call.hub.links.create(
        body.sender,
        body.to,
        relationship=body.relationship.value,
        direction=body.direction.value,
        enabled=body.enabled,
    )
    return Response(link, CREATED, {"Location": f"/api/links/{link.id}"})


async def change(call: ApiCall) -> shapes.Link:
    body = call.body
    return await call.hub.links.update(
        call.path["id"],
        relationship=body.relationship.value if body.relationship else None,
        direction=body.direction.value if body.direction else None,
        enabled=body.enabled,
        override=body.override,
    )


async def apply(call: ApiCall) -> shapes.AppliedLinks:
    return await call.hub.links.apply(
        to_builtins(call.body.links), dry_run=call.body.dry_run, expects=call.body.expects
    )


async def remove(call: ApiCall) -> shapes.Link:
    return await call.hub.links.delete(call.path["id"], purge=call.query.purge)


async def of_agent(call: ApiCall) -> LinkList:
    return LinkList(await call.hub.links.list(between=call.agent))


# --- the map ---------------------------------------------------------------------------------------------


async def topology(call: ApiCall) -> shapes.Topology:
    graph = await call.hub.topology()
    return structs.replace(graph, agents=tuple(as_seen_by(node, call) for node in graph.agents))


async def arrange(call: ApiCall) -> shapes.Positions:
    return await call.hub.arrange(to_builtins(call.body.positions))
