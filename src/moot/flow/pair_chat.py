"""Pair a chat elsewhere with a conversation, let go of it, or bind it to another conversation.

Pairing needs a code that the owner was shown, which is used up by it, or the owner's own word. From then on people in
the chat may wake agents.
Letting go holds also for a chat that the bots have left, and for what was on its way there.
"""

from msgspec import Struct, structs

from moot.errors import BadValue, NotFound, NotPermitted
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.conversation import Conversation
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.chat_apps.bridge import (
    BRIDGE_CHATS,
    BRIDGE_POSTS,
    PAIRING_CODES,
    BridgeChat,
    BridgePost,
    BridgePostState,
    PairingCode,
    PairingState,
    queue_of,
)
from moot.model.records.record import Lookup
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class PairChat(Struct, frozen=True, gc=False):
    author: ParticipantId
    bridge: str
    chat: str
    conversation: str = ""
    """The one to bind it to; none lets go of it."""
    digest: str = ""
    """Hash of the code shown; needed where the chat is not paired yet, unless the owner says so."""
    account: str = ""
    """Who wrote the code; empty where the owner says it elsewhere."""


def scope(command: PairChat) -> Scope:
    codes = (PAIRING_CODES.one(command.digest),) if command.digest else ()
    chat = BRIDGE_CHATS.one(command.bridge, command.chat)
    return Scope(
        refs=(command.conversation,) if command.conversation else (),
        names=(command.author,),
        records=(
            acts.HEAD,
            chat,
            *codes,
            *(() if command.conversation else (_waiting(command.bridge, command.chat),)),
        ),
    )


def decide(command: PairChat, seen: Seen, at: Moment) -> Decision[BridgeChat]:
    draft = Draft(seen, at)
    chat = seen.record(BRIDGE_CHATS, command.bridge, command.chat)
    if chat is None:
        raise unknown(command.bridge, command.chat)
    if not command.conversation:
        return _let_go(draft, chat, command.author)
    where = find.conversation(seen, command.conversation)
    is_owners = not command.account and find.is_owner(draft.participant(command.author), at)
    if chat.state is not PairingState.PAIRED and not is_owners:
        code = usable(command, seen, at)
        draft.put(PAIRING_CODES, structs.replace(code, used_by=chat.chat))
    if chat.state is not PairingState.PAIRED or is_owners:
        detail = {"title": chat.title, "conversation": where.id, "account": command.account}
        acts.enter(draft, AuditedAct.CHAT_PAIRED, command.author, _subject(chat), detail)
    chat = _bound(chat, where, command, at)
    draft.put(BRIDGE_CHATS, chat)
    return Decision(draft.changes(), chat)


def _bound(chat: BridgeChat, where: Conversation, command: PairChat, at: Moment) -> BridgeChat:
    """What was said there before is not repeated in the chat."""
    return structs.replace(
        chat,
        state=PairingState.PAIRED,
        conversation=where.id,
        cursor=chat.cursor if chat.conversation == where.id else where.head,
        paired_by=chat.paired_by or command.account,
        updated_at=at.now,
    )


def _let_go(draft: Draft, chat: BridgeChat, author: ParticipantId) -> Decision[BridgeChat]:
    if not find.is_owner(draft.participant(author), draft.at):
        raise NotPermitted("only the owner may unpair chats")
    if not chat.conversation:
        return Decision([], chat)
    for post in draft.seen.records(_waiting(chat.bridge, chat.chat)):
        if post.seq or post.id == chat.notice:  # an answer to whoever asked there is still given
            error = "the chat was unpaired"
            dropped = structs.replace(
                post, state=BridgePostState.DROPPED, error=error, updated_at=draft.at.now
            )
            draft.put(BRIDGE_POSTS, dropped)
    chat = structs.replace(
        chat,
        state=chat.state if chat.state is PairingState.LEFT else PairingState.FOUND,
        conversation=ConversationId(""),
        cursor=0,
        explained=False,
        paired_by="",
        notice="",
        updated_at=draft.at.now,
    )
    draft.put(BRIDGE_CHATS, chat)
    acts.enter(draft, AuditedAct.CHAT_UNPAIRED, author, _subject(chat), {"title": chat.title})
    return Decision(draft.changes(), chat)


def _waiting(bridge: str, chat: str) -> Lookup[BridgePost]:
    return BRIDGE_POSTS.where(queue=queue_of(bridge, chat))


def usable(command: PairChat, seen: Seen, at: Moment) -> PairingCode:
    """The code, if it is for this bridge, has not run out and was not used."""
    code = seen.record(PAIRING_CODES, command.digest) if command.digest else None
    if code is None or code.until <= at.now or code.used_by or code.bridge != command.bridge:
        raise BadValue(
            "this code does not pair a chat",
            detail="it is unknown, was used already, or has run out",
            fix=("ask the owner for a new code",),
        )
    return code


def unknown(bridge: str, chat: str) -> NotFound:
    return NotFound(
        f'no chat of {bridge} is called "{chat}"',
        what="chat",
        detail="a chat is known once one of the bots is in it and something was said there",
        ref=chat,
    )


def _subject(chat: BridgeChat) -> str:
    return f"chat {chat.bridge}/{chat.chat}"
