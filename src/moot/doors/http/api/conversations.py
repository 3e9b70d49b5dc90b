"""Conversations, messages and turns over HTTP: thin functions from a call to the hub."""

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import structs

from moot import shapes
from moot.doors.http.api import subject
from moot.doors.http.api.hint_requests import request
from moot.doors.http.api.problems import NO_CONTENT, Refusal, Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import (
    MAX_JSON_INTEGER,
    DeliveryList,
    Hits,
    ListedConversations,
    LiveTexts,
    MessageList,
    Resumed,
    Settled,
    Stopped,
    TurnList,
)
from moot.errors import BadValue, Conflict, NotFound, NotPermitted, TimedOut
from moot.hub.commands.values import kind_of_conversation
from moot.model.answer import Preview, Receipt, in_words
from moot.rules.access import Action, Standing, authorize, may

OK = 200
CREATED = 201
MAX_VERSION_DIGITS = 9
MAX_KEY_CHARACTERS = 200
STALE_MATCH = 412
NO_MATCH = 428


def sees(call: ApiCall, conversation: shapes.Conversation) -> bool:
    return may(call.caller, Action.READ, subject.target_of(conversation))


# --- conversations ---------------------------------------------------------------------------------------


async def conversations(call: ApiCall) -> ListedConversations:
    query = call.query
    if query.kind is not None:
        kind_of_conversation(query.kind)
    all_listed = await call.hub.conversations.overview(archived=query.archived, kind=query.kind)
    visible = [
        one
        for one in all_listed
        if one.id > query.after
        and query.channel_type in (None, one.channel_type)
        and query.channel_group_id in (None, one.channel_group_id)
        and sees(call, one)
    ]
    page = sorted(visible, key=lambda one: one.id)[: query.limit]
    return ListedConversations(page, page[-1].id if len(visible) > len(page) else None)


async def create(call: ApiCall) -> Response:
    body = call.body
    conversation = await call.hub.conversations.create(
        body.name,
        participants=body.participants,
        kind=body.kind,
        settings=body.settings,
        channel=(body.channel_type, body.channel_group_id),
        exist_ok=body.exist_ok,
    )
    return Response(conversation, CREATED, {"Location": f"/api/conversations/{conversation.id}"})


async def implicit(call: ApiCall) -> shapes.Conversation:
    body = call.body
    conversation = await call.hub.conversations.implicit(
        body.participants, text=body.text, intent=body.intent
    )
    return _not_left(call, conversation, ", ".join(call.body.participants))


async def ephemeral(call: ApiCall) -> shapes.Conversation:
    body = call.body
    conversation = await call.hub.conversations.ephemeral(
        body.target, body.key, text=body.text, intent=body.intent
    )
    return _not_left(call, conversation, call.body.target)


def _not_left(call: ApiCall, conversation: shapes.Conversation, ref: str) -> shapes.Conversation:
    """An existing conversation may be one that the caller has left: then the caller may not see it any more."""
    authorize(call.caller, Action.POST, subject.target_of(conversation, ref))
    return conversation


async def conversation(call: ApiCall) -> shapes.Conversation:
    return call.where


async def change(call: ApiCall) -> shapes.Conversation:
    conversation = call.where
    if call.body.name is not None:
        conversation = await call.hub.conversations.rename(call.where.id, call.body.name)
    if call.body.settings is not None:
        conversation = await call.hub.conversations.configure(call.where.id, **call.body.settings)
    return conversation


async def remove(call: ApiCall) -> Response:
    if call.query.purge:
        if call.caller.standing is not Standing.OWNER:
            raise NotPermitted("only the owner may erase a conversation", fix=("leave out purge=true",))
        await call.hub.conversations.delete(call.ref)
    else:
        await call.hub.conversations.archive(call.ref)
    return Response(status=NO_CONTENT)


async def join(call: ApiCall) -> shapes.Conversation:
    return await call.hub.conversations.join(call.ref, call.body.name)


