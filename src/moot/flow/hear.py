"""Hear what somebody wrote in a chat elsewhere: one message, once, however often it is delivered.

What came in and the message it becomes are one decision, so that a crash leaves both or neither. Guests speak within an
allowance of their own. Above: bridges, before they tell the chat app that they have it. Below: post.py.
"""

from msgspec import Struct, structs

from moot.errors import NotPermitted
from moot.flow import join, post
from moot.flow.post import Post
from moot.flow.steps import find
from moot.flow.steps.posted import Posted
from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import (
    ARRIVALS,
    BRIDGE_ACCOUNTS,
    BRIDGE_CHATS,
    SETTLED,
    ArrivalState,
    BridgeAccount,
    BridgeArrival,
    BridgeChat,
    PairingState,
)
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

CHAT = "chat"
"""Of a message's metadata: the chat elsewhere in which it was written."""
MINUTE, DAY = 60, 86_400


class GuestAllowance(Struct, frozen=True, gc=False):
    """How often one guest may speak."""

    per_minute: int
    per_day: int


class Hear(Struct, frozen=True, gc=False):
    bridge: str
    key: str
    """By which a repeat is known."""
    chat: str
    account: str
    message: Post
    allowance: GuestAllowance


class HeardOnce(Struct, frozen=True, gc=False):
    arrival: BridgeArrival
    posted: Posted | None = None
    """None where it was heard before, or refused."""


def scope(command: Hear) -> Scope:
    wanted = post.scope(command.message)
    mine = (
        ARRIVALS.one(command.bridge, command.key),
        BRIDGE_CHATS.one(command.bridge, command.chat),
        BRIDGE_ACCOUNTS.one(command.bridge, command.account),
    )
    return structs.replace(wanted, records=(*wanted.records, *mine))


def decide(command: Hear, seen: Seen, at: Moment) -> Decision[HeardOnce]:
    before = seen.record(ARRIVALS, command.bridge, command.key)
    if before is not None and before.state in SETTLED:
        return Decision([], HeardOnce(before))
    chat, account = _known(command, seen)
    draft = Draft(seen, at)
    arrival = BridgeArrival(
        command.bridge,
        command.key,
        command.chat,
        command.account,
        ArrivalState.DONE,
        chat.conversation,
        created_at=at.now,
    )
    if not account.linked:
        charged, refusal = charge(account, command.allowance, at.now)
        if refusal:
            arrival = structs.replace(arrival, state=ArrivalState.REFUSED, error=refusal)
            draft.put(ARRIVALS, arrival)
            return Decision(draft.changes(), HeardOnce(arrival))
        draft.put(BRIDGE_ACCOUNTS, charged)
    room = find.open_room(draft, chat.conversation)
    author = find.participant(seen, account.participant)
    if author.id not in room.members:
        join.bring_in(room, find.not_removed(author))
    message = structs.replace(
        command.message,
        author=author.id,
        guest=not account.linked,
        metadata={**command.message.metadata, CHAT: f"{command.bridge}/{command.chat}"},
    )
    posted = post.speak(room, author, message)
    arrival = draft.put(ARRIVALS, structs.replace(arrival, seq=posted.message.seq))
    return Decision(draft.changes(), HeardOnce(arrival, posted))


def _known(command: Hear, seen: Seen) -> tuple[BridgeChat, BridgeAccount]:
    chat = seen.record(BRIDGE_CHATS, command.bridge, command.chat)
    account = seen.record(BRIDGE_ACCOUNTS, command.bridge, command.account)
    if chat is None or chat.state is not PairingState.PAIRED:
        raise NotPermitted(
            "this chat is not paired, so nobody in it can wake an agent",
            fix=("ask the owner for a code, and write /pair CODE here",),
        )
    if account is None or account.participant != command.message.author:
        raise NotPermitted("it is not known whose account this is")
    return chat, account


def charge(account: BridgeAccount, allowance: GuestAllowance, now: float) -> tuple[BridgeAccount, str]:
    """The account after one more message, or the refusal where its allowance is used up."""
    minute, day = int(now // MINUTE), int(now // DAY)
    in_minute = account.in_minute if account.minute == minute else 0
    in_day = account.in_day if account.day == day else 0
    if in_minute >= allowance.per_minute:
        return account, f"guests may send {allowance.per_minute} messages a minute; try again in a minute"
    if in_day >= allowance.per_day:
        return account, f"guests may send {allowance.per_day} messages a day; try again tomorrow"
    counted = structs.replace(account, minute=minute, in_minute=in_minute + 1, day=day, in_day=in_day + 1)
    return counted, ""
