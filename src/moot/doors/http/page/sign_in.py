"""Signing in to the page: a code for a token, and out again.

A code comes by the link that `moot open` prints, behind the `#`, where no server and no log sees it. The token that a
browser gets for it is its own: it can be listed and revoked, and is never the owner's file `run/token`.
Above: the routes. Below: flow/invite.py and flow/sign_in.py decide. Not here: who the token is (gate/auth.py).
"""

import math
from typing import Annotated

from msgspec import Meta

from moot import shapes
from moot.doors.http.api.problems import NO_CONTENT, Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import RequestShape
from moot.errors import NotPermitted, RateLimited
from moot.flow.invite import MAX_SECONDS
from moot.model.entrance import DoorName

CREATED = 201


class SignInBody(RequestShape, frozen=True):
    code: Annotated[str, Meta(min_length=1, max_length=256)]


class NewSignInCode(RequestShape, frozen=True):
    seconds: Annotated[float, Meta(gt=0, le=MAX_SECONDS)] = 60.0


async def sign_in(call: ApiCall) -> shapes.SignedIn:
    if wait := call.door.sign_ins.take(call.peer):
        raise RateLimited(
            "too many attempts to sign in",
            detail="they are counted by address",
            retry_after_ms=math.ceil(wait * 1000),
            limit="sign_in",
        )
    return await call.door.hub.through(DoorName.WEB).agents.sign_in(call.body.code)


async def sign_out(call: ApiCall) -> Response:
    """Revoke the token that came with this request."""
    if not call.caller.token:
        raise NotPermitted(
            "the owner's own token cannot be signed out",
            detail="it is the file run/token of the home, and no browser has it",
        )
    await call.hub.agents.revoke_token(call.caller.id, call.caller.token)
    return Response(status=NO_CONTENT)


async def new_code(call: ApiCall) -> Response:
    code = await call.hub.agents.sign_in_code(call.agent, seconds=call.body.seconds)
    return Response(code, CREATED)
