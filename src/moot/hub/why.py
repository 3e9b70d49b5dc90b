"""The why-record: each agent's part in a message, the rule that gave it, and the cause; read back, or foreseen."""

from typing import Any

from moot import shapes
from moot.errors import NotFound
from moot.hub.core import Core
from moot.model.answer import Blocked, Preview, Receipt
from moot.model.ids import ConversationId, address
from moot.model.message import Message
from moot.model.turn import Duty
from moot.rules import why


async def explained(core: Core, conversation: ConversationId, seq: int) -> shapes.Why:
    store = core.parts.store
    message = await store.message(conversation, seq)
    if message is None:
        raise NotFound(f"there is no message {address(conversation, seq)}", ref=address(conversation, seq))
    round_ = await store.round(conversation, message.round) if message.round else None
    turns = await store.turns(conversation=conversation)
    known = {who.id: who for who in core.people()}
    rows: list[shapes.Because] = []
    for member in await store.members(conversation):
        who = known.get(member.participant)
        if who is None or not who.speaks_in_turns or member.joined_seq > seq:
            continue
        duty, rule = why.final(message, round_, turns, who.id)
        turn = why.turn_about(message, turns, who.id) if who.id != message.author else None
        rows.append(
            shapes.Because(
                agent=who.name,
                duty=duty.value,
                rule=rule.value,
                reason=f"{who.name} {why.reason(duty, rule)}",
                state=why.STATES[turn.state] if turn else _without_turn(duty),
                turn=str(turn.id) if turn else None,
            )
        )
    return shapes.Why(message=message.id, cause=await _cause(core, message), agents=tuple(rows))


def _without_turn(duty: Duty) -> str:
    return "blocked" if duty is Duty.BLOCKED else "queued"


async def _cause(core: Core, message: Message) -> dict[str, Any] | None:
    """The message a reply answers, and the turn it was said in."""
    if message.turn is None:
        return None
    turn = await core.parts.store.turn(message.turn)
    cause = address(turn.conversation, turn.cause) if turn is not None else message.root
    return {"message": cause, "turn": str(message.turn)}


def foreseen(receipt: Receipt, cap: int) -> Preview:
    """Who would answer, from the receipt that posting would give."""
    by_duty: dict[str, list[str]] = {"must": [], "may": [], "observes": []}
    blocked: list[Blocked] = []
    for delivery in receipt.deliveries:
        if delivery.duty == "blocked":
            blocked.append(Blocked(delivery.agent, delivery.rule, delivery.reason))
        else:
            by_duty[delivery.duty].append(delivery.agent)
    return Preview(
        must=tuple(by_duty["must"]),
        may=tuple(by_duty["may"]),
        observes=tuple(by_duty["observes"]),
        blocked=tuple(blocked),
        cap=cap,
        warnings=receipt.warnings,
    )
