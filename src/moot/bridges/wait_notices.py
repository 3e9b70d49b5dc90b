"""Notices of waiting: a chat is told once that somebody who was asked there has not begun after ten seconds, and why.

One message per chat, whose text changes with who is waited for, and says in the end that nobody is. It is a post like
any other: written down before it is sent, so that whoever runs the bridge next does not say it again.
Above: worker.py looks now and then, and when turns begin or end. Below: flow/update_notice.py.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from moot.bridges import phrases
from moot.bridges.bridge import Bridge
from moot.failpoints import failpoint
from moot.flow.hear import CHAT
from moot.flow.update_notice import UpdateNotice
from moot.hub import Hub
from moot.model.ids import ConversationId
from moot.model.records.chat_apps.bridge import BRIDGE_POSTS, BridgeChat, PairingState, queue_of
from moot.model.turn import Duty, Turn, TurnState

WAIT_SECONDS = 10.0
"""Silence that needs no explanation."""
MAX_NAMED: Final = 5


class WaitNotices:
    def __init__(self, hub: Hub, bridge: Bridge, wake: Callable[[str], None]) -> None:
        self._records = hub.bridges.records
        self._bridge = bridge
        self._wake = wake
        self._waiting: set[str] = set()
        """Conversations in which somebody is waited for, as far as this process has seen."""

    async def look_everywhere(self) -> None:
        for chat in await self._records.chats(self._bridge.name):
            if chat.notice or chat.state is PairingState.PAIRED:
                await self._look(chat)

    async def look_in(self, conversation: str | None) -> None:
        """A turn there has begun or ended: perhaps somebody is waited for no longer."""
        if conversation in self._waiting:
            for chat in await self._records.chats_of(self._bridge.name, ConversationId(conversation)):
                await self._look(chat)

    async def _look(self, chat: BridgeChat) -> None:
        turns = await self._waited_for(chat) if chat.state is PairingState.PAIRED else []
        self._waiting.add(chat.conversation) if turns else self._waiting.discard(chat.conversation)
        if not turns and not chat.notice:
            return
        text = self._text(turns) if turns else await self._ending(chat)
        speaker = chat.listener if self._bridge.can_speak_as(chat.listener) else ""
        command = UpdateNotice(chat.bridge, chat.chat, chat.notice, text, speaker, ends=not turns)
        await self._records.notify(command)
        failpoint("bridge.noticed")
        self._wake(chat.chat)

    async def _waited_for(self, chat: BridgeChat) -> list[Turn]:
        """Turns of agents who were asked in this chat, and have not begun for too long."""
        latest = self._records.clock.now() - WAIT_SECONDS
        turns = await self._records.unclaimed(chat.conversation)
        late = [turn for turn in turns if turn.duty is Duty.MUST and turn.created_at <= latest]
        return [turn for turn in late if await self._is_asked_in(chat, turn)]

    async def _is_asked_in(self, chat: BridgeChat, turn: Turn) -> bool:
        for call in turn.calls:
            message = await self._records.message(turn.conversation, call.seq)
            if message is not None and message.metadata.get(CHAT) == queue_of(chat.bridge, chat.chat):
                return True
        return False

    def _text(self, turns: list[Turn]) -> str:
        words = {self._records.name(turn.agent): _word(turn) for turn in turns}
        named = [f"{name} ({word})" for name, word in sorted(words.items())]
        more = [f"{len(named) - MAX_NAMED} more"] if len(named) > MAX_NAMED else []
        return phrases.WAITING.format(names=", ".join([*named[:MAX_NAMED], *more]))

    async def _ending(self, chat: BridgeChat) -> str:
        posts = await self._records.posts(BRIDGE_POSTS.one(chat.notice))
        now = self._records.clock.now()
        seconds = now - min((post.created_at for post in posts), default=now) + WAIT_SECONDS
        return phrases.WAITED.format(seconds=round(seconds))


def _word(turn: Turn) -> str:
    """The words of every surface for what an agent does (rules/activity.py)."""
    if turn.state is TurnState.HELD:
        return f"held, next at {datetime.fromtimestamp(turn.due, UTC):%H:%M:%S} UTC"
    return "away" if turn.state is TurnState.OWED else "waiting"
