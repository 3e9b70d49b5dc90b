"""The lease of a bridge: one hub at a time runs it, and knows by its own clock when it must stop."""

from uuid import uuid4

from moot.flow.hold_bridge import HoldBridge
from moot.hub import Hub
from moot.model.records.chat_apps.bridge import BridgeLease

LEASE_SECONDS = 4.0
RENEW_SECONDS = 1.0
MARGIN_SECONDS = 1.0
"""So long before its end nothing is begun any more: what is begun must not be seen as somebody else's."""


class Lease:
    def __init__(self, hub: Hub, bridge: str, *, holder: str = "") -> None:
        self._records = hub.bridges.records
        self._bridge = bridge
        self.holder = holder or f"b{uuid4().hex[:12]}"
        self._held: BridgeLease | None = None
        self.sending: set[str] = set()
        """Posts whose result is still to come from here; what nobody claims is settled."""

    async def take(self) -> bool:
        """Take or renew it; whether it is ours now."""
        held = await self._records.hold(
            HoldBridge(self._bridge, self.holder, LEASE_SECONDS, sending=tuple(self.sending))
        )
        self._held = held if held.holder == self.holder else None
        return self._held is not None

    def holds(self) -> bool:
        now = self._records.clock.now()
        return self._held is not None and self._held.until - MARGIN_SECONDS > now

    async def give_back(self) -> None:
        if self._held is not None:
            self._held = None
            await self._records.hold(HoldBridge(self._bridge, self.holder, 0.0, release=True))
