"""A turn as its agent sees it while it speaks: what it reads, and how it answers."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from moot import shapes
from moot.host.view import View
from moot.model.turn import Duty
from moot.rules import roles
from moot.rules.silence import HoldBack


class Heard(Struct, frozen=True):
    """A message of the window, with its role as this agent sees it and its content as a model gets it."""

    message: shapes.Message
    role: str
    content: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.message, name)

    def to_dict(self) -> dict[str, Any]:
        return {**self.message.to_dict(), "role": self.role, "content": self.content}


class Speaking:
    """What a brain is handed. `say` streams; what is said last, returned or streamed, is the reply."""

    def __init__(
        self,
        view: View,
        conversation: shapes.Conversation,
        names: shapes.Names,
        stream: Callable[[str], Awaitable[None]],
        hub: Any,
    ) -> None:
        turn = view.turn
        self.id = str(turn.id)
        self.agent = names(turn.agent)
        self.role = view.agent.role
        self.conversation = conversation
        self.must_answer = turn.duty is Duty.MUST
        self.reason = turn.reason.value
        self.deadline = turn.deadline or None
        self.trigger = shapes.Message.of(view.trigger, names)
        self.text = view.trigger.text
        self.new = tuple(shapes.Message.of(message, names) for message in view.new)
        self.messages = _heard(view, names)
        self.hub = hub
        self.said = ""
        self._stream = stream
        self._hold_back = HoldBack()

    async def say(self, chunk: str) -> None:
        """Stream a piece of the reply. Text that may still become `[PASS]` is held back."""
        self.said += chunk
        shown = self._hold_back.feed(chunk)
        await self._stream(shown)


def _heard(view: View, names: shapes.Names) -> tuple[Heard, ...]:
    messages = [shapes.Message.of(message, names) for message in view.window]
    entries = [roles.Entry(author=m.sender, kind=m.kind, text=m.text) for m in messages]
    seen = roles.as_seen_by(names(view.agent.id), entries)
    return tuple(
        Heard(message=message, role=as_seen.role, content=as_seen.content)
        for message, as_seen in zip(messages, seen, strict=True)
    )
