"""A question and its answer: the turn that covered one message, and what came of it (SPEC K-13).

The question carries a `correlation_id` in its metadata and the answer carries it back, for whoever follows the
log. Here the answer is found by its turn, so that an answer to something else is never taken for it.
"""

import asyncio
from contextlib import closing

from moot.errors import Passed, TimedOut, TurnFailed
from moot.flow import post
from moot.flow.post import Post
from moot.flow.posted import Posted
from moot.hub.core import Core
from moot.logs.embedded import Subscription
from moot.model.ids import ParticipantId
from moot.model.message import Message
from moot.model.participant import Participant
from moot.model.turn import OPEN, Turn, TurnState


def correlated(id: str | None) -> dict[str, str]:
    """What a question carries so that its answer can be told from others."""
    return {"correlation_id": id} if id else {}


async def answer_to(core: Core, question: Post, who: Participant, seconds: float) -> Message:
    """Post a question and wait for its answer: a message, or `Passed`, `TurnFailed`, `TimedOut`."""
    with closing(core.parts.log.subscribe()) as subscription:
        posted: Posted = await core.do(post, question)
        asked = posted.message
        try:
            async with asyncio.timeout(seconds):
                over = await _over_before(core, asked, who.id) if posted.scene is None else None
                turn = over or await _turn_over(subscription, asked, who.id)
                return await _answer(core, turn, who.name)
        except TimeoutError:
            pass
    raise TimedOut(
        f"{who.name} did not answer within {seconds:g} s",
        detail=f"the message is kept as {asked.id}; an answer will stand in the conversation",
        message=asked.id,
    )


async def _answer(core: Core, turn: Turn, name: str) -> Message:
    if turn.message:
        message: Message | None = await core.parts.store.message(turn.conversation, turn.message)
        if message is not None:
            return message
    if turn.state is TurnState.PASSED or turn.state is TurnState.SAID:
        raise Passed(f"{name} read it and chose to say nothing")
    raise TurnFailed(f"{name} could not answer: {turn.error or turn.state.value}", turn=str(turn.id))


async def _over_before(core: Core, asked: Message, agent: ParticipantId) -> Turn | None:
    """A question that comes again, after its answer was lost on the way: the turn may be over by now."""
    found: list[Turn] = await core.parts.store.turns(conversation=asked.conversation, agent=agent)
    return next((turn for turn in found if _covers(turn, asked)), None)


def _covers(turn: Turn, asked: Message) -> bool:
    return turn.state not in OPEN and turn.hi >= asked.seq


async def _turn_over(subscription: Subscription, asked: Message, agent: ParticipantId) -> Turn:
    """The turn of an agent that covered a message, once it is over."""
    async for event in subscription:
        turn = event.turn
        if turn is None or turn.conversation != asked.conversation or turn.agent != agent:
            continue
        if _covers(turn, asked):
            return turn
    raise AssertionError("a subscription never ends by itself")
