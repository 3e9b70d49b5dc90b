"""Whether what somebody showed at a door is still good: asked again where time has passed since."""

from collections.abc import Sequence
from contextlib import suppress

from moot.errors import MootError, Unauthenticated
from moot.hub import Hub
from moot.rules.access import Principal, unauthenticated


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
