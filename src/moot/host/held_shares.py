"""The shares this process holds: requested and renewed every second, and used only while they certainly hold.

Above: the host asks whether it may take a turn, and is called when it has gained shares; the runtime asks whether this
hub's moot.toml rules. Below: flow/hold_shares.py. Agents with one partition need none: any host may claim their turns.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import structlog

from moot.errors import MootError
from moot.flow import hold_shares
from moot.flow.hold_shares import HELD_SECONDS, HoldShares, SharedGroup
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.records.share import Share, group_of, part_of
from moot.ports import Clock, Store

log = structlog.get_logger("moot.host")

EVERY_SECONDS: Final = 1.0
MAX_TRIES: Final = 3
Gained = Callable[[frozenset[str]], Awaitable[None]]


class HeldShares:
    def __init__(self, host: HostId, store: Store, clock: Clock, place: str = "") -> None:
        self._host = host
        self._store = store
        self._clock = clock
        self._place = place
        self._groups: dict[str, SharedGroup] = {}
        self._parts: dict[str, frozenset[int]] = {}
        self._valid_until = 0.0
        self._listeners: list[Gained] = []
        self._any_wanted = asyncio.Event()
        """Set while any share is wanted; otherwise there is nothing to renew every second."""

    def when_gained(self, listener: Gained) -> None:
        """Call `listener` with the groups of which this process has gained a part."""
        self._listeners.append(listener)

    def want(self, groups: Iterable[SharedGroup]) -> None:
        self._groups |= {group.name: group for group in groups}
        self._any_wanted.set()

    def want_agent(self, agent: ParticipantId, parts: int) -> None:
        """The agent runs here; with one part it is not shared."""
        if parts > 1:
            self.want([SharedGroup(group_of(agent), parts, agent)])
        else:
            self._groups.pop(group_of(agent), None)

    async def let_go(self, names: Iterable[str]) -> None:
        """Give these back, so that others need not wait."""
        released = [self._groups.pop(name) for name in names if name in self._groups]
        for group in released:
            self._parts.pop(group.name, None)
        if released:
            await self._store.transact(
                hold_shares, HoldShares(self._host, tuple(released), self._place, give_back=True)
            )

    async def let_all_go(self) -> None:
        await self.let_go(list(self._groups))

    def owns(self, agent: ParticipantId, conversation: ConversationId) -> bool:
        """Whether this process may take turns of this agent in this conversation."""
        group = self._groups.get(group_of(agent))
        return group is None or part_of(conversation, group.parts) in self._parts_of(group.name)

    def count(self) -> int:
        """Parts of agents that are held here."""
        return sum(
            len(self._parts_of(name)) for name, group in self._groups.items() if group.agent is not None
        )

    def holds(self, group: str) -> bool:
        return bool(self._parts_of(group))

    def _parts_of(self, group: str) -> frozenset[int]:
        return self._parts.get(group, frozenset()) if self._clock.now() < self._valid_until else frozenset()

    async def run(self) -> None:
        """For as long as the process lives."""
        while True:
            if not self._groups:
                self._any_wanted.clear()
            await self._any_wanted.wait()
            await self.renew()
            await self._clock.sleep_until(self._clock.now() + EVERY_SECONDS)

    async def renew(self) -> None:
        """Renew once; and once more if that took so long that the shares have already run out."""
        for _ in range(MAX_TRIES):
            if not self._groups or not await self._renew_once() or self._clock.now() < self._valid_until:
                return

    async def _renew_once(self) -> bool:
        now = self._clock.now()
        before = {name: self._parts_of(name) for name in self._groups}
        command = HoldShares(self._host, tuple(self._groups.values()), self._place)
        try:
            shares: tuple[Share, ...] = await self._store.transact(hold_shares, command)
        except MootError as trouble:
            log.warning("shares not renewed", action="shares_not_renewed", error=str(trouble))
            return False
        self._valid_until = now + HELD_SECONDS
        self._parts = {
            name: frozenset(share.part for share in shares if share.grp == name) for name in self._groups
        }
        gained = frozenset(
            name for name, parts in self._parts.items() if parts - before.get(name, frozenset())
        )
        if gained:
            log.info("shares gained", action="shares_gained", groups=sorted(gained))
            for listener in self._listeners:
                await listener(gained)
        return True
