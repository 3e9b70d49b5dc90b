"""Keeps early context available: after enough messages a chosen brain sums them up, independently of turns.

Nothing waits for it. A summary is stored under the epoch it was made for; if another process was faster, it is dropped.
A brain that fails is tried again after more messages.
"""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any

import structlog
from msgspec import Struct, to_builtins

from moot.context.frames import line
from moot.context.prompt import Context, framed
from moot.context.templates import Templates
from moot.context.window import visible
from moot.errors import Conflict
from moot.flow import summarise
from moot.model.conversation import Conversation
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId
from moot.model.message import MODEL
from moot.model.prompt import Prompt, PromptLine
from moot.ports import ConversationReads, Model, Page, Recall, Store
from moot.shapes import Names

log = structlog.get_logger("moot.summariser")

PATIENCE_SECONDS = 120.0
POSTED = EventType.MESSAGE_POSTED


class SummaryPlan(Struct, frozen=True):
    """When and how long: `every` messages make an epoch, half as many stay unsummarised behind it."""

    every: int
    words: int


class Summariser:
    def __init__(
        self,
        model: Model,
        plan: SummaryPlan,
        *,
        store: Store,
        reads: Any,
        context: Context,
        templates: Templates,
        names: Names,
    ) -> None:
        self._model = model
        self._plan = plan
        self._store = store
        self._conversations: ConversationReads = reads
        self._recall: Recall = reads
        self._context = context
        self._templates = templates
        self._names = names
        self._at_work: dict[ConversationId, asyncio.Task[None]] = {}

    def on_events(self, events: list[Event]) -> None:
        """A hint: after new messages a summary may be due. One at a time in each conversation."""
        for event in events:
            where = event.conversation
            if event.type == POSTED and event.seq % self._pace == 0 and where and where not in self._at_work:
                task = asyncio.get_running_loop().create_task(self._look(where))
                self._at_work[where] = task
                task.add_done_callback(partial(self._on_done, where))

    def _on_done(self, where: ConversationId, task: "asyncio.Task[None]") -> None:
        self._at_work.pop(where, None)

    @property
    def _pace(self) -> int:
        """How often to look: at every message in the smallest epochs, less often in larger ones."""
        return max(1, self._plan.every // 8)

    async def close(self) -> None:
        tasks = list(self._at_work.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._model.close()

    async def _look(self, where: ConversationId) -> None:
        try:
            conversation = await self._conversations.conversation(where)
            if conversation is not None and not conversation.archived:
                await self.summarise(conversation)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the border to foreign code: a failed summary costs only itself
            log.warning("no summary", action="summary_failed", conversation=where, error=str(error))

    async def summarise(self, conversation: Conversation) -> None:
        """Sum up old messages, if there are enough for an epoch."""
        upto = conversation.head - self._plan.every // 2
        if upto - conversation.summarised < self._plan.every:
            return
        prompt = await self._prompt(conversation, upto)
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await self._model.complete(prompt, _ignore_chunk)
        command = summarise.Summarise(
            conversation=conversation.id,
            epoch=conversation.epoch,
            upto=upto,
            text=answer.text,
            by=_public_name(self._model.name),
            usage=to_builtins(answer.usage),
        )
        with suppress(Conflict):
            await self._store.transact(summarise, command)

    async def _prompt(self, conversation: Conversation, upto: int) -> Prompt:
        frames = self._context.frames(conversation.id)
        page = Page(after=conversation.summarised, before=upto + 1, limit=upto - conversation.summarised)
        messages = await self._conversations.messages(conversation.id, page)
        parts = [frames.show(framed(message, self._names)) for message in messages if visible(message)]
        before = await self._recall.summary(conversation.id, upto=conversation.summarised)
        if before is not None:
            parts.insert(0, await self._context.summary(before))
        named = {"name": line(conversation.name)}
        system = self._templates.render("summary.md.j2", conversation=named, words=self._plan.words)
        return Prompt(system=system, lines=(PromptLine("user", "\n".join(parts)),))


def _public_name(name: str) -> str:
    """The model's name as everybody may see it: `demo`, or just "model". Which one is for the owner to know."""
    return MODEL if ":" in name else name


async def _ignore_chunk(chunk: str) -> None:
    """Nobody watches a summary being made."""
