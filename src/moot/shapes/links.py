"""Links and the graph they make, as the outside sees them."""

from collections.abc import Mapping

from moot.model.records import link as model_link
from moot.rules.links import sentence
from moot.shapes.shape import Names, Shape, when
from moot.shapes.talk import Agent


class Link(Shape, frozen=True, rename={"sender": "from"}):
    """A link: who may write to whom, and who is whose superior."""

    id: str
    sender: str
    to: str
    direction: str
    relationship: str
    """What `from` is to `to`."""
    enabled: bool
    channel: str
    sentence: str
    origin: str
    place: str
    """File and line in moot.toml; empty for links made elsewhere."""
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, link: model_link.Link, names: Names, *, by_id: bool = False) -> "Link":
        """With the names of its ends, or with their ids for the topology, whose nodes are known by id."""
        return cls(
            id=link.id,
            sender=link.source if by_id else names(link.source),
            to=link.target if by_id else names(link.target),
            direction=link.direction.value,
            relationship=link.relationship.value,
            enabled=link.enabled,
            channel=link.channel,
            sentence=sentence(link, names),
            origin=link.origin.value,
            place=link.place,
            created_at=when(link.created_at),
            updated_at=when(link.updated_at),
        )


class MadeLink(Link, frozen=True, rename={"sender": "from"}):
    """A new link, and whom its agents can no longer write to."""

    cuts_off: Mapping[str, tuple[str, ...]] = {}
    """Agent name → those it could write to before and no longer can."""


class LinkRevision(Shape, frozen=True):
    """A link that was there, as it was and as it is."""

    before: Link
    after: Link


class AppliedLinks(Shape, frozen=True):
    """What a list of links changed, or would change."""

    made: tuple[Link, ...]
    """Without an id where this is only a look."""
    changed: tuple[LinkRevision, ...]
    removed: tuple[Link, ...]
    in_the_way: tuple[Link, ...]
    """Set in moot.toml, and said otherwise or not at all by the list: it can only be looked at, not applied."""
    cuts_off: Mapping[str, tuple[str, ...]]
    """By name: whom somebody could write to before, and no longer can."""
    version: str
    """Of the links as they were: `expects` of what applies this very change."""


class LinkEndPrompt(Shape, frozen=True):
    """Exactly what one agent's prompt says about a link; empty if it says nothing."""

    agent: str
    link: str
    """In the channel: whom it talks to there, and what that agent is to it."""
    organisation: str
    """Everywhere: its place in the organisation."""


class LinkPrompts(Shape, frozen=True):
    """What the prompts of both agents of a link say, `from` first."""

    id: str
    sentence: str
    prompts: tuple[LinkEndPrompt, ...]


class Point(Shape, frozen=True):
    """A position in the graph."""

    x: float
    y: float


class Positions(Shape, frozen=True):
    """The positions that people have set."""

    positions: Mapping[str, Point]
    """By id, which does not change when a name does."""


class TopologyNode(Agent, frozen=True):
    """An agent or a person in the graph."""

    x: float | None = None
    """None if no position was set."""
    y: float | None = None


class Topology(Shape, frozen=True):
    """All participants and the links between them."""

    agents: tuple[TopologyNode, ...]
    """People too; `kind` says which."""
    links: tuple[Link, ...]
    """Here `from` and `to` are ids, of `agents`."""
