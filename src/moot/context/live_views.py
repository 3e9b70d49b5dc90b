"""Conversations as the agents of this process see them, kept in memory and appended to as the log tells of messages.

A record only says that a message was posted or changed. What this process stored itself is appended at once, without
reading; what others stored is pulled when a record tells of it. Records may come twice, late or never, so none of them
is believed: before a turn is given a view, its version is held against the conversation's own, which is read with
every turn, and a view that is not the store's is mended from the store (SPEC K-07, decision 27).

Above: view.py takes windows from here. Below: the read ports. Bounded in views, in messages and in characters.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import structlog
from msgspec import Struct

from moot.errors import MootError
from moot.model.conversation import Conversation
from moot.model.event import TAKEN_BACK, Commit, Event, EventType
from moot.model.ids import ConversationId
from moot.model.message import FIRST_VERSION, Message
from moot.ports import ConversationReads, Page

log = structlog.get_logger("moot.views")

MAX_VIEWS: Final = 256
MAX_MESSAGES: Final = 100
"""Of one view; older ones are read from the store by whoever needs them. A larger number costs a hub of many
conversations memory that few turns use."""
MAX_CHARACTERS: Final = 8_000_000
"""Of all views together; beyond it those that nobody looked at longest are dropped."""
MAX_MISSING: Final = 500
"""Skipped messages of one view whose records may still come."""
STALE: Final = -1
MAX_TRIES: Final = 3
POSTED: Final = EventType.MESSAGE_POSTED

Spawn = Callable[[Coroutine[Any, Any, None]], object]


class ViewCounts(Struct):
    """What was noticed of records, and how often a view was not the store's."""

    repeats: int = 0
    gaps: int = 0
    late: int = 0
    """Records behind a later one of the same conversation."""
    mended: int = 0
    """Views that had to be read anew: something was changed, or missed."""


class RecordTrack:
    """Which messages of a conversation records have told of."""

    def __init__(self) -> None:
        self._upto: int | None = None
        self._missing: set[int] = set()

    def notice(self, seq: int, counts: ViewCounts) -> None:
        if self._upto is None or seq == self._upto + 1:
            self._upto = seq
        elif seq > self._upto:
            counts.gaps += 1
            self._missing.update(range(max(self._upto + 1, seq - MAX_MISSING), seq))
            self._upto = seq
        elif seq in self._missing:
            counts.late += 1
            self._missing.discard(seq)
        else:
            counts.repeats += 1


class LiveView:
    """The newest messages of a conversation, without a gap."""

    def __init__(self, messages: list[Message], begins: int, version: int) -> None:
        self.messages = messages
        self.begins = begins
        """The seq before its first message."""
        self.version = version
        """That of the conversation when this was all there was: entries of its chain."""
        self.records = RecordTrack()
        self.pulling = asyncio.Lock()

    @property
    def head(self) -> int:
        return self.begins + len(self.messages)

    @property
    def characters(self) -> int:
        return sum(len(message.text) for message in self.messages)

    def append(self, message: Message) -> bool:
        """Whether it was the next there is."""
        is_next = message.seq == self.head + 1 and message.chain_place == self.version + 1
        if is_next and message.version == FIRST_VERSION:
            self.messages.append(message)
            self.version += 1
            self.trim()
            return True
        return False

    def trim(self) -> None:
        surplus = len(self.messages) - MAX_MESSAGES
        if surplus > 0:
            del self.messages[:surplus]
            self.begins += surplus

    def between(self, after: int, upto: int) -> list[Message]:
        return self.messages[max(0, after - self.begins) : max(0, upto - self.begins)]


class LiveViews:
    def __init__(self, reads: ConversationReads, spawn: Spawn) -> None:
        self._reads = reads
        self._spawn = spawn
        self._views: OrderedDict[ConversationId, LiveView] = OrderedDict()
        self._behind: set[ConversationId] = set()
        """Those that are being pulled."""
        self.counts = ViewCounts()

    def __len__(self) -> int:
        return len(self._views)

    # --- what comes --------------------------------------------------------------------------------------

    def on_commit(self, commit: Commit) -> None:
        """This process stored messages: those that come next are appended, anything else makes a view stale."""
        for message in commit.messages if self._views else ():
            view = self._views.get(message.conversation)
            if view is not None and not view.append(message):
                view.version = STALE

    def on_records(self, records: Sequence[Event]) -> None:
        """The log tells of messages, in whatever order and however often."""
        for record in records if self._views else ():
            where = record.conversation
            view = self._views.get(where) if where is not None and record.seq else None
            if where is None or view is None:
                continue
            if record.type is POSTED:
                view.records.notice(record.seq, self.counts)
                if record.seq > view.head and where not in self._behind:
                    self._behind.add(where)
                    self._spawn(self._pull(where))

    def on_events(self, events: Sequence[Event]) -> None:
        """What was taken back is not kept."""
        for event in events if self._views else ():
            if event.type in TAKEN_BACK and event.conversation is not None:
                self._views.pop(event.conversation, None)

    async def _pull(self, where: ConversationId) -> None:
        try:
            conversation = await self._reads.conversation(where)
            view = self._views.get(where)
            if conversation is not None and view is not None:
                await self._bring_up(view, conversation)
        except MootError as trouble:  # whoever needs the view next reads the store
            log.info("a view was not brought up to date", action="view_behind", error=str(trouble))
        finally:
            self._behind.discard(where)

    # --- what is asked -----------------------------------------------------------------------------------

    async def messages(self, conversation: Conversation, after: int, upto: int) -> list[Message]:
        """Messages with `after < seq <= upto`, as the store has them; `conversation` was read this moment."""
        view = self._views.get(conversation.id)
        if view is None or after < view.begins:
            return await self._open(conversation, after, upto)
        self._views.move_to_end(conversation.id)
        await self._bring_up(view, conversation)
        if (
            after < view.begins or view.version < conversation.chain_length
        ):  # trimmed, or changed all the time
            return await self._read(conversation.id, after, upto)
        return view.between(after, upto)

    async def _open(self, conversation: Conversation, after: int, upto: int) -> list[Message]:
        head = conversation.head
        found = await self._read(conversation.id, after, head)
        if [message.seq for message in found] == list(range(after + 1, head + 1)):
            view = LiveView(list(found), after, conversation.chain_length)
            view.trim()
            self._views[conversation.id] = view
            self._make_room()
        return [message for message in found if message.seq <= upto]

    async def _bring_up(self, view: LiveView, conversation: Conversation) -> None:
        """Make a view at least what the store was when the conversation was read: what is new is added; where
        something was changed or missed as well, all of it is read again."""
        async with view.pulling:
            for _ in range(MAX_TRIES):
                version, head = view.version, view.head
                if version >= conversation.chain_length:
                    return
                new = conversation.head - head
                only_new = version != STALE and conversation.chain_length - version == new
                begins = head if only_new else view.begins
                found = await self._read(conversation.id, begins, conversation.head)
                if (view.version, view.head) != (version, head):
                    continue  # this process has stored more meanwhile
                if not only_new:
                    self.counts.mended += 1
                    view.messages.clear()
                view.messages += found
                view.version = conversation.chain_length
                view.trim()
                return

    async def _read(self, where: ConversationId, after: int, upto: int) -> list[Message]:
        page = Page(after=after, before=upto + 1, limit=max(upto - after, 1), newest=True)
        return await self._reads.messages(where, page)

    def _make_room(self) -> None:
        while len(self._views) > MAX_VIEWS or (
            len(self._views) > 1 and sum(view.characters for view in self._views.values()) > MAX_CHARACTERS
        ):
            self._views.popitem(last=False)
