"""Giving waiting messages to those who fetch them: outside agents, and people who have no screen here (FLOOR part 7).

What an outside agent is given opens a turn of its own; a reply ends it with a message, asking again ends it as passed.
What somebody was given before is named by `handed`, so that a new session is given again what nobody has acted on.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct, structs

from moot import shapes
from moot.errors import BadValue, NotFound, NotPermitted, Stale
from moot.flow import check as checking
from moot.flow import finish, mark
from moot.flow.check import Check
from moot.flow.claim import CLAIMABLE
from moot.flow.finish import Finish, Said
from moot.host.turn_end import finish_turn
from moot.hub.core import Core
from moot.hub.external.delivered import handovers_of
from moot.hub.external.open_turn import correlation, give_back, unheard
from moot.hub.queries.addresses import is_number, located
from moot.hub.queries.inbox import inbox
from moot.model.answer import Receipt
from moot.model.ids import ConversationId, ParticipantId, TurnId, address
from moot.model.message import Message
from moot.model.participant import Kind
from moot.model.turn import Duty, Turn, TurnState
from moot.ports import Page

MAX_SECONDS = 300.0
MAX_UNREAD = 10_000


class CheckRequest(Struct, frozen=True):
    """Who asks, for how much, and what they were given before."""

    participant: ParticipantId
    limit: int = 50
    handed: tuple[str, ...] | None = None
    anew: bool = True
    """Repeat what is open and was not given to this caller."""
    held: tuple[TurnId, ...] = ()
    """Turns it works on still: neither ended nor given again."""
    by_hook: bool = False
    """Asked by a hook: `handed` includes what earlier hooks delivered, if it was certainly read."""


def check_request(
    participant_id: ParticipantId, limit: int, handed: Sequence[str] | None, held: Sequence[str]
) -> CheckRequest:
    return CheckRequest(
        participant_id, max(1, limit), None if handed is None else tuple(handed), held=_turn_ids(held)
    )


async def check(core: Core, request: CheckRequest) -> shapes.Handed:
    """Hand out what waits for somebody. Asking again means that what was given before is dealt with."""
    return _note(core, request, await hand_out(core, request))


async def hand_out(core: Core, request: CheckRequest) -> shapes.Handed:
    """As `check`, but without noting it as delivered: the caller confirms that later."""
    participant = core.directory.by_id(request.participant)
    if participant is None:
        raise NotFound(f"nobody is called {request.participant}", what="agent", ref=request.participant)
    if participant.kind is Kind.HUMAN:
        return await _to_a_person(core, request)
    if participant.kind is not Kind.EXTERNAL:
        raise NotPermitted(
            f"{participant.name} is run by this hub and gets its messages in its turns",
            detail="only outside agents and people fetch their messages",
        )
    return await _to_an_agent(core, request)


async def wait(core: Core, request: CheckRequest, seconds: float) -> shapes.Handed:
    """As `check`, but waits until there is something; empty after the timeout."""
    handed = await check(core, request)
    participant = core.directory.by_id(request.participant)
    if handed.handed or participant is None or participant.kind is not Kind.EXTERNAL:
        return handed
    await core.watch()
    seconds = max(0.0, min(seconds, MAX_SECONDS))
    again = structs.replace(request, handed=(), anew=False)
    end = asyncio.get_running_loop().time() + seconds
    async with core.sessions.waiting(request.participant, seconds) as woken:
        while not (handed := await _whole(core, again)).handed and not core.sessions.dismissed:
            try:
                async with asyncio.timeout_at(end):
                    await woken.wait()
            except TimeoutError:
                break
            woken.clear()
    return _note(core, request, handed)


async def _whole(core: Core, request: CheckRequest) -> shapes.Handed:
    """All that waits, or nothing: if the caller is cancelled meanwhile, the turns are given back."""
    taking = asyncio.ensure_future(_to_an_agent(core, request))
    try:
        return await asyncio.shield(taking)
    except asyncio.CancelledError:
        core.spawn(_given_back(core, request.participant, taking))
        raise


async def _given_back(
    core: Core, participant_id: ParticipantId, taking: "asyncio.Future[shapes.Handed]"
) -> None:
    for number in _turn_ids((await taking).handed):
        turn = await core.parts.store.turn(number)
        if turn is not None and turn.state is TurnState.RUNNING:
            with suppress(Stale):
                await give_back(core, participant_id, turn)


# --- outside agents --------------------------------------------------------------------------------------


async def _to_an_agent(core: Core, request: CheckRequest) -> shapes.Handed:
    handed = await _check_out(core, request)
    if handed.handed or request.handed == ():
        return handed
    # What was given before is dealt with by now: that may have readied what came in meanwhile.
    return await _check_out(core, structs.replace(request, handed=(), anew=False))


async def _check_out(core: Core, request: CheckRequest) -> shapes.Handed:
    waiting, more = await _fitting(core, request)
    handed = None if request.handed is None else _turn_ids(request.handed)
    if handed is not None and request.anew and not request.by_hook:
        handed += _turn_ids(_handed_by_hooks(core, request.participant))
    turns: tuple[Turn, ...] = await core.do(
        checking, Check(request.participant, waiting, handed, request.anew, request.held)
    )
    messages: list[Message] = []
    earlier: list[str] = []
    for turn in turns:
        page = Page(turn.lo, turn.hi + 1, request.limit + 1, newest=True)
        unread = [
            m
            for m in await core.parts.store.messages(turn.conversation, page)
            if m.is_for(request.participant)
        ]
        if len(unread) > request.limit:
            earlier.append(address(turn.conversation, turn.lo))
        messages += unread[-request.limit :]
    messages.sort(key=lambda message: (message.at, message.conversation, message.seq))
    return shapes.Handed(
        messages=tuple(shapes.Message.of(message, core.directory.name) for message in messages),
        next=more or None,
        must_answer=tuple(address(t.conversation, t.cause) for t in turns if t.duty is Duty.MUST and t.cause),
        earlier=tuple(earlier),
        handed=tuple(str(turn.id) for turn in turns),
    )


async def _fitting(core: Core, request: CheckRequest) -> tuple[tuple[TurnId, ...], int]:
    """The oldest turns that wait, as many as their messages fit the limit, one at least; and how many messages
    are left for another time."""
    store = core.parts.store
    chosen: list[TurnId] = []
    size = left = 0
    for turn in await store.turns(agent=request.participant, states=tuple(CLAIMABLE)):
        conversation = await store.conversation(turn.conversation)
        if conversation is None:
            continue
        [cursor] = [
            m.cursor for m in await store.members(turn.conversation) if m.participant == request.participant
        ]
        unread = conversation.head - cursor
        if chosen and size + unread > request.limit:
            left += unread
        else:
            chosen.append(turn.id)
            size += unread
    return tuple(chosen), left


def _handed_by_hooks(core: Core, agent: ParticipantId) -> tuple[str, ...]:
    """What hooks of the same session delivered: the model that asks has read it."""
    participant = core.directory.by_id(agent)
    return () if participant is None else handovers_of(core.parts.home, participant).read().handed


def _note(core: Core, request: CheckRequest, handed: shapes.Handed) -> shapes.Handed:
    """Note it for hooks of the same session, so that they do not deliver it again."""
    participant = core.directory.by_id(request.participant)
    if handed.handed and participant is not None and participant.kind is Kind.EXTERNAL:
        handovers_of(core.parts.home, participant).note_asked(handed.handed)
    return handed


def _turn_ids(ids: Sequence[str]) -> tuple[TurnId, ...]:
    return tuple(TurnId(int(one)) for one in ids if is_number(one))


async def reply(
    core: Core, me: ParticipantId, to: tuple[ConversationId, int], text: str, key: str
) -> Receipt:
    """Answer a message in the caller's open turn there; raises Stale if there is none."""
    turn = await _open_at(core, me, to[0])
    if turn is None:
        raise Stale("you have no open turn there")
    reply = Said(text, await correlation(core, turn), reply_to=to[1], key=key)
    done = await finish_turn(core.do, Finish(turn.id, turn.fence, reply, author=me))
    if done.message is None:
        raise unheard(core, done.turn)
    message = done.message
    return Receipt(
        id=message.id,
        seq=message.seq,
        conversation=message.conversation,
        sender=core.directory.name(me),
        root=message.root,
        hop=message.hop,
    )


