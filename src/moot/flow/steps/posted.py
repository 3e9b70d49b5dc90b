"""What came of a post: the message, and what was known about its agents then. Its receipt is written when it is read.

A writer that has others waiting notes what a receipt needs; whoever posted works out what to make of it, and many
who post never do. Above: post.py answers with it. Below: rules/why.py says each agent's part.
"""

from msgspec import Struct

from moot.model.answer import Receipt, Warned
from moot.model.message import Message
from moot.rules import why


class Posted(Struct, frozen=True, gc=False):
    """All of it is values, so that it says the same whenever it is asked."""

    message: Message
    sender: str
    scene: why.Scene | None
    """None: the key was used before, and this is the message that was posted then."""
    warnings: tuple[Warned, ...] = ()

    def receipt(self) -> Receipt:
        """What the sender is told: the message is durable, and what it set off."""
        message = self.message
        return Receipt(
            id=message.id,
            seq=message.seq,
            conversation=message.conversation,
            sender=self.sender,
            root=message.root,
            hop=message.hop,
            deliveries=why.deliveries(message, self.scene) if self.scene is not None else (),
            warnings=self.warnings,
            replayed=self.scene is None,
        )
