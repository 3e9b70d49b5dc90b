"""What became of a message for each agent it concerns, with the moments; what was never answered, and once more.

A delivery is not stored: it is read from the turns, so it can never disagree with what happened.
"""

from typing import Any

from moot import shapes
from moot.errors import Conflict
from moot.hub.core import Core
from moot.hub.queries.why import explained
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, TurnId
from moot.model.json import JsonObject
from moot.model.turn import Duty, Turn, TurnState

DEAD = (TurnState.FAILED, TurnState.EXPIRED)
MAX_LOOKED_AT = 1000


async def of_message(core: Core, conversation: ConversationId, seq: int) -> list[shapes.DeliveryProgress]:
    """Stored, woken, begun, ended: how far the message got with each agent."""
    why = await explained(core, conversation, seq)
    message = await core.parts.store.message(conversation, seq)
    now = core.parts.clock.now()
    people = {participant.name: participant for participant in core.directory.people()}
    progress: list[shapes.DeliveryProgress] = []
    for part in why.agents:
        turn = await core.parts.store.turn(TurnId(int(part.turn))) if part.turn else None
        participant = people.get(part.agent)
        progress.append(
            shapes.DeliveryProgress(
                agent=part.agent,
                duty=part.duty,
                state=part.state,
                rule=part.rule,
                reason=part.reason,
                reachability=participant.reachable(now).value if participant is not None else "away",
                turn=part.turn,
                stored_at=shapes.when(message.at) if message is not None else None,
                woken_at=shapes.when(turn.created_at) if turn is not None and turn.started_at else None,
                started_at=shapes.when(turn.started_at) if turn is not None else None,
                ended_at=shapes.when(turn.ended_at) if turn is not None else None,
                attempt=turn.attempt if turn is not None else 0,
                error=(turn.error or None) if turn is not None else None,
            )
        )
    return progress


async def dead(core: Core, **filters: Any) -> list[Turn]:
    """Turns that ended without an answer, where the agent has not spoken or passed there since."""
    store = core.parts.store
    failed: list[Turn] = await store.turns(states=DEAD, limit=MAX_LOOKED_AT, **filters)
    open_ones: list[Turn] = []
    for turn in failed:
        later = await store.turns(conversation=turn.conversation, agent=turn.agent, limit=MAX_LOOKED_AT)
        if not any(t.id > turn.id and t.state in (TurnState.SAID, TurnState.PASSED) for t in later):
            open_ones.append(turn)
    return open_ones


def again_of(message: shapes.Message) -> str:
    """What was said, to be said once more."""
    if message.metadata.get("deleted"):
        raise Conflict(f"{message.id} was deleted: there is nothing to retry")
    return message.text


def again(turn: Turn, name: str) -> JsonObject:
    """The message that asks an agent once more for what it failed to answer."""
    if turn.state not in DEAD and turn.state is not TurnState.CANCELLED:
        raise Conflict(
            f"turn {turn.id} of {name} is {turn.state.value}: there is nothing to retry",
            fix=(Hint(Act.SHOW_TURN, turn=str(turn.id)),),
        )
    request = "please answer" if turn.duty is Duty.MUST else "please take another look at"
    return {
        "conversation": turn.conversation,
        "text": f"@{name} {request} #{turn.cause}",
        "force": (name,),
        "reply_to": turn.cause,
    }
