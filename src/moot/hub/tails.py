"""The newest messages of active conversations, as bytes that were encoded once.

Pull, push and fan-out send the same bytes. A tail is served only while the version of its conversation, read with every
pull, says that nothing was posted, edited or deleted since, by any process; so it is never older than the store, and
losing all of them costs only time.

Above: hub/queries/encoded.py. Below: the read ports. Bounded in conversations, in messages and in bytes.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import json

from moot import shapes
from moot.model.event import TAKEN_BACK, Commit, Event
from moot.model.ids import ConversationId
from moot.model.message import FIRST_VERSION, Message
from moot.ports import ConversationReads, ConversationVersion, Page
from moot.shapes import Names

MAX_MESSAGES = 50
MAX_CONVERSATIONS = 512
MAX_BYTES = 32 * 1024 * 1024
"""Of all tails together; beyond it the least recently used are dropped."""
MAX_LINE_BYTES = 16 * 1024
"""The longest message that is kept; a longer one ends the tail before it."""

_encode = json.Encoder().encode


class Tail:
    __slots__ = ("begins", "lines", "size", "version")

    def __init__(self, version: int) -> None:
        self.version = version
        self.begins = 0
        """The seq of the first line; 0 while there is none."""
        self.lines: deque[bytes] = deque()
        self.size = 0
        """Bytes of its lines."""

    def append(self, seq: int, line: bytes) -> None:
        if not self.lines:
            self.begins = seq
        self.lines.append(line)
        self.size += len(line)
        if len(self.lines) > MAX_MESSAGES:
            self.size -= len(self.lines.popleft())
            self.begins += 1

    @property
    def ends(self) -> int:
        return self.begins + len(self.lines) - 1


class Tails:
    def __init__(self, reads: ConversationReads, names: Names) -> None:
        self._reads = reads
        self._names = names
        self._tails: OrderedDict[ConversationId, Tail] = OrderedDict()
        self._forgotten = 0
        """How often all tails were forgotten: bytes encoded before that are not kept."""
        self._streams = 0
        self._size = 0
        """Bytes of all tails."""

    def forget(self) -> None:
        """Somebody was renamed: the encoded bytes contain the old name."""
        self._tails.clear()
        self._size = 0
        self._forgotten += 1

    @contextmanager
    def streamed(self) -> Iterator[None]:
        """For the block keep every new message: each will be read, not only those that somebody pulled."""
        self._streams += 1
        try:
            yield
        finally:
            self._streams -= 1

    def on_commit(self, commit: Commit) -> None:
        """Messages that follow what is kept are added; anything else ends the tail."""
        for message in commit.messages if self._tails or self._streams else ():
            tail = self._tails.get(message.conversation)
            if tail is None:
                if self._streams:
                    self._begin(message)
            elif not self._append(tail, message):
                self._drop(message.conversation)
        self._make_room()

    def _begin(self, message: Message) -> None:
        """A tail of one. Its place in the chain is the version that the conversation had with it."""
        tail = Tail(message.chain_place - 1)
        if message.version == FIRST_VERSION and self._append(tail, message, first=True):
            self._keep(message.conversation, tail)

    def on_events(self, events: Sequence[Event]) -> None:
        """Drop tails whose messages were edited or deleted, by any process: they would not be served."""
        for event in events if self._tails else ():
            if event.type in TAKEN_BACK and event.conversation is not None:
                self._drop(event.conversation)

    def _append(self, tail: Tail, message: Message, *, first: bool = False) -> bool:
        """False where the message is not the next one, or too long to be kept."""
        line = self._line(message)
        if (message.seq != tail.ends + 1 and not first) or len(line) > MAX_LINE_BYTES:
            return False
        before, tail.version = tail.size, tail.version + 1
        tail.append(message.seq, line)
        if not first:
            self._size += tail.size - before
        return True

    def _line(self, message: Message) -> bytes:
        return _encode(shapes.Message.of(message, self._names))

    async def newest(self, ref: str, limit: int) -> list[bytes] | None:
        """The last messages of a conversation, ascending; None if there is no such conversation."""
        version = await self._reads.version(ref)
        return None if version is None else await self.newest_at(version, limit)

    async def newest_at(self, version: ConversationVersion, limit: int) -> list[bytes]:
        """The same for a conversation whose version was just read."""
        where = version.id
        tail = self._tails.get(where)
        if (
            tail is not None
            and tail.version == version.number
            and (len(tail.lines) >= limit or tail.begins == 1)
        ):
            self._tails.move_to_end(where)
            lines = tail.lines
            return [lines[at] for at in range(max(0, len(lines) - limit), len(lines))]
        return await self._read(version, limit)

    async def message(self, conversation: ConversationId, seq: int) -> bytes | None:
        """One message as it is now."""
        tail = self._tails.get(conversation)
        if tail is not None and tail.begins <= seq <= tail.ends:
            now = await self._reads.version(conversation)
            is_kept = (
                self._tails.get(conversation) is tail and tail.begins <= seq
            )  # it may have moved on meanwhile
            if now is not None and now.number == tail.version and is_kept:
                return tail.lines[seq - tail.begins]
        message = await self._reads.message(conversation, seq)
        return None if message is None else self._line(message)

    async def _read(self, version: ConversationVersion, limit: int) -> list[bytes]:
        where = version.id
        page = Page(limit=max(limit, MAX_MESSAGES), newest=True)
        messages, forgotten = await self._reads.messages(where, page), self._forgotten
        lines = [self._line(message) for message in messages]
        now = await self._reads.version(where)
        is_current = now is not None and now.number == version.number and forgotten == self._forgotten
        if is_current and all(len(line) <= MAX_LINE_BYTES for line in lines):
            tail = Tail(version.number)
            for message, line in zip(messages, lines, strict=True):
                tail.append(message.seq, line)
            self._keep(where, tail)
        return lines[-limit:] if limit > 0 else []

    def _keep(self, where: ConversationId, tail: Tail) -> None:
        self._drop(where)
        self._tails[where] = tail
        self._size += tail.size
        self._make_room()

    def _drop(self, where: ConversationId) -> None:
        dropped = self._tails.pop(where, None)
        if dropped is not None:
            self._size -= dropped.size

    def _make_room(self) -> None:
        while len(self._tails) > MAX_CONVERSATIONS or self._size > MAX_BYTES:
            _, dropped = self._tails.popitem(last=False)
            self._size -= dropped.size


def json_array(lines: list[bytes]) -> bytes:
    """Lines as one JSON array."""
    return b"[" + b",".join(lines) + b"]"
