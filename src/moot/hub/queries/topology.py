"""The whole map: everybody as a node, every link between them, and where people have put them."""

from msgspec import convert, structs

from moot import shapes
from moot.hub.agents import all_shaped
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import HUMAN
from moot.model.records.link import LINKS
from moot.model.records.position import POSITIONS, Position


async def topology(core: Core, me: ParticipantId) -> shapes.Topology:
    """As the caller may see it."""
    store, names = core.parts.store, core.directory.name
    places = {place.participant: place for place in await store.records(POSITIONS.all())}
    people = [
        participant
        for participant in await store.participants()
        if participant.listed or (participant.kind is HUMAN and not participant.removed)
    ]
    shown = await all_shaped(core, people)
    nodes = [
        _node(agent if me == core.user else structs.replace(agent, brain=""), places.get(participant.id))
        for participant, agent in zip(people, shown, strict=True)
    ]
    ids = {participant.id for participant in people}
    links = [
        shapes.Link.of(link, names, by_id=True)
        for link in await store.records(LINKS.all())
        if ids.issuperset(link.ends)
    ]
    return shapes.Topology(tuple(nodes), tuple(links))


def _node(agent: shapes.Agent, place: Position | None) -> shapes.TopologyNode:
    x, y = (place.x, place.y) if place is not None else (None, None)
    return shapes.TopologyNode(**structs.asdict(agent), x=x, y=y)


def positions(places: list[Position]) -> shapes.Positions:
    return convert(
        {"positions": {place.participant: {"x": place.x, "y": place.y} for place in places}}, shapes.Positions
    )
