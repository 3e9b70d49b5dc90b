"""Find a chat: a bot of ours sees it, joins it, leaves it, or it has got another id. It stays as paired as it was."""

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import (
    BRIDGE_CHATS,
    BRIDGE_POSTS,
    BridgeChat,
    BridgePost,
    BridgePostState,
    ChatKind,
    PairingState,
    queue_of,
)
from moot.model.records.record import Lookup
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class FindChat(Struct, frozen=True, gc=False):
    bridge: str
    chat: str
    kind: ChatKind
    title: str
    agent: str = ""
    """Whose bot sees it."""
    left: bool = False
    """That bot is in it no longer."""
    moved_from: str = ""
    """What the chat was called until now."""
    explained: bool = False
    """It was said there that it is not paired."""
    readers: tuple[str, ...] = ()
    """Agents whose bots hear every line there; empty where that is not known."""


def scope(command: FindChat) -> Scope:
    chat = BRIDGE_CHATS.one(command.bridge, command.chat)
    if not command.moved_from:
        return Scope(records=(chat,))
    return Scope(records=(chat, BRIDGE_CHATS.one(command.bridge, command.moved_from), _waiting(command)))


def _waiting(command: FindChat) -> Lookup[BridgePost]:
    return BRIDGE_POSTS.where(queue=queue_of(command.bridge, command.moved_from))


def decide(command: FindChat, seen: Seen, at: Moment) -> Decision[BridgeChat]:
    draft = Draft(seen, at)
    stored = seen.record(BRIDGE_CHATS, command.bridge, command.chat)
    before = stored
    if command.moved_from:
        for post in seen.records(_waiting(command)):  # one was under way when the chat moved
            draft.put(BRIDGE_POSTS, _moved(post, command.chat, at.now))
        old = seen.record(BRIDGE_CHATS, command.bridge, command.moved_from)
        if old is not None:
            draft.drop(BRIDGE_CHATS, old.bridge, old.chat)
            stored = structs.replace(old, chat=command.chat) if not _is_paired(stored) else stored
    chat = stored or BridgeChat(
        command.bridge, command.chat, command.kind, command.title, created_at=at.now, updated_at=at.now
    )
    agents = [name for name in chat.agents if name != command.agent or not command.left]
    if command.agent and not command.left and command.agent not in agents:
        agents.append(command.agent)
    state = chat.state
    if command.left and not agents:
        state = PairingState.LEFT
    elif state is PairingState.LEFT and agents:
        state = PairingState.PAIRED if chat.conversation else PairingState.FOUND
    chat = structs.replace(
        chat,
        kind=command.kind,
        title=command.title or chat.title,
        agents=tuple(agents),
        listener=_listener(chat.listener, agents, command.readers),
        state=state,
        explained=chat.explained or command.explained,
    )
    if chat == before:
        return Decision(draft.changes(), chat)
    chat = structs.replace(chat, updated_at=at.now)
    draft.put(BRIDGE_CHATS, chat)
    return Decision(draft.changes(), chat)


def _moved(post: BridgePost, chat: str, now: float) -> BridgePost:
    """Still to be said, where the chat is now. What is there already has another number there, which nobody tells: it
    stays as it is."""
    if post.is_there:
        return structs.replace(post, state=BridgePostState.SENT, updated_at=now)
    return structs.replace(post, chat=chat)


def _is_paired(chat: BridgeChat | None) -> bool:
    return chat is not None and chat.state is PairingState.PAIRED


def _listener(now: str, agents: list[str], readers: tuple[str, ...]) -> str:
    """One bot listens; another takes its place when it is gone, or hears only some of the lines and the other all."""
    able = [name for name in agents if name in readers] or agents
    return now if now in able else next(iter(able), "")
