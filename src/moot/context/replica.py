"""A conversation as it grows from records: each says only that a seq was reached or changed, the words are pulled.

Records may come twice, late or not at all. What is missing is read from the store, what is known already is not read
again, so the view is the same whatever became of the records (SPEC K-07).
"""

from collections.abc import Awaitable, Callable

from moot.model.message import Message

Pull = Callable[[int, int], Awaitable[list[Message]]]
"""Messages with `after < seq <= upto`, in order."""


class Materialised:
    def __init__(self, pull: Pull) -> None:
        self._pull = pull
        self._messages: list[Message] = []
        self.gaps = 0
        """Records that skipped at least one before them."""
        self.repeats = 0

    @property
    def head(self) -> int:
        return len(self._messages)

    async def posted(self, seq: int) -> None:
        """A record says that the conversation reached a seq."""
        if seq <= self.head:
            self.repeats += 1
            return
        if seq > self.head + 1:
            self.gaps += 1
        self._messages += await self._pull(self.head, seq)

    async def changed(self, seq: int) -> None:
        """A record says that a message was edited or deleted."""
        if seq > self.head:
            await self.posted(seq)
            return
        [self._messages[seq - 1]] = await self._pull(seq - 1, seq)

    def between(self, after: int, upto: int) -> list[Message]:
        return self._messages[after:upto]
