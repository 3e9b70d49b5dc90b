"""Record what becomes of something that came in and is no message: a command, a refusal, a failure.

A command is begun, and then done together with its answer; begun and never done is not tried again, since nobody knows
how far it got. What fails is tried up to five times and then laid aside with its text.
"""

from msgspec import Struct, structs

from moot.flow import plan_posts
from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import (
    ARRIVALS,
    BRIDGE_CHATS,
    MAX_TRIES,
    SETTLED,
    ArrivalState,
    BridgeArrival,
    Piece,
)
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class RecordArrival(Struct, frozen=True, gc=False):
    bridge: str
    key: str
    chat: str
    account: str
    state: ArrivalState
    text: str = ""
    error: str = ""
    answers: tuple[Piece, ...] = ()
    """What is said in the chat about it."""
    if_begun: tuple[Piece, ...] = ()
    """What is said in place of that where a command fails that was begun."""


class Recorded(Struct, frozen=True, gc=False):
    arrival: BridgeArrival
    is_news: bool
    """It was not settled before, nor begun."""


def scope(command: RecordArrival) -> Scope:
    chat = BRIDGE_CHATS.one(command.bridge, command.chat)
    return Scope(records=(ARRIVALS.one(command.bridge, command.key), chat))


def decide(command: RecordArrival, seen: Seen, at: Moment) -> Decision[Recorded]:
    before = seen.record(ARRIVALS, command.bridge, command.key)
    if before is not None and before.state in SETTLED:
        return Decision([], Recorded(before, is_news=False))
    if before is not None and before.state is command.state is ArrivalState.BEGUN:
        return Decision([], Recorded(before, is_news=False))
    draft = Draft(seen, at)
    chat = seen.record(BRIDGE_CHATS, command.bridge, command.chat)
    tries = before.tries if before is not None else 0
    state, answers = command.state, command.answers
    if state is ArrivalState.TROUBLED:
        tries += 1
        was_begun = before is not None and before.state is ArrivalState.BEGUN
        state = ArrivalState.DEAD if was_begun or tries >= MAX_TRIES else state
        answers = command.if_begun if was_begun else answers
    arrival = BridgeArrival(
        command.bridge,
        command.key,
        command.chat,
        command.account,
        state,
        text="" if state is ArrivalState.DONE else command.text,
        tries=tries,
        error=command.error,
        created_at=before.created_at if before is not None else at.now,
    )
    if chat is not None and chat.conversation:
        arrival = structs.replace(arrival, conversation=chat.conversation)
    draft.put(ARRIVALS, arrival)
    if chat is not None and answers:
        plan_posts.queue(draft, chat, answers)
    return Decision(draft.changes(), Recorded(arrival, is_news=True))