async def leave(call: ApiCall) -> Response:
    await call.hub.conversations.leave(call.ref, call.path["name"])
    return Response(status=NO_CONTENT)


async def go_on(call: ApiCall) -> Resumed:
    return Resumed(await call.hub.conversations.resume(call.ref))


async def unarchive(call: ApiCall) -> shapes.Conversation:
    await call.hub.conversations.unarchive(call.where.id)
    return await call.hub.conversations.get(call.where.id)


async def dissolve(call: ApiCall) -> Response:
    await call.hub.conversations.dissolve(call.ref)
    return Response(status=NO_CONTENT)


async def stop(call: ApiCall) -> Stopped:
    return Stopped(list(await call.hub.conversations.stop(call.ref, call.body.agent)))


async def read(call: ApiCall) -> Response:
    await call.hub.conversations.read(call.ref, int(call.body.seq))
    return Response(status=NO_CONTENT)


async def settled(call: ApiCall) -> Settled:
    return await settled_within(call, call.where.id)


async def settled_within(call: ApiCall, where: str | None) -> Settled:
    try:
        await call.hub.settled(where, timeout=call.query.timeout)
    except TimedOut:
        return Settled(False, await call.hub.inspector.unsettled(where))
    return Settled(True, [])


# --- messages --------------------------------------------------------------------------------------------


async def messages(call: ApiCall) -> MessageList | Response:
    query = call.query
    assert call.version is not None
    if (
        query.before is not None and query.before >= MAX_JSON_INTEGER and not query.after
    ):  # the newest: kept as bytes
        newest = await call.hub.encoded.newest_at(call.version, query.limit)
        return Response(b'{"messages":%s,"next":null}' % newest)
    rows = await call.hub.messages(call.ref, after=query.after, before=query.before, limit=query.limit + 1)
    if query.before is not None and not query.after:
        return MessageList(rows[-query.limit :])
    page = rows[: query.limit]
    return MessageList(page, page[-1].seq if len(rows) > len(page) else None)


async def post(call: ApiCall) -> Response:
    body = structs.asdict(call.body)
    key = idempotency_key(call)
    body["max_turns"] = body["max_turns"] and int(body["max_turns"])
    receipt = await call.hub.post(call.ref, body.pop("text"), idempotency_key=key, **body)
    return receipt_response(receipt)


async def again(call: ApiCall) -> Response:
    key = idempotency_key(call)
    return receipt_response(
        await call.hub.deliveries.ask_again(call.path["id"], call.body.agents, idempotency_key=key)
    )


async def redeliver(call: ApiCall) -> Response:
    return receipt_response(
        await call.hub.deliveries.redeliver(call.path["id"], idempotency_key=idempotency_key(call))
    )


def receipt_response(receipt: Receipt) -> Response:
    return Response(in_words(receipt, request), OK if receipt.replayed else CREATED)


def idempotency_key(call: ApiCall) -> str | None:
    key = call.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= MAX_KEY_CHARACTERS and key.isprintable()):
        raise BadValue("this Idempotency-Key cannot be used", detail="expected 1 to 200 printable characters")
    return key


async def preview(call: ApiCall) -> Preview:
    answer = await call.hub.preview(call.where.id, call.body.text, force=call.body.force)
    return in_words(answer, request)


async def message(call: ApiCall) -> Response:
    return _with_etag(await call.hub.message(call.path["id"]))


async def edit(call: ApiCall) -> Response:
    version = await _expected_version(call)
    with _precondition():
        return _with_etag(await call.hub.edit(call.path["id"], call.body.text, version=version))


async def delete(call: ApiCall) -> Response:
    version = await _expected_version(call)
    with _precondition():
        return _with_etag(await call.hub.delete(call.path["id"], version=version))


async def why(call: ApiCall) -> shapes.Why:
    return await call.hub.why(call.path["id"])


async def deliveries(call: ApiCall) -> DeliveryList:
    return DeliveryList(await call.hub.deliveries.of(call.path["id"]))


