"""The link graph as a decision sees it: who is linked with whom, who stands above whom, who is bound.

A value: changing it makes another one. Stores keep one at hand and read the links again only when their version says
that somebody changed them. Above: links.py decides who may address whom, context/ tells agents their place. Below:
model/records/link.py.
"""

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from msgspec import json

from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.link import CHANNEL, Link, LinkId, LinkOrigin, Relationship

Ends = frozenset[ParticipantId]
VERSION_LETTERS: Final = 16


class Graph:
    """All links there are. Reading it takes no longer for a thousand of them than for one."""

    __slots__ = ("_by_id", "_by_pair", "_of")

    def __init__(self, links: Iterable[Link] = ()) -> None:
        self._by_id: dict[LinkId, Link] = {link.id: link for link in links}
        self._by_pair: dict[Ends, Link] = {frozenset(link.ends): link for link in self._by_id.values()}
        of: defaultdict[ParticipantId, list[Link]] = defaultdict(list)
        for link in self._by_id.values():
            for end in link.ends:
                of[end].append(link)
        self._of = dict(of)

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def all(self) -> list[Link]:
        """In the order in which they were made."""
        return list(self._by_id.values())

    def with_link(self, link: Link) -> "Graph":
        made = self.without(link.id) if self._moves(link) else self._copy()
        made._by_id[link.id] = made._by_pair[frozenset(link.ends)] = link
        for end in link.ends:
            others = [link if one.id == link.id else one for one in made.of(end)]
            made._of[end] = others if link in others else [*others, link]
        return made

    def without(self, link: LinkId) -> "Graph":
        gone, made = self._by_id.get(link), self._copy()
        if gone is not None:
            del made._by_id[link]
            made._by_pair.pop(frozenset(gone.ends), None)
            for end in gone.ends:
                made._of[end] = [one for one in self.of(end) if one.id != link]
        return made

    def _copy(self) -> "Graph":
        """All that is known of each link and each end, to be put in order for one link that changes: a thousand that
        change one by one are still soon done."""
        made = Graph()
        made._by_id, made._by_pair, made._of = dict(self._by_id), dict(self._by_pair), dict(self._of)
        return made

    def _moves(self, link: Link) -> bool:
        before = self._by_id.get(link.id)
        return before is not None and before.ends != link.ends

    def get(self, link: str) -> Link | None:
        return self._by_id.get(LinkId(link))

    def between(self, one: ParticipantId, other: ParticipantId) -> Link | None:
        return self._by_pair.get(frozenset((one, other)))

    def of_channel(self, conversation: ConversationId) -> Link | None:
        """The link whose channel a conversation is."""
        return self._by_id.get(LinkId(conversation.removeprefix(CHANNEL)))

    def of(self, participant_id: ParticipantId) -> list[Link]:
        return self._of.get(participant_id, [])

    def binds(self, participant_id: ParticipantId) -> bool:
        """Whether somebody has links that bind it under `auto`. One that is off binds too, or turning it off would set
        its ends free; one made by starting an agent binds that agent alone."""
        return any(
            link.origin is not LinkOrigin.SPAWN or link.target == participant_id
            for link in self.of(participant_id)
        )

    @property
    def version(self) -> str:
        """The same as long as every link says the same."""
        rows = sorted(
            (link.id, link.source, link.target, link.direction, link.relationship, link.enabled, link.origin)
            for link in self._by_id.values()
        )
        return sha256(json.encode(rows)).hexdigest()[:VERSION_LETTERS]

    # --- who stands where ----------------------------------------------------------------------------------

    def related(self, participant_id: ParticipantId, relationship: Relationship) -> list[ParticipantId]:
        """Those who are this to somebody, by links that are on."""
        return [
            link.other(participant_id)
            for link in self.of(participant_id)
            if link.enabled and link.seen_by(participant_id) is relationship
        ]

    def is_superior(self, one: ParticipantId, of: ParticipantId) -> bool:
        """Whether a link that is on says so."""
        link = self.between(one, of)
        return link is not None and link.enabled and link.superior == one

    def ring_with(self, link: Link) -> list[ParticipantId]:
        """The ring of superiors that a link would close, from one participant around to itself; empty where none."""
        top = link.superior
        if top is None:
            return []
        return self._way_up(top, link.other(top), link.id)

    def _way_up(self, start: ParticipantId, goal: ParticipantId, besides: LinkId) -> list[ParticipantId]:
        """From somebody up through superiors to somebody else, and back to the start."""
        came_from: dict[ParticipantId, ParticipantId] = {}
        ahead = [start]
        while ahead:
            here = ahead.pop()
            if here == goal:
                way = [here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return [*way, goal]
            for above in self._superiors(here, besides):
                if above not in came_from and above != start:
                    came_from[above] = here
                    ahead.append(above)
        return []

    def _superiors(self, participant_id: ParticipantId, besides: LinkId) -> list[ParticipantId]:
        """Whether they are on or off: what is off may be turned on again."""
        return [
            link.superior
            for link in self.of(participant_id)
            if link.id != besides and link.superior is not None and link.superior != participant_id
        ]


NO_LINKS = Graph()