async def pass_over(core: Core, me: ParticipantId, to: tuple[ConversationId, int]) -> None:
    """End the caller's open turn there, if any, in silence."""
    turn = await _open_at(core, me, to[0])
    if turn is not None:
        await core.do(finish, Finish(turn.id, turn.fence, Said(None)))


async def _open_at(core: Core, me: ParticipantId, where: ConversationId) -> Turn | None:
    running = (TurnState.RUNNING,)
    turns: list[Turn] = await core.parts.store.turns(conversation=where, agent=me, states=running, limit=1)
    return turns[0] if turns else None


# --- persons ---------------------------------------------------------------------------------------------


async def _to_a_person(core: Core, request: CheckRequest) -> shapes.Handed:
    """Hand out what a person has not read. What was given before counts as read from now on."""
    for place in request.handed or ():
        with suppress(BadValue, NotFound):  # ids that were never given to it are ignored
            conversation, seq = located(place)
            await core.do(mark, mark.MarkRead(request.participant, conversation, seq))
    unread = await inbox(core, request.participant, unread=True, limit=MAX_UNREAD)
    messages = [one.message for one in unread[: request.limit]]
    newest = {message.conversation: message.id for message in messages}
    left = len(unread) - len(messages)
    return shapes.Handed(tuple(messages), next=left or None, handed=tuple(newest.values()))
