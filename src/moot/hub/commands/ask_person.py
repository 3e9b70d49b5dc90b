"""A question to a person: posted as a decision, and waited for until it is taken or the time is over.

Above: hub.ask, where a person is asked. Below: flow/send.py makes the decision, flow/answer_decision.py takes it.
"""

import asyncio
from collections.abc import Sequence

from moot.errors import BadValue, NotFound, TimedOut
from moot.flow.post import Post
from moot.hub.commands.ask import asked, gave_up, has_heard, until_moment
from moot.hub.core import Core
from moot.model.event import EventType
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import HUMAN, Participant
from moot.model.records.decision import DECISIONS, PersonsDecision
from moot.ports import Follower
from moot.rules import answer_shape

MAX_CHOICES = 20
MAX_CHOICE_CHARACTERS = 200


def checked_choices(choices: Sequence[str]) -> tuple[str, ...]:
    """Require few, short and distinct choices: a person has to read them."""
    stripped = tuple(choice.strip() for choice in choices)
    if len(stripped) > MAX_CHOICES or any(
        not 0 < len(choice) <= MAX_CHOICE_CHARACTERS for choice in stripped
    ):
        raise BadValue(
            "these choices cannot be offered",
            detail=f"expected at most {MAX_CHOICES}, each of 1 to {MAX_CHOICE_CHARACTERS} characters",
        )
    if len({choice.casefold() for choice in stripped}) != len(stripped):
        raise BadValue("a choice is given twice", detail=", ".join(stripped))
    return stripped


def expected(
    participant: Participant, choices: Sequence[str], shape: JsonObject | None
) -> tuple[tuple[str, ...], str]:
    """What may be answered: the choices that a person is offered, and the shape that an agent's answer has to have."""
    offered = checked_choices(choices)
    if offered and shape is not None:
        raise BadValue("choices and a shape were given", fix=("leave out one of them",))
    if shape is None and offered:
        shape = answer_shape.one_of(offered)
    form = answer_shape.checked(shape) if shape is not None else ""
    if participant.kind is HUMAN:
        return offered or (checked_choices(_choices_in(participant, shape)) if shape is not None else ()), ""
    return (), form


def _choices_in(participant: Participant, shape: JsonObject) -> list[str]:
    values = shape.get("enum")
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadValue(
            f"{participant.name} is a person, and answers in words",
            detail="a person can be offered choices; a shape is for agents",
            fix=("give choices instead of a shape", "leave out the shape"),
        )
    return values


async def decided_by(
    core: Core, command: Post, person: Participant, choices: tuple[str, ...], seconds: float
) -> Message:
    follower = core.parts.log.subscribe()
    try:
        posted = await asked(core, person.id, command, choices)
        id = str(posted.message.metadata["decision"])
        decided = asyncio.ensure_future(_until_decided(follower, id))
        try:
            if (await _stored_question(core, id)).answer_seq == 0:
                await until_moment(core.parts.clock, decided, command.awaited)
        except asyncio.CancelledError:
            await gave_up(core.parts, posted.message, person.id)
            raise
        finally:
            decided.cancel()
    finally:
        follower.close()
    await has_heard(core, posted.message)
    question = await _stored_question(core, id)
    if not question.answer_seq:
        raise TimedOut(
            f"{person.name} did not decide within {seconds:g} s",
            detail=f"the question is kept as {posted.message.id}",
            message=posted.message.id,
        )
    answer = await core.parts.store.message(question.conversation, question.answer_seq)
    if answer is None:
        raise NotFound("the answer is gone: its conversation was deleted", what="message")
    return answer


async def _until_decided(follower: Follower, id: str) -> None:
    async for event in follower:
        if (
            event.type is EventType.DECISION_ANSWERED
            and event.body is not None
            and event.body.get("id") == id
        ):
            return


async def _stored_question(core: Core, id: str) -> PersonsDecision:
    decisions = await core.parts.store.records(DECISIONS.one(id))
    if not decisions:
        raise NotFound("the question is gone: its conversation was deleted", what="decision")
    return decisions[0]
