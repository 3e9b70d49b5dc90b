"""Link two participants: from here on they may write to each other, and its channel is open.

A link also binds: under `auto` whoever has one writes only along links. The answer says whom that cuts off.
"""

from msgspec import Struct

from moot.flow.steps import acts, channel, find
from moot.model.change import Decision
from moot.model.conversation import Conversation
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.link import Direction, Link, LinkOrigin, Relationship
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class MakeLink(Struct, frozen=True, gc=False):
    author: ParticipantId
    source: str
    target: str
    direction: Direction = Direction.TWO_WAY
    relationship: Relationship = Relationship.PEER
    enabled: bool = True
    former: tuple[Conversation, ...] = ()
    """Channels that were archived, as the caller found them: theirs is opened again."""


class LinkMade(Struct, frozen=True, gc=False):
    link: Link
    cut_off: dict[str, list[str]]
    """By the name of an end: whom it could write to before, and no longer can."""


def scope(command: MakeLink) -> Scope:
    name = channel.name_between(command.source, command.target)
    names = (command.author, command.source, command.target)
    return Scope(
        refs=(name, *(one.name for one in command.former)),
        conversations=tuple(one.id for one in command.former),
        names=names,
        records=(acts.HEAD,),
        everyone=True,
    )


def decide(command: MakeLink, seen: Seen, at: Moment) -> Decision[LinkMade]:
    draft = Draft(seen, at)
    channel.by_person(draft, command.author)
    source, target = (find.addressee(seen, name) for name in (command.source, command.target))
    link = Link(
        id=channel.new_id(draft),
        source=source.id,
        target=target.id,
        direction=command.direction,
        relationship=command.relationship,
        wanted=command.enabled,
        origin=LinkOrigin.API,
        created_at=at.now,
        updated_at=at.now,
    )
    channel.check(draft, link)
    names = {channel.name_between(command.source, command.target)}
    link = channel.make(draft, link, command.author, names, command.former)
    lost = channel.cut_off(draft, seen.graph(), [link])
    return Decision(draft.changes(), LinkMade(link, lost))
