"""Whether what somebody showed at a door is good: settled by a decision, else asked before anything is told; and asked
again where time has passed since."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from moot.errors import MootError, Unauthenticated
from moot.hub import Hub
from moot.rules.access import Principal, unauthenticated


class Credential:
    """What one request shows: whose it is, and whether it is good as soon as that is known."""

    def __init__(self, who: Principal, ask: Callable[[], Awaitable[bool]] | None = None) -> None:
        """`ask` reads whether it is good; without it somebody else has vouched for the caller."""
        self.who = who
        self._ask = ask
        self.is_settled = ask is None or not who.token

    def settle(self) -> None:
        """Something was decided on it: it was good at that moment."""
        self.is_settled = True

    async def is_good(self) -> bool:
        if not self.is_settled and self._ask is not None:
            self.is_settled = await self._ask()
        return self.is_settled


async def still_good(hub: Hub, who: Principal) -> None:
    """Raise where a token was revoked while its request waited: what came meanwhile is not its bearer's."""
    if who.token:
        mine = {token.id: token for token in await hub.agents.tokens(who.id)}
        if who.token not in mine or mine[who.token].revoked_at:
            raise unauthenticated()


async def still_good_for(hub: Hub, who: Principal, handed: Sequence[str]) -> None:
    """The same where turns were handed out meanwhile: those that do not reach their agent wait for it again."""
    try:
        await still_good(hub, who)
    except Unauthenticated:
        for turn in handed:
            with suppress(MootError):  # ended meanwhile, or of a person, who has no turns
                await hub.mailbox.give_back(turn)
        raise
