"""Decisions of people over HTTP."""

from typing import Annotated

from msgspec import Struct

from moot import shapes
from moot.doors.http.api.constraints import Text, one_of
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import Limit, RequestShape
from moot.model.records.decision import DecisionState


class DecisionsQuery(RequestShape, frozen=True):
    state: Annotated[str, one_of(DecisionState)] | None = None
    before: str | None = None
    """The id of a decision: only those that are older."""
    limit: Limit = 100


class AnswerBody(RequestShape, frozen=True):
    answer: Text


class DecisionList(Struct, frozen=True):
    decisions: list[shapes.PersonsDecision]
    next: str | None = None
    """`before` of the page with older ones, if there may be any."""


async def decisions(call: ApiCall) -> DecisionList:
    query = call.query
    rows = await call.hub.decisions.list(state=query.state, before=query.before, limit=query.limit)
    return DecisionList(rows, rows[0].id if len(rows) == query.limit else None)


async def decision(call: ApiCall) -> shapes.PersonsDecision:
    return await call.hub.decisions.get(call.path["id"])


async def answer(call: ApiCall) -> shapes.PersonsDecision:
    return await call.hub.decisions.answer(call.path["id"], call.body.answer)
