"""Outside agents over HTTP: they fetch their messages, see their turns, and answer. Each speaks only for itself."""

from moot import shapes
from moot.doors.http.api.conversations import idempotency_key, receipt_response
from moot.doors.http.api.problems import NO_CONTENT, Response
from moot.doors.http.api.route import ApiCall


async def check(call: ApiCall) -> shapes.Handed:
    """With `wait_seconds`, waits until there is something."""
    hub = call.hub if call.hub.name == call.agent else call.hub.acting_as(call.agent)
    body = call.body
    options = {"limit": int(body.limit), "handed": body.handed, "held": body.held}
    if body.wait_seconds:
        return await hub.mailbox.wait(timeout=body.wait_seconds, **options)
    return await hub.mailbox.check(**options)


async def reply(call: ApiCall) -> Response:
    message = (
        f"{call.where.id}:{call.path['id'].rpartition(':')[2]}"  # the path may say the conversation's name
    )
    receipt = await call.hub.mailbox.reply(message, call.body.text, idempotency_key=idempotency_key(call))
    return Response(status=NO_CONTENT) if receipt is None else receipt_response(receipt)


async def view(call: ApiCall) -> shapes.View:
    return await call.hub.mailbox.view(
        call.path["id"], messages=call.query.messages, tokens=call.query.tokens
    )


async def end(call: ApiCall) -> shapes.Turn:
    return await call.hub.mailbox.end(call.path["id"], text=call.body.text, error=call.body.error)


async def give_back(call: ApiCall) -> Response:
    await call.hub.mailbox.give_back(call.path["id"])
    return Response(status=NO_CONTENT)
