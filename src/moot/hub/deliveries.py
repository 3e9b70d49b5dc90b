"""`hub.deliveries`: how far messages got with agents, what got lost, and asking once more."""

from collections.abc import Sequence

from msgspec import structs

from moot import shapes
from moot.flow import post
from moot.flow.steps.posted import Posted
from moot.hub.queries import outcomes, turns
from moot.hub.queries.addresses import located, message_at
from moot.hub.speaker import Speaker
from moot.model.answer import Receipt
from moot.sdk.deliveries import DeliveryCalls


class Deliveries(DeliveryCalls):
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._core = speaker.core

    async def of(self, message_id: str) -> list[shapes.DeliveryProgress]:
        return await outcomes.of_message(self._core, *located(message_id))

    async def dead_letters(self, *, agent: str | None = None) -> list[shapes.Turn]:
        return await turns.dead_letters(self._core, self._speaker.me, agent)

    async def redeliver(self, turn_id: str, *, idempotency_key: str | None = None) -> Receipt:
        turn = await turns.by_number(self._core, turn_id)
        again = outcomes.again(turn, self._core.directory.name(turn.agent))
        command = self._speaker.posting(**again, key=idempotency_key or self._core.fresh_key())
        return await self._speaker.post(command)

    async def ask_again(
        self, message_id: str, agents: Sequence[str], *, idempotency_key: str | None = None
    ) -> Receipt:
        conversation, seq = located(message_id)
        message = await message_at(self._core, message_id)
        command = self._speaker.posting(
            conversation,
            outcomes.again_of(self._speaker.shape(message)),
            reply_to=seq,
            force=agents,
            key=idempotency_key or self._core.fresh_key(),
            max_turns=len(agents),
            metadata={"again": message_id},
        )
        posted: Posted = await self._core.do(post, structs.replace(command, mentions=()))
        return posted.receipt()
