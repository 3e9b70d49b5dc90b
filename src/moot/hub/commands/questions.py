"""Questions whose askers wait in this process: each is settled by the end of the turn that answers it.

Above: ask.py posts questions and waits here. Below: the log. One listener serves them all: thousands may wait at once.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from moot.model.event import Event
from moot.model.ids import ConversationId
from moot.model.turn import OPEN, Turn, TurnState

Question = tuple[ConversationId, int]
Ended = asyncio.Future[Turn]
MAX_EARLY = 1000


class Questions:
    def __init__(self) -> None:
        self._waiting: dict[Question, list[Ended]] = {}
        self._posting = 0
        self._early: dict[Question, Turn] = {}
        """Answers that arrived before the asker knew the number of its question. Bounded: an asker that finds nothing
        here and gets no event looks into the store when its time is over."""

    def on_events(self, events: list[Event]) -> None:
        """Settle the questions whose turns have ended."""
        if not self._posting and not self._waiting:
            return
        for event in events:
            if event.turn is not None and event.turn.state not in OPEN:
                self._ended(event.turn)

    def _ended(self, turn: Turn) -> None:
        call = turn.question
        if call is None or (turn.state is not TurnState.CANCELLED and call.seq > turn.hi):
            return
        question = turn.conversation, call.seq
        waiting = self._waiting.get(question)
        if waiting is None:
            if self._posting and len(self._early) < MAX_EARLY:
                self._early[question] = turn
            return
        for future in waiting:
            if not future.done():
                future.set_result(turn)

    @contextmanager
    def posting(self) -> Iterator[None]:
        """For the block keep early answers: the number of the question is not known yet."""
        self._posting += 1
        try:
            yield
        finally:
            self._posting -= 1
            if not self._posting:
                self._early.clear()

    @contextmanager
    def ended(self, question: Question) -> Iterator[Ended]:
        """The turn that ends with a question, once it is over."""
        future: Ended = asyncio.get_running_loop().create_future()
        early = self._early.pop(question, None)
        if early is not None:
            future.set_result(early)
        waiting = self._waiting.setdefault(question, [])
        waiting.append(future)
        try:
            yield future
        finally:
            waiting.remove(future)
            if not waiting:
                self._waiting.pop(question, None)
