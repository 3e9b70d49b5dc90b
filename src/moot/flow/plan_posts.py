"""Plan what goes out to a chat elsewhere: pieces of the messages behind its cursor, which moves with them.

Whoever plans says from where; if somebody else has planned since, nothing happens and the answer is where the
cursor is.
"""

from collections.abc import Sequence

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.ids import ConversationId
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import (
    BRIDGE_CHATS,
    BRIDGE_POSTS,
    BridgeChat,
    BridgePost,
    PairingState,
    Piece,
)
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class PlanPosts(Struct, frozen=True, gc=False):
    bridge: str
    chat: str
    conversation: ConversationId
    after: int
    """The cursor as it was read."""
    upto: int
    pieces: tuple[Piece, ...] = ()


def scope(command: PlanPosts) -> Scope:
    return Scope(records=(BRIDGE_CHATS.one(command.bridge, command.chat),))


def decide(command: PlanPosts, seen: Seen, at: Moment) -> Decision[BridgeChat | None]:
    chat = seen.record(BRIDGE_CHATS, command.bridge, command.chat)
    if chat is None or chat.state is not PairingState.PAIRED or chat.conversation != command.conversation:
        return Decision([], chat)
    if chat.cursor != command.after or command.upto <= chat.cursor:
        return Decision([], chat)
    draft = Draft(seen, at)
    chat = queue(draft, structs.replace(chat, cursor=command.upto), command.pieces)
    return Decision(draft.changes(), chat)


def queue(draft: Draft, chat: BridgeChat, pieces: Sequence[Piece]) -> BridgeChat:
    """The chat afterwards; each piece has the next place in it."""
    now = draft.at.now
    for place, piece in enumerate(pieces, chat.planned + 1):
        draft.put(
            BRIDGE_POSTS,
            BridgePost(
                id=f"{chat.bridge}/{chat.chat}/{place}",
                bridge=chat.bridge,
                chat=chat.chat,
                conversation=chat.conversation,
                seq=piece.seq,
                place=place,
                speaker=piece.speaker,
                text=piece.text,
                reply_to=piece.reply_to,
                buttons=piece.buttons,
                decision=piece.decision,
                created_at=now,
                updated_at=now,
            ),
        )
    chat = structs.replace(chat, planned=chat.planned + len(pieces), updated_at=now)
    return draft.put(BRIDGE_CHATS, chat)
