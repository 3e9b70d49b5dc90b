"""Conversations as resources: listed, read and, for clients that listen, announced when there are new messages."""

import asyncio
from collections.abc import Callable

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError
from msgspec import json

from moot import shapes
from moot.doors import lookup
from moot.doors.mcp import hint_calls
from moot.doors.mcp.caller import Caller
from moot.errors import MootError, RateLimited
from moot.rules.access import Action, may

PREFIX = "moot://conversations/"
JSON = "application/json"
NEWEST = 50
CHANGES = ("message.posted", "message.edited", "message.deleted")


def uri_of(conversation: str) -> str:
    return f"{PREFIX}{conversation}"


async def list_resources(caller: Caller) -> types.ListResourcesResult:
    caller.require(Action.LOOK)
    resources = [
        types.Resource(uri=uri_of(one.id), name=one.name, description=_description(one), mime_type=JSON)
        for one in await caller.hub.conversations.list()
        if may(caller.principal, Action.READ, lookup.target_of(one))
    ]
    return types.ListResourcesResult(resources=resources)


def templates() -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(
        uri_template=PREFIX + "{conversation}",
        name="conversation",
        description="The newest messages of a conversation, by id or name",
        mime_type=JSON,
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


def _description(one: shapes.Conversation) -> str:
    return f"{one.kind}: {', '.join(seat.name for seat in one.participants)}"


async def read(caller: Caller, uri: str) -> types.ReadResourceResult:
    where = await _conversation_of(caller, uri)
    newest = await caller.hub.newest(where.id, NEWEST)
    document = {**where.to_dict(), "messages": [message.to_dict() for message in newest]}
    text = json.encode(document).decode()
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=JSON, text=text)])


async def _conversation_of(caller: Caller, uri: str) -> shapes.Conversation:
    if not uri.startswith(PREFIX):
        raise MCPError(types.INVALID_PARAMS, f"unknown resource {uri[:100]}; resources begin with {PREFIX}")
    try:
        return await caller.conversation(uri.removeprefix(PREFIX), Action.READ)
    except MootError as refusal:
        raise MCPError(types.INVALID_PARAMS, refusal.title, hint_calls.refusal(refusal)) from None


async def listen(
    caller: Caller, ctx: ServerRequestContext, params: types.SubscriptionsListenRequestParams
) -> types.SubscriptionsListenResult:
    """A stream of changes. Which conversations it may name is checked again for each change."""
    uris = params.notifications.resource_subscriptions or []
    places = {(await _conversation_of(caller, uri)).id: uri for uri in uris}
    changes = Changes(caller, places)
    try:
        with caller.staying():
            return await ListenHandler(changes, max_subscriptions=1)(ctx, params)
    except RateLimited as refusal:
        raise MCPError(types.INVALID_REQUEST, refusal.title, hint_calls.refusal(refusal)) from None
    finally:
        await changes.close()


class Changes:
    """Tells one listener which of its conversations have changed."""

    def __init__(self, caller: Caller, places: dict[str, str]) -> None:
        self._caller = caller
        self._places = places
        self._following: asyncio.Task[None] | None = None

    async def publish(self, event: ServerEvent) -> None:
        """Not used: changes come from the hub's events only."""

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        following = self._follow(listener, self._caller.hub.position)
        self._following = task = asyncio.get_running_loop().create_task(following)

        def unsubscribe() -> None:
            task.cancel()

        return unsubscribe

    async def _follow(self, listener: Callable[[ServerEvent], None], after: int) -> None:
        async for event in self._caller.hub.events(types=CHANGES, after=after):
            uri = self._places.get(event.conversation or "")
            if uri is not None and await self._still_may(event.conversation or ""):
                listener(ResourceUpdated(uri=uri))

    async def _still_may(self, conversation: str) -> bool:
        try:
            await self._caller.still_good()
            await self._caller.conversation(conversation, Action.READ)
        except MootError:
            return False
        return True

    async def close(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)
