"""The participant as whom a hub's methods act, with its open turn if it has one.

Above: Hub and those of its subjects that say something. Below: the core, and the verb that posts.
"""

from typing import Any

import msgspec

from moot import shapes
from moot.errors import BadValue
from moot.flow import post
from moot.flow.post import Post
from moot.flow.steps.posted import Posted
from moot.hub.commands.advice import advised
from moot.hub.core import Core
from moot.model.answer import Receipt
from moot.model.ids import ParticipantId
from moot.model.message import Message
from moot.model.turn import Turn
from moot.rules.words.text import storable


class Speaker:
    def __init__(self, core: Core, me: ParticipantId, turn: Turn | None = None) -> None:
        self.core = core
        self.me = me
        self.turn = turn

    def posting(self, conversation: str, text: str, **fields: Any) -> Post:
        """A message, checked and ready to be posted; it belongs to the turn that is open."""
        text = self.checked(text)
        fields["intent"] = fields.pop("intent", None) or ""
        fields["force"] = tuple(fields.pop("force", ()))
        if partials := self.core.partials():
            fields["partials"] = partials  # it may stop agents that let themselves be interrupted
        if self.turn is not None:
            fields |= {"turn": self.turn.id, "fence": self.turn.fence}
        try:
            return msgspec.convert(
                msgspec.structs.asdict(post.posting(self.me, conversation, text, **fields)), Post
            )
        except msgspec.ValidationError as problem:
            raise BadValue(f"cannot post this: {problem}") from problem

    def checked(self, text: str) -> str:
        return storable(text, self.core.parts.settings.limits.message_bytes)

    async def post(self, command: Post, max_turns: int | None = None) -> Receipt:
        posted: Posted = await self.core.do(post, command)
        return advised(self.core, posted, max_turns)

    def shape(self, message: Message) -> shapes.Message:
        return shapes.Message.of(message, self.core.directory.name)
