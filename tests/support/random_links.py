"""A hub whose links change at random, and beside it the plain list by which the second opinion judges."""

import random
from itertools import combinations

from moot import Hub
from moot.shapes import Link
from tests.support.link_policy import PlainLink, allowed

NAMES = "abcde"
PAIRS = list(combinations(NAMES, 2))


class ChangingLinks:
    def __init__(self, hub: Hub, policy: str, chance: random.Random) -> None:
        self._hub = hub
        self._policy = policy
        self._chance = chance
        self.links: dict[tuple[str, str], Link] = {}

    async def change(self, pair: tuple[str, str] | None = None) -> None:
        """One pair anew, any or this one: linked one way or both, off, on, or parted."""
        chance = self._chance
        pair = pair or chance.choice(PAIRS)
        link = self.links.pop(pair, None)
        direction = chance.choice(["one_way", "two_way"])
        if link is None:
            ends = pair if chance.random() < 0.5 else pair[::-1]
            on = chance.random() < 0.8
            self.links[pair] = await self._hub.links.create(*ends, direction=direction, enabled=on)
        elif chance.random() < 0.7:
            await self._hub.links.delete(link.id)
        else:
            changed = await self._hub.links.update(link.id, direction=direction, enabled=not link.enabled)
            self.links[pair] = changed

    async def clear(self) -> None:
        for link in self.links.values():
            await self._hub.links.delete(link.id)
        self.links.clear()

    def two(self) -> tuple[str, str]:
        """Who writes to whom; more often than not two that are linked."""
        if self.links and self._chance.random() < 0.6:
            pair = self._chance.choice(sorted(self.links))
            return pair if self._chance.random() < 0.5 else pair[::-1]
        sender, receiver = self._chance.sample(NAMES, 2)
        return sender, receiver

    def allow(self, sender: str, receiver: str, *, answers: bool = False) -> bool:
        return allowed([*map(plain, self.links.values())], self._policy, sender, receiver, answers=answers)


def plain(link: Link) -> PlainLink:
    return PlainLink(link.sender, link.to, link.direction == "one_way", link.enabled, by_spawn=False)
