"""Turns as callers ask for them: by conversation, agent and state; those that ended badly; and what they cost."""

from msgspec import structs

from moot import shapes
from moot.errors import BadValue, NotFound
from moot.hub.core import Core
from moot.hub.queries import outcomes
from moot.hub.queries.addresses import is_number
from moot.hub.queries.given_prompt import turn as with_given
from moot.hub.queries.usage import added_up
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId, TurnId
from moot.model.json import JsonObject
from moot.model.turn import Turn, TurnState

MAX_ADDED_UP = 1000


async def turns(
    core: Core, me: ParticipantId, conversation: str | None, agent: str | None, state: str | None
) -> list[shapes.Turn]:
    if state is not None and state not in {item.value for item in TurnState}:
        raise BadValue(
            f'unknown turn state "{state}"',
            detail=f"states are {', '.join(s.value for s in TurnState)}",
        )
    states = (TurnState(state),) if state else ()
    stored = await core.parts.store.turns(**await _of(core, conversation, agent), states=states)
    return [_shown(core, me, shapes.Turn.of(turn, core.directory.name)) for turn in stored]


async def turn(core: Core, me: ParticipantId, stored: Turn, *, given: bool) -> shapes.Turn:
    whole = await with_given(core, stored) if given else shapes.Turn.of(stored, core.directory.name)
    return _shown(core, me, whole)


async def dead_letters(core: Core, me: ParticipantId, agent: str | None) -> list[shapes.Turn]:
    filters = {"agent": (await core.directory.participant(agent)).id} if agent else {}
    dead = await outcomes.dead(core, **filters)
    return [_shown(core, me, shapes.Turn.of(turn, core.directory.name)) for turn in dead]


def _shown(core: Core, me: ParticipantId, turn: shapes.Turn) -> shapes.Turn:
    return turn if me == core.user else structs.replace(without_model(turn), trace=None)


def without_model(turn: shapes.Turn) -> shapes.Turn:
    """Without the model it used: only the owner may know with what an agent thinks."""
    if not turn.usage or "model" not in turn.usage:
        return turn
    return structs.replace(turn, usage={key: value for key, value in turn.usage.items() if key != "model"})


async def usage(core: Core, agent: str | None, conversation: str | None) -> JsonObject:
    of = await _of(core, conversation, agent)
    return added_up(await core.parts.store.turns(**of, limit=MAX_ADDED_UP))


async def live(core: Core, conversation: str | None) -> list[shapes.LiveTurn]:
    """Running turns, with what they have said so far."""
    running = (TurnState.RUNNING,)
    running_turns = await core.parts.store.turns(**await _of(core, conversation, None), states=running)
    texts = [(turn, core.live_turns.text_of(str(turn.id))) for turn in running_turns]
    return [
        shapes.LiveTurn(
            str(turn.id), core.directory.name(turn.agent), turn.conversation, live_text.text, live_text.offset
        )
        for turn, live_text in texts
        if live_text is not None
    ]


async def _of(core: Core, conversation: str | None, agent: str | None) -> JsonObject:
    return {
        "conversation": (await core.directory.conversation(conversation)).id if conversation else None,
        "agent": (await core.directory.participant(agent)).id if agent else None,
    }


async def by_number(core: Core, id: str) -> Turn:
    """A turn by its number, as callers write it."""
    turn = await core.parts.store.turn(TurnId(int(id))) if is_number(id) else None
    if turn is None:
        raise unknown(id)
    return turn


def unknown(id: str) -> NotFound:
    """The same for a missing turn and for one that the caller may not see: they must be indistinguishable."""
    return NotFound(f"there is no turn {id}", what="turn", fix=(Hint(Act.LIST_TURNS),), ref=str(id))
