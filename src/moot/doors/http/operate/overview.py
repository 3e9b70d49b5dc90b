"""Where things stand, over HTTP."""

from typing import Annotated

from msgspec import Meta, structs

from moot import shapes
from moot.doors.http.api.hint_requests import request
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import RequestShape
from moot.model.hint import from_data, worded


class NowQuery(RequestShape, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=1000)] = 10


async def now(call: ApiCall) -> shapes.Now:
    now_state = await call.hub.operator.now(limit=call.query.limit)
    return structs.replace(now_state, needs_you=tuple(map(_in_words, now_state.needs_you)))


async def last_hour(call: ApiCall) -> shapes.LastHour:
    return await call.hub.operator.last_hour()


def _in_words(row: shapes.NowRow) -> shapes.NowRow:
    return structs.replace(row, fix=tuple(worded(from_data(row.fix), request)))
