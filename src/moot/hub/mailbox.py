"""`hub.mailbox`: outside agents, which no host runs, fetch their messages and end their turns."""

from collections.abc import Sequence

from moot import shapes
from moot.errors import Stale
from moot.hub.external import handover, open_turn
from moot.hub.queries.addresses import located
from moot.hub.queries.turns import by_number
from moot.hub.speaker import Speaker
from moot.model.answer import Receipt
from moot.rules.words.silence import is_silence
from moot.sdk.mailbox import MailboxCalls


class Mailbox(MailboxCalls):
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._core = speaker.core
        self._me = speaker.me

    async def check(
        self, *, limit: int = 50, handed: Sequence[str] | None = None, held: Sequence[str] = ()
    ) -> shapes.Handed:
        return await handover.check(self._core, handover.check_request(self._me, limit, handed, held))

    async def wait(
        self,
        *,
        timeout: float = 30.0,  # noqa: ASYNC109
        limit: int = 50,
        handed: Sequence[str] | None = None,
        held: Sequence[str] = (),
    ) -> shapes.Handed:
        return await handover.wait(self._core, handover.check_request(self._me, limit, handed, held), timeout)

    async def reply(
        self, message_id: str, text: str, *, idempotency_key: str | None = None
    ) -> Receipt | None:
        to, key = located(message_id), idempotency_key or self._core.fresh_key()
        if is_silence(text):
            await handover.pass_over(self._core, self._me, to)
            return None
        try:
            return await handover.reply(self._core, self._me, to, self._speaker.checked(text), key)
        except Stale:  # it was answered before, or its time is over: this is one more message
            late = self._speaker.posting(to[0], text, reply_to=to[1], key=key)
            return await self._speaker.post(late)

    async def view(self, turn_id: str, *, messages: int = 20, tokens: int = 8000) -> shapes.View:
        turn = await by_number(self._core, turn_id)
        return await open_turn.view(self._core, self._me, turn, messages, tokens)

    async def end(self, turn_id: str, *, text: str | None = None, error: str | None = None) -> shapes.Turn:
        turn = await by_number(self._core, turn_id)
        return await open_turn.end(self._core, self._me, turn, text=text, error=error)

    async def give_back(self, turn_id: str) -> None:
        await open_turn.give_back(self._core, self._me, await by_number(self._core, turn_id))
