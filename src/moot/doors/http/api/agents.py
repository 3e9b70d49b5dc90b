"""Agents, their inboxes and tokens over HTTP; sending to one or all of them in the shapes that agents know."""

from typing import Any, TypeVar

from msgspec import structs

from moot import shapes
from moot.doors import delivery
from moot.doors.http.api import subject
from moot.doors.http.api.conversations import CREATED, idempotency_key, receipt_response
from moot.doors.http.api.hint_requests import request
from moot.doors.http.api.problems import Response, status_of
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import (
    KINDS,
    AgentList,
    Asked,
    ConversationList,
    MessageList,
    ReceivedList,
    TokenList,
)
from moot.errors import BadValue, NotPermitted, Passed, TimedOut, TurnFailed, Unanswered
from moot.model.records.token import TokenScope
from moot.rules.access import Standing

A = TypeVar("A", bound=shapes.Agent)


async def agents(call: ApiCall) -> AgentList:
    return AgentList([as_seen_by(one, call) for one in await call.hub.agents.list()], call.hub.name)


async def create(call: ApiCall) -> Response:
    body = call.body
    if body.kind not in KINDS:
        raise BadValue(f'unknown kind of participant "{body.kind}"', detail=f"kinds are {', '.join(KINDS)}")
    agent = await call.hub.agents.create(
        body.name,
        role=body.role,
        display=body.display,
        external=body.kind == "external",
        human=body.kind == "human",
    )
    return Response(agent, CREATED, {"Location": f"/api/agents/{agent.name}"})


async def agent(call: ApiCall) -> shapes.Agent:
    return as_seen_by(await call.hub.agents.get(call.agent), call)


def as_seen_by(agent: A, call: ApiCall) -> A:
    """Everybody may know that an agent's last turn failed. The reason may quote a conversation: for the owner."""
    doing = agent.activity
    if doing["state"] != "error" or call.caller.standing is Standing.OWNER or call.caller.name == agent.name:
        return agent
    return structs.replace(agent, activity={**doing, "label": "error"})


async def change(call: ApiCall) -> shapes.Agent:
    body, name = call.body, call.agent
    if body.project is not None:  # first, since it may be refused: then nothing has changed
        await call.hub.agents.change(name, project=body.project)
    if body.name is not None:
        name = (await call.hub.agents.rename(name, body.name)).name
    return await call.hub.agents.change(name, role=body.role, display=body.display)


async def interrupt(call: ApiCall) -> shapes.Agent:
    await call.hub.agents.interrupt(call.agent)
    return await call.hub.agents.get(call.agent)


async def pause(call: ApiCall) -> shapes.Agent:
    return await call.hub.agents.pause(call.agent)


async def resume(call: ApiCall) -> shapes.Agent:
    return await call.hub.agents.resume(call.agent)


async def remove(call: ApiCall) -> shapes.Agent:
    return await call.hub.agents.remove(call.agent)


async def conversations(call: ApiCall) -> ConversationList:
    places = await call.hub.conversations.list()
    return ConversationList([one for one in places if call.agent in {seat.name for seat in one.participants}])


async def received(call: ApiCall) -> ReceivedList:
    query = call.query
    return ReceivedList(await call.hub.inbox(agent=call.agent, unread=query.unread, limit=query.limit))


async def context(call: ApiCall) -> dict[str, Any]:
    where = await subject.conversation(call.hub, call.caller, call.query.conversation)
    return await call.hub.inspector.context(call.agent, where.id)


async def replay(call: ApiCall) -> shapes.Replayed:
    return await call.hub.inspector.replay(call.agent)


async def inbox(call: ApiCall) -> MessageList:
    return MessageList(await call.hub.agents.inbox(call.agent, limit=call.query.limit))


# --- writing to them -------------------------------------------------------------------------------------


async def send(call: ApiCall) -> delivery.Delivered | Response:
    """Refusals have the shape that MCP uses too: an agent that writes to another reads them."""
    try:
        return await delivery.deliver(
            call.hub, call.path["name"], call.body.message, request, key=idempotency_key(call)
        )
    except delivery.NotDelivered as refusal:
        after = refusal.cause.retry_after_ms
        headers = {} if after is None else {"Retry-After": str(max(1, -(-after // 1000)))}
        return Response(refusal.answer, status_of(refusal.cause), headers)


async def letter(call: ApiCall) -> Response:
    """The same, answered with the whole receipt; refusals are ordinary problems."""
    body, key = call.body, idempotency_key(call)
    return receipt_response(
        await call.hub.send(call.path["name"], body.text, intent=body.intent, idempotency_key=key)
    )


OUTCOMES: dict[type[Unanswered], str] = {Passed: "passed", TurnFailed: "failed", TimedOut: "timed_out"}


async def ask(call: ApiCall) -> Asked:
    """That nobody answers is an outcome of asking, not an error of the request."""
    body, key = call.body, idempotency_key(call)
    try:
        answer = await call.hub.ask(
            call.path["name"],
            body.text,
            timeout=body.timeout,
            choices=body.choices,
            shape=body.shape,
            idempotency_key=key,
        )
    except Unanswered as unanswered:
        return Asked(OUTCOMES[type(unanswered)], error=unanswered.to_dict(request))
    return Asked("replied", answer)


async def broadcast(call: ApiCall) -> delivery.Broadcast:
    return await delivery.broadcast(call.hub, call.body.message, key=idempotency_key(call))


# --- tokens ----------------------------------------------------------------------------------------------


async def tokens(call: ApiCall) -> TokenList:
    return TokenList(await call.hub.agents.tokens(call.agent))


async def issue(call: ApiCall) -> Response:
    """Nobody can issue a token with more scopes than their own."""
    beyond = (
        sorted(set(call.body.scopes) - call.caller.scopes)
        if call.caller.standing is not Standing.OWNER
        else []
    )
    if beyond and beyond[0] in {scope.value for scope in TokenScope}:
        raise NotPermitted(f'a token without the scope "{beyond[0]}" cannot issue a token with that scope')
    # the owner's token does not limit the new one
    issuer_token = "" if call.caller.standing is Standing.OWNER else call.caller.token
    token = await call.hub.agents.mint_token(call.agent, scopes=call.body.scopes, shown=issuer_token)
    return Response(token, CREATED)


async def revoke(call: ApiCall) -> shapes.Token:
    return await call.hub.agents.revoke_token(call.agent, call.path["id"])