def _with_etag(message: shapes.Message) -> Response:
    return Response(message, headers={"ETag": f'"{message.version}"'})


async def _expected_version(call: ApiCall) -> int:
    """The version that the caller read; `*` is the current one."""
    header = call.headers.get("if-match", "").strip()
    if not header:
        missing = BadValue(
            "changing a message requires the header If-Match with the version you read",
            fix=("read the message: its version is in the body and in the ETag",),
        )
        raise Refusal(NO_MATCH, missing)
    if header == "*":
        return (await call.hub.message(call.path["id"])).version
    return parse_if_match(header)


def parse_if_match(header: str) -> int:
    """The version in If-Match, plain or as an ETag."""
    number = header.removeprefix("W/").strip('"')
    if not (number.isascii() and number.isdecimal() and len(number) <= MAX_VERSION_DIGITS):
        raise BadValue(
            f"If-Match: {header[:40]} is not a version", detail='expected a number, such as 3 or "3"'
        )
    return int(number)


@contextmanager
def _precondition() -> Iterator[None]:
    """If somebody else was faster, the precondition fails."""
    try:
        yield
    except Conflict as stale:
        if "current_version" in stale.facts:
            raise Refusal(STALE_MATCH, stale) from None
        raise


# --- turns and search ------------------------------------------------------------------------------------


async def turns(call: ApiCall) -> TurnList:
    query = call.query
    where = query.conversation and (await subject.conversation(call.hub, call.caller, query.conversation)).id
    rows = await call.hub.turns(conversation=where, agent=query.agent, state=query.state)
    visible = [turn for turn in await _visible_turns(call, rows) if int(turn.id) > query.after]
    if query.before is not None:
        return TurnList([turn for turn in visible if int(turn.id) < query.before][-query.limit :])
    page = visible[: query.limit]
    return TurnList(page, int(page[-1].id) if len(visible) > len(page) else None)


async def live(call: ApiCall) -> LiveTexts:
    where = call.query.conversation
    conversation = where and (await subject.conversation(call.hub, call.caller, where)).id
    live = await call.hub.operator.live(conversation=conversation)
    visible = {where: await _sees_id(call, where) for where in {turn.conversation for turn in live}}
    return LiveTexts([turn for turn in live if visible[turn.conversation]])


async def dead_letters(call: ApiCall) -> TurnList:
    return TurnList(
        await _visible_turns(call, await call.hub.deliveries.dead_letters(agent=call.query.agent))
    )


async def _visible_turns(call: ApiCall, turns: list[shapes.Turn]) -> list[shapes.Turn]:
    """Those in conversations that the caller may read."""
    places = {where: await _sees_id(call, where) for where in {turn.conversation for turn in turns}}
    return [turn for turn in turns if places[turn.conversation]]


async def turn(call: ApiCall) -> shapes.Turn:
    """What an agent was given is visible to that agent and to the owner."""
    shown_turn = await call.hub.turn(call.path["id"], given=False)
    if call.query.given and (call.caller.standing is Standing.OWNER or call.caller.name == shown_turn.agent):
        return await call.hub.turn(call.path["id"])
    return shown_turn


async def search(call: ApiCall) -> Hits:
    """The hub searches the caller's conversations; hits in one that the caller has been removed from meanwhile are
    dropped."""
    hits_of_all = await call.hub.search(call.query.q, limit=call.query.limit)
    visible = {
        where: await _sees_id(call, where) for where in {hit.message.conversation for hit in hits_of_all}
    }
    hits = [hit for hit in hits_of_all if visible[hit.message.conversation]]
    return Hits(hits, None if hits else await call.hub.inspector.narrowest(call.query.q))


async def _sees_id(call: ApiCall, conversation: str) -> bool:
    if call.caller.standing is Standing.OWNER:
        return True
    try:
        return sees(call, await call.hub.conversations.get(conversation))
    except NotFound:
        return False
