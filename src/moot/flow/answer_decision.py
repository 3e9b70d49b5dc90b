"""Answer a decision: the person who was asked says it, once. Whoever asked and still waits goes on with it.

The answer is also a message in their conversation, so that the history says who decided what.
"""

from msgspec import Struct, structs

from moot.errors import BadValue, Conflict, NotFound
from moot.flow import post
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.intent import ANSWERS, Intent
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.decision import DECISIONS, DecisionState, PersonsDecision
from moot.model.records.wait import WAITS
from moot.model.turn import RUNNING, Turn
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.words import mentions


class AnswerDecision(Struct, frozen=True, gc=False):
    author: ParticipantId
    id: str
    answer: str
    conversation: ConversationId
    """Where it was asked, as the caller knows it."""
    turn: TurnId | None = None
    """In which it was asked, if in one."""


def scope(command: AnswerDecision) -> Scope:
    return Scope(
        conversations=(command.conversation,),
        turns=() if command.turn is None else (command.turn,),
        names=(command.author, *post.meant(mentions.parse(command.answer))),
        records=(acts.HEAD, DECISIONS.one(command.id), WAITS.where(conversation=command.conversation)),
    )


def decide(command: AnswerDecision, seen: Seen, at: Moment) -> Decision[PersonsDecision]:
    decision = seen.record(DECISIONS, command.id)
    if decision is None or decision.to != command.author:
        raise unknown(command.id)
    answer = _chosen(decision, command.answer)
    draft = Draft(seen, at)
    state = decision.state_at(at.now)
    if state is not DecisionState.OPEN:
        raise _over(draft, decision, state)
    room = find.open_room(draft, decision.conversation)
    is_awaited = _is_awaited(decision, None if command.turn is None else seen.turn(command.turn))
    posted = post.speak(
        room,
        find.member(room, command.author),
        structs.replace(
            post.posting(command.author, room.id, answer, reply_to=decision.seq, intent=_meant(answer)),
            quiet=is_awaited,
        ),
    )
    decision = structs.replace(
        decision,
        state=DecisionState.ANSWERED,
        answer=answer,
        answer_seq=posted.message.seq,
        updated_at=at.now,
    )
    draft.put(DECISIONS, decision)
    wait = draft.record(WAITS, decision.conversation, decision.seq)
    if wait is not None and is_awaited:
        draft.put(WAITS, structs.replace(wait, answer=posted.message.seq))
    elif wait is not None:
        draft.drop(WAITS, decision.conversation, decision.seq)
    detail = {"asked_by": decision.by, "conversation": room.id, "seq": posted.message.seq}
    acts.enter(draft, AuditedAct.DECISION_ANSWERED, command.author, f"decision {decision.id}", detail)
    draft.emit(EventType.DECISION_ANSWERED, room, by=command.author, body=structs.asdict(decision))
    return Decision(draft.changes(), decision)


def _is_awaited(decision: PersonsDecision, turn: Turn | None) -> bool:
    """Whether whoever asked goes on with the answer by itself. If its turn is over or begun anew, or it has given up,
    nobody does: then the answer calls it as any message of a person does."""
    if turn is not None and (turn.state is not RUNNING or turn.started_at > decision.created_at):
        return False
    return bool(decision.until)


def _over(draft: Draft, decision: PersonsDecision, state: DecisionState) -> Conflict:
    if decision.answer:
        return Conflict(
            f"{decision.id} is already {state}",
            detail=f"the answer was: {decision.answer}",
            state=state.value,
        )
    name = draft.name(decision.by)
    return Conflict(
        f"{decision.id} is already {state}: {name} stopped waiting before you answered",
        detail=f"your answer was not delivered; {name} hears it if you send it as a message",
        fix=(Hint(Act.SEND_TO_AGENT, agent=name),),
        state=state.value,
    )


def unknown(id: str) -> NotFound:
    """What one may not decide is not there."""
    return NotFound(
        f'no decision of yours is called "{id}"', what="decision", fix=(Hint(Act.LIST_DECISIONS),), ref=id
    )


def _meant(answer: str) -> Intent:
    word = answer.strip().casefold()
    return Intent(word) if word in ANSWERS else Intent.INFORM


def _chosen(decision: PersonsDecision, answer: str) -> str:
    """One of the choices, however it is written; by its number too."""
    if not decision.choices:
        return answer
    by_word = {choice.casefold(): choice for choice in decision.choices}
    by_number = {str(number): choice for number, choice in enumerate(decision.choices, 1)}
    word = answer.strip().casefold()
    found = by_word.get(word) or by_number.get(word)
    if found is None:
        raise BadValue(
            f'"{answer[:80]}" is not one of the choices', detail=f"choices are {', '.join(decision.choices)}"
        )
    return found
