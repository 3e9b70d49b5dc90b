"""Links and the graph they make, as the outside sees them."""

from collections.abc import Mapping

from moot.model.records import link as model_link
from moot.rules.links import sentence
from moot.shapes.shape import Names, Shape, when
from moot.shapes.talk import Agent


class Link(Shape, frozen=True, rename={"sender": "from"}):
    """Who may write to whom, and who stands above whom."""

    id: str
    sender: str
    to: str
    direction: str
    relationship: str
    """What `from` is of `to`."""
    enabled: bool
    channel: str
    sentence: str
    origin: str
    place: str
    """Where moot.toml says so: file and line; empty for others."""
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, link: model_link.Link, names: Names) -> "Link":
        return cls(
            id=link.id,
            sender=names(link.source),
            to=names(link.target),
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
    """A new link, and whom it cuts off from whom."""

    cuts_off: Mapping[str, tuple[str, ...]] = {}
    """By the name of an end: whom it could write to before, and no longer can."""


class LinkEndPrompt(Shape, frozen=True):
    """What one end of a link is told of it, to the letter. Empty where it is told nothing."""

    agent: str
    link: str
    """In the channel: whom it talks to there, and what that one is to it."""
    organisation: str
    """Everywhere: its place in the organisation."""


class LinkPrompts(Shape, frozen=True):
    """What both ends of a link are told, `from` first."""

    id: str
    sentence: str
    prompts: tuple[LinkEndPrompt, ...]


class Point(Shape, frozen=True):
    """A place on the map."""

    x: float
    y: float


class Positions(Shape, frozen=True):
    """Where people have put whom."""

    positions: Mapping[str, Point]
    """By id, which stays when a name changes."""


class TopologyNode(Agent, frozen=True):
    """An agent or a person on the map."""

    x: float | None = None
    """None where nobody has put it anywhere yet."""
    y: float | None = None


class Topology(Shape, frozen=True):
    """Everybody, and every link between them."""

    agents: tuple[TopologyNode, ...]
    """People too; `kind` says which."""
    links: tuple[Link, ...]
    """Here `from` and `to` are ids, of `agents`."""
