"""Decisions of people over HTTP."""

from typing import Annotated

from msgspec import Struct

from moot import shapes
from moot.doors.http.api.constraints import Text, one_of
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import RequestShape
from moot.model.records.decision import DecisionState


class DecisionsQuery(RequestShape, frozen=True):
    state: Annotated[str, one_of(DecisionState)] | None = None


class AnswerBody(RequestShape, frozen=True):
    answer: Text


class DecisionList(Struct, frozen=True):
    decisions: list[shapes.PersonsDecision]


async def decisions(call: ApiCall) -> DecisionList:
    return DecisionList(await call.hub.decisions.list(state=call.query.state))


async def decision(call: ApiCall) -> shapes.PersonsDecision:
    return await call.hub.decisions.get(call.path["id"])


async def answer(call: ApiCall) -> shapes.PersonsDecision:
    return await call.hub.decisions.answer(call.path["id"], call.body.answer)
