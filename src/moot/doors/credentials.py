"""Whether a credential shown at a door is valid: settled by a decision, or else checked before anything is answered,
and again if time has passed since."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from moot.errors import MootError, Unauthenticated
from moot.hub import Hub
from moot.rules.access import Principal, unauthenticated


class Credential:
    """The credential of one request: whose it is, and, once that was checked, whether it is valid."""

    def __init__(self, caller: Principal, ask: Callable[[], Awaitable[bool]] | None = None) -> None:
        """`ask` reads whether it is valid; without it, somebody else has vouched for the caller."""
        self.caller = caller
        self._ask = ask
        self.is_settled = ask is None or not caller.token

    def settle(self) -> None:
        """A decision was made with it: it was valid at that moment."""
        self.is_settled = True

    async def is_good(self) -> bool:
        if not self.is_settled and self._ask is not None:
            self.is_settled = await self._ask()
        return self.is_settled


async def still_good(hub: Hub, caller: Principal) -> None:
    """Raise if a token was revoked while its request waited: what arrived meanwhile is not for its bearer."""
    if caller.token:
        mine = {token.id: token for token in await hub.agents.tokens(caller.id)}
        if caller.token not in mine or mine[caller.token].revoked_at:
            raise unauthenticated()


async def still_good_for(hub: Hub, caller: Principal, handed: Sequence[str]) -> None:
    """The same if turns were handed out meanwhile: those that do not reach their agent are offered again."""
    try:
        await still_good(hub, caller)
    except Unauthenticated:
        for turn in handed:
            with suppress(MootError):  # ended meanwhile, or of a person, who has no turns
                await hub.mailbox.give_back(turn)
        raise
