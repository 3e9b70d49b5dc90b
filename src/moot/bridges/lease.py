"""The lease of a bridge: one hub at a time runs it, and knows by its own clock when it must stop."""

from uuid import uuid4

from moot.flow.hold_bridge import HoldBridge
from moot.hub import Hub
from moot.model.records.chat_apps.bridge import BridgeLease

LEASE_SECONDS = 4.0
RENEW_SECONDS = 1.0
MARGIN_SECONDS = 1.0
"""Nothing is begun this shortly before the lease ends: another hub could take the post for abandoned."""


class Lease:
    def __init__(self, hub: Hub, bridge: str, *, holder: str = "") -> None:
        self._records = hub.bridges.records
        self._bridge = bridge
        self.holder = holder or f"b{uuid4().hex[:12]}"
        self._lease: BridgeLease | None = None
        self.sending: set[str] = set()
        """Posts whose result this process still owes; those that nobody claims are settled."""

    async def take(self) -> bool:
        """Take or renew the lease; whether it is ours now."""
        lease = await self._records.hold(
            HoldBridge(self._bridge, self.holder, LEASE_SECONDS, sending=tuple(self.sending))
        )
        self._lease = lease if lease.holder == self.holder else None
        return self._lease is not None

    def holds(self) -> bool:
        now = self._records.clock.now()
        return self._lease is not None and self._lease.until - MARGIN_SECONDS > now

    async def give_back(self) -> None:
        if self._lease is not None:
            self._lease = None
            await self._records.hold(HoldBridge(self._bridge, self.holder, 0.0, release=True))
