"""Hold shares: a host keeps the parts it has, takes free ones up to what is its due, and gives back what is too many.

Done every second by whoever runs an agent with several partitions, and by hubs for what only one of them does. A part
whose holder has not been heard of for `HELD_SECONDS` is free; its next holder gets a higher fence. No events: nobody
but the holders acts on it, and turns have fences of their own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.ids import HostId, ParticipantId
from moot.model.moment import Moment
from moot.model.records.share import SHARES, Share
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

HELD_SECONDS: Final = 4.0


class SharedGroup(Struct, frozen=True, gc=False):
    """Work that is shared among hosts, in this many parts."""

    name: str
    parts: int
    agent: ParticipantId | None = None
    """Whoever runs it could have a part; without one, whoever asks."""


class HoldShares(Struct, frozen=True, gc=False):
    host: HostId
    groups: tuple[SharedGroup, ...]
    place: str = ""
    give_back: bool = False
    """All of them: the host is going."""


def scope(command: HoldShares) -> Scope:
    return Scope(hosts=True, records=tuple(SHARES.where(grp=group.name) for group in command.groups))


def decide(command: HoldShares, seen: Seen, at: Moment) -> Decision[tuple[Share, ...]]:
    """What the host holds from now on."""
    draft = Draft(seen, at)
    held: list[Share] = []
    for group in command.groups:
        held += _hold(draft, command, group)
    return Decision(draft.changes(), tuple(held))


def _hold(draft: Draft, command: HoldShares, group: SharedGroup) -> list[Share]:
    now, me = draft.at.now, command.host
    shares_by_part = {share.part: share for share in draft.records(SHARES.where(grp=group.name))}
    mine = [share for share in shares_by_part.values() if share.host == me and share.until > 0]
    due = 0 if command.give_back else _due(draft, group, me, list(shares_by_part.values()))
    fitting = [share for share in mine if share.part < group.parts]
    kept, surplus = fitting[:due], [share for share in mine if share not in fitting[:due]]
    for share in surplus:
        draft.put(SHARES, structs.replace(share, until=0.0))
    free = [
        part for part in range(group.parts) if part not in shares_by_part or shares_by_part[part].until <= now
    ]
    taken = [part for part in free if part not in {share.part for share in mine}][: due - len(kept)]
    new = [shares_by_part.get(part) or Share(group.name, part, me, 0, 0.0) for part in taken]
    until = now + HELD_SECONDS
    held = [structs.replace(share, until=until, place=command.place) for share in kept]
    held += [Share(group.name, one.part, me, one.fence + 1, until, command.place) for one in new]
    for share in held:
        draft.put(SHARES, share)
    return held


def _due(draft: Draft, group: SharedGroup, me: HostId, shares: list[Share]) -> int:
    now = draft.at.now
    held = Counter(share.host for share in shares if share.until > now or share.host == me)
    silent = {share.host for share in shares if 0 < share.until <= now}
    running = {
        host.id
        for host in draft.seen.hosts()
        if group.agent is not None and host.lease_until > now and group.agent in host.agents
    }
    return _quota(me, (running | {*held}) - silent, group.parts, held)


def _quota(host: HostId, rivals: Iterable[HostId], parts: int, held: Mapping[HostId, int]) -> int:
    """As many parts as anybody has, and one more for those who hold most already: nothing moves without need."""
    ranked = sorted({*rivals, host}, key=lambda one: (-held.get(one, 0), one))
    each, over = divmod(parts, len(ranked))
    return each + (ranked.index(host) < over)
