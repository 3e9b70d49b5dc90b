"""The why-record: each agent's part in a message, the rule that gave it, and the cause; read back, or foreseen."""

from moot import shapes
from moot.errors import NotFound
from moot.hub.core import Core
from moot.model.answer import Blocked, Preview, Receipt
from moot.model.ids import ConversationId, address
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.turn import MOVES_CURSOR, Duty, RuleName, Turn, TurnState
from moot.rules import reasons, why

ASKED = frozenset({Duty.MUST, Duty.MAY})


async def explained(core: Core, conversation: ConversationId, seq: int) -> shapes.Why:
    store = core.parts.store
    message = await store.message(conversation, seq)
    if message is None:
        ref = address(conversation, seq)
        raise NotFound(f"there is no message {ref}", what="message", ref=ref)
    where, settings = await core.directory.conversation(conversation), core.parts.settings
    in_force = where.settings.over(settings.groups), settings.limits
    round_ = await store.round(conversation, message.round) if message.round else None
    turns = await store.turns_about(conversation, seq)
    speakers = [m for m in await store.members(conversation) if m.speaks]
    rows: list[shapes.Because] = []
    for member in speakers:
        participant = core.directory.by_id(member.participant)
        if participant is None or member.joined_seq > seq:
            continue
        duty, rule = why.final(message, round_, turns, participant.id)
        turn = why.turn_about(message, turns, participant.id) if participant.id != message.author else None
        case = reasons.Case(participant, message, where, *in_force, round_, len(speakers))
        wrong = reasons.error(turn) if duty in ASKED else ""
        and_then = f"it {reasons.failure(wrong)}" if wrong else reasons.stage(turn) if duty in ASKED else ""
        rows.append(
            shapes.Because(
                agent=participant.name,
                duty=duty.value,
                rule=rule.value,
                reason="; ".join(filter(None, (f"{participant.name} {_words(duty, rule, case)}", and_then))),
                state=_state(duty, rule, turn),
                turn=str(turn.id) if turn else None,
                error=wrong or None,
            )
        )
    return shapes.Why(
        message=message.id,
        cause=await _cause(core, message),
        agents=tuple(rows),
        conversation=where.name,
    )


def _words(duty: Duty, rule: RuleName, case: reasons.Case) -> str:
    """The reason as a sentence that begins with the agent's name."""
    return why.AWAITED if rule is RuleName.ASK and duty is Duty.OBSERVES else reasons.reason(rule, case)


def _state(duty: Duty, rule: RuleName, turn: Turn | None) -> str:
    """How far the message got with an agent. An agent that was not asked has neither answered nor passed: it has read
    the message by now, or will. Whoever wrote it knows it."""
    if duty is Duty.BLOCKED:
        return "blocked"
    if rule is RuleName.SELF:
        return "seen"
    if turn is None:
        return "queued"
    if duty in ASKED or turn.state is TurnState.CANCELLED:
        return why.STATES[turn.state]
    return "seen" if turn.state in MOVES_CURSOR else "queued"


async def _cause(core: Core, message: Message) -> JsonObject | None:
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
