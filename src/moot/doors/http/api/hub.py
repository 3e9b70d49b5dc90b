"""The hub itself over HTTP: health, limits, audit and events."""

from typing import Any

from moot import shapes
from moot.doors.http.api import subject
from moot.doors.http.api.conversations import settled_within
from moot.doors.http.api.problems import Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import AuditLog, Healthy, Settled, Status
from moot.doors.http.streams.sse import Stream


async def healthz(call: ApiCall) -> Healthy:
    """The process answers."""
    return Healthy("ok")


async def readyz(call: ApiCall) -> Healthy:
    """The store answers too."""
    await call.hub.history.horizon()
    return Healthy("ready")


async def metrics(call: ApiCall) -> Response:
    agents = await call.hub.agents.list()
    text, media = call.door.meters.render(
        position=call.hub.position,
        live=sum(agent.reachability == "live" for agent in agents),
        open_turns=len(await call.hub.inspector.unsettled()),
    )
    return Response(text, media=media)


async def openapi(call: ApiCall) -> Response:
    return Response(call.door.openapi())


async def limits(call: ApiCall) -> shapes.BrakeReport:
    where = call.query.conversation
    conversation = where and (await subject.conversation(call.hub, call.caller, where)).id
    return await call.hub.limits(conversation=conversation)


async def reset_limit(call: ApiCall) -> shapes.PairLimit:
    return await call.hub.reset_limit(call.body.sender, call.body.to)


async def status(call: ApiCall) -> Status:
    agents = await call.hub.agents.list()
    facts = call.door.facts
    return Status(
        me=call.hub.name,
        version=facts["version"],
        instance=facts["instance"],
        started_at=facts["started_at"],
        user=call.hub.settings.hub.user,
        position=call.hub.position,
        agents=len(agents),
        live=sum(agent.reachability == "live" for agent in agents),
        open_turns=len(await call.hub.inspector.unsettled()),
        streams=call.door.fan.count,
    )


async def settled(call: ApiCall) -> Settled:
    """All conversations of the hub."""
    return await settled_within(call, None)


async def usage(call: ApiCall) -> dict[str, Any]:
    return await call.hub.inspector.usage(agent=call.query.agent, conversation=call.query.conversation)


async def audit(call: ApiCall) -> AuditLog:
    query = call.query
    acts = tuple(filter(None, query.acts.split(","))) if query.acts else ()
    entries = await call.hub.audit.log(
        agent=query.agent,
        link=query.link,
        conversation=query.conversation,
        acts=acts,
        since=query.since,
        before=query.before,
        limit=query.limit,
    )
    return AuditLog(entries)


async def verify(call: ApiCall) -> shapes.AuditReport:
    return await call.hub.audit.verify()


async def reload(call: ApiCall) -> shapes.Reloaded:
    return await call.hub.reload()


async def events(call: ApiCall) -> Stream:
    query = call.query
    after = query.after
    if after is None and (last := call.headers.get("last-event-id", "")).isascii() and last.isdecimal():
        after = int(last[:16])
    where = query.conversation and (await subject.conversation(call.hub, call.caller, query.conversation)).id
    agent = (await call.hub.agents.get(query.agent)).name if query.agent else None
    types = frozenset(kind.strip() for kind in query.types.split(",") if kind.strip())
    return Stream(call.door.fan, call.caller, where=where, agent=agent, types=types, after=after)
