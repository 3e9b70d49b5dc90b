"""Whether what somebody showed at a door is still good: asked again where time has passed since."""

from moot.doors.access import Principal, unauthenticated
from moot.hub import Hub


async def still_good(hub: Hub, who: Principal) -> None:
    """Raise where a token was revoked while its request waited: what came meanwhile is not its bearer's."""
    if who.token:
        mine = {token.id: token for token in await hub.agents.tokens(who.id)}
        if who.token not in mine or mine[who.token].revoked_at:
            raise unauthenticated()
