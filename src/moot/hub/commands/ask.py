"""A question and its answer: the turn that ends with one message, and its outcome (SPEC K-13).

A question has a turn of its own, and the end of that turn settles it (questions.py). It carries a `correlation_id` in
its metadata and the answer carries it back, for readers of the log.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import TypeVar

from msgspec import json, structs

from moot.errors import MootError, Passed, TimedOut, TurnFailed
from moot.flow import give_up, hear_answer
from moot.flow.hear_answer import HearAnswer
from moot.flow.post import Post
from moot.flow.steps.posted import Posted
from moot.hub.commands.send import sent, taken_for
from moot.hub.core import Core
from moot.model.answer import Delivery
from moot.model.ids import HostId, ParticipantId
from moot.model.message import Message
from moot.model.participant import TAKES_TURNS, Participant
from moot.model.records.decision import DecisionId
from moot.model.records.wait import WAITS
from moot.model.turn import OPEN, RuleName, Turn, TurnState
from moot.ports import EVERY_TURN, Clock
from moot.rules import answer_shape
from moot.rules.reasons import REASONS
from moot.wiring import Parts

T = TypeVar("T")
NO_ANSWER = "could not answer: "
"""How brains begin what they say of a failure; the title of the error says it already."""
MAX_QUOTED_CHARACTERS = 500
"""Characters of an answer that a refusal repeats; the error has all of it."""


def correlated(id: str | None) -> dict[str, str]:
    """Metadata by which the answer to a question is recognised."""
    return {"correlation_id": id} if id else {}


async def answer_to(core: Core, command: Post, target: str, seconds: float) -> Message:
    """Post a question and wait for its answer: a message, or `Passed`, `TurnFailed`, `TimedOut`."""
    with ExitStack() as listening:
        with core.questions.posting():
            posted = await asked(core, target, command)
            question = posted.message
            ended = listening.enter_context(core.questions.ended((question.conversation, question.seq)))
        async with _giving_up_when_cancelled(core, question, target, command.awaited):
            participant = await core.directory.participant(target)
            _gets_a_turn(posted, participant)
            turn = await _over(core, question, participant.id) if posted.scene is None else None
            if turn is None:
                turn = await until_moment(core.parts.clock, ended, command.awaited)
    async with _giving_up_when_cancelled(core, question, target, command.awaited):
        while turn is not None and _goes_on(turn):
            with core.questions.ended((question.conversation, question.seq)) as again:
                if not await _still_open(core, question, participant.id):
                    turn = await _over(core, question, participant.id) or turn
                    break
                turn = await until_moment(core.parts.clock, again, command.awaited)
        if turn is None:
            await _time_is_over(core, question, participant.id)
            turn = await _over(core, question, participant.id)  # what came until then
        elif posted.scene is not None:
            await has_heard(core, question)
    if turn is None:
        raise TimedOut(
            f"{participant.name} did not answer within {seconds:g} s",
            detail=f"the message is kept as {question.id}; an answer will appear in the conversation",
            message=question.id,
        )
    return await _answer(core, turn, participant.name)


async def asked(core: Core, target: str, command: Post, choices: tuple[str, ...] = ()) -> Posted:
    """Post a question. A caller that is cancelled meanwhile has given up on the answer: the question is stored all the
    same."""
    posting = asyncio.ensure_future(sent(core, target, command, choices))
    try:
        return await asyncio.shield(posting)
    except asyncio.CancelledError:
        await asyncio.wait([posting])
        if not posting.cancelled() and posting.exception() is None:
            await gave_up(core.parts, posting.result().message, await taken_for(core, target))
            core.expect(command.awaited)
        raise


async def has_heard(core: Core, question: Message) -> None:
    """Note that the asker knows the outcome of its question. If it was given a turn for that, because its process gave
    no sign of life for too long, it does not get it twice."""
    if question.kind not in TAKES_TURNS:
        return
    if not await core.parts.store.transact(hear_answer, HearAnswer(question.conversation, question.seq)):
        raise TimedOut(
            "the answer came while this process gave no sign of life",
            detail=f"it was delivered as a message instead; the question is kept as {question.id}",
            message=question.id,
        )


async def _time_is_over(core: Core, question: Message, target: ParticipantId) -> None:
    if question.kind in TAKES_TURNS:
        command = await _giving_up(core.parts, question, target)
        await core.parts.store.transact(give_up, structs.replace(command, knows=True))


def _goes_on(turn: Turn) -> bool:
    """Whether the question may still be answered: an interrupted turn may begin again."""
    return turn.state is TurnState.CANCELLED and turn.interrupted


@asynccontextmanager
async def _giving_up_when_cancelled(
    core: Core, question: Message, target: str, until: float
) -> AsyncIterator[None]:
    """A caller that is cancelled, at whatever step of its waiting, has given up."""
    try:
        yield
    except asyncio.CancelledError:
        await gave_up(core.parts, question, await taken_for(core, target))
        core.expect(until)
        raise


async def end_orphaned_waits(parts: Parts, here: HostId) -> None:
    """End waits in processes that are gone: an asker there gets a turn for the outcome of its question, also if it has
    come already."""
    store = parts.store
    waits = [wait for wait in await store.records(WAITS.all()) if wait.host or wait.answer]
    alive = {here, *(host.id for host in await store.hosts())} if waits else set()
    for wait in waits:
        question = await store.message(wait.conversation, wait.seq) if wait.host not in alive else None
        if question is not None:
            await gave_up(parts, question, wait.target)


async def gave_up(parts: Parts, question: Message, target: ParticipantId) -> None:
    """Nobody waits for the answer to a question any longer."""
    with suppress(MootError):  # then the look for gone processes ends the wait
        command = await _giving_up(parts, question, target)
        try:
            await parts.store.transact(give_up, command)
        except give_up.UnheardAnswer as unheard:
            await parts.store.transact(give_up, structs.replace(command, answer=unheard.seq))


async def _giving_up(parts: Parts, question: Message, target: ParticipantId) -> give_up.GiveUp:
    where, seq = question.conversation, question.seq
    open_turns = await parts.store.turns(
        conversation=where, agent=target, states=tuple(OPEN), limit=EVERY_TURN
    )
    asking = next((turn.id for turn in open_turns if turn.called_by(seq)), None)
    decision = question.metadata.get("decision")
    return give_up.GiveUp(
        where, seq, asking, DecisionId(str(decision)) if decision else None, root=question.root
    )


async def until_moment(clock: Clock, awaited: "asyncio.Future[T]", until: float) -> T | None:
    """What is awaited, or nothing when the clock has reached a moment."""
    bell = asyncio.ensure_future(clock.sleep_until(until))
    try:
        await asyncio.wait((awaited, bell), return_when=asyncio.FIRST_COMPLETED)
        return awaited.result() if awaited.done() else None
    finally:
        bell.cancel()


def _gets_a_turn(posted: Posted, participant: Participant) -> None:
    """A question that gets no turn is refused at once."""
    delivery: Delivery | None = next(
        (one for one in posted.receipt().deliveries if one.agent == participant.name), None
    )
    if delivery is not None and delivery.state == "blocked":
        raise TurnFailed(
            f"{participant.name} was not asked: it {delivery.reason}",
            detail=f"the message is kept as {posted.message.id}",
            rule=delivery.rule,
            message=posted.message.id,
        )


async def _answer(core: Core, turn: Turn, name: str) -> Message:
    if turn.message and turn.state is TurnState.SAID:
        message: Message | None = await core.parts.store.message(turn.conversation, turn.message)
        if message is not None:
            return message
    if turn.state is TurnState.PASSED or turn.state is TurnState.SAID:
        raise Passed(f"{name} read it and chose to say nothing")
    raise _failed(turn, name)


def _failed(turn: Turn, name: str) -> TurnFailed:
    """What went wrong; for an answer of the wrong shape, the expected shape and the answer."""
    title = f"{name} could not answer: {_trouble(turn).removeprefix(NO_ANSWER)}"
    if not (turn.shape and turn.kept):
        return TurnFailed(title, turn=str(turn.id))
    answer = (
        turn.kept if len(turn.kept) <= MAX_QUOTED_CHARACTERS else f"{turn.kept[:MAX_QUOTED_CHARACTERS]} …"
    )
    return TurnFailed(
        title,
        detail=f"expected was {answer_shape.in_words(turn.shape)}; it was told once, and then said: {answer}",
        turn=str(turn.id),
        expected=json.decode(turn.shape),
        answer=turn.kept,
    )


def _trouble(turn: Turn) -> str:
    if turn.interrupted:
        return "it was interrupted"
    rule = turn.rule if turn.rule is not None and turn.rule is not RuleName.FORCE else None
    return turn.error or (f"it {REASONS[rule]}" if rule is not None else turn.state.value)


async def _over(core: Core, question: Message, agent: ParticipantId) -> Turn | None:
    """The finished turn of a question: it was asked again after its answer was lost on the way, or the event was
    missed."""
    turns: list[Turn] = await core.parts.store.turns(
        conversation=question.conversation, agent=agent, limit=EVERY_TURN
    )
    over = [turn for turn in turns if turn.state not in OPEN and turn.called_by(question.seq)]
    ended = [turn for turn in over if not _goes_on(turn)] or over
    return ended[-1] if ended else None


async def _still_open(core: Core, question: Message, agent: ParticipantId) -> bool:
    turns: list[Turn] = await core.parts.store.turns(
        conversation=question.conversation, agent=agent, states=tuple(OPEN), limit=EVERY_TURN
    )
    return any(turn.called_by(question.seq) for turn in turns)
