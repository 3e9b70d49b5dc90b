"""Change a link: who may start, who stands above whom, whether it is on.

Turning a link off while the hub runs counts until somebody turns it on again, whatever moot.toml says. Everything else
about a link of moot.toml is changed there, or overridden until the file is read the next time.
"""

from msgspec import Struct, structs

from moot.errors import Conflict
from moot.flow.steps import channel
from moot.model.change import Decision
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.records.link import Direction, Link, LinkOrigin, Relationship
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class ChangeLink(Struct, frozen=True, gc=False):
    """None leaves as it is."""

    author: ParticipantId
    link: str
    direction: Direction | None = None
    relationship: Relationship | None = None
    enabled: bool | None = None
    override: bool = False
    """Also what moot.toml says of it, until the file is read the next time."""
    ends: tuple[ParticipantId, ...] = ()
    """Whom it links, as the caller knows it."""
    branches: tuple[ConversationId, ...] = ()
    """Where what was delegated over it is worked on."""


def scope(command: ChangeLink) -> Scope:
    return channel.cutting(command.author, command.link, command.ends, command.branches)


def decide(command: ChangeLink, seen: Seen, at: Moment) -> Decision[Link]:
    draft = Draft(seen, at)
    channel.by_person(draft, command.author)
    before = channel.found(seen.graph(), command.link)
    overrides = _overrides(command, before)
    after = structs.replace(
        before,
        direction=command.direction or before.direction,
        relationship=command.relationship or before.relationship,
        wanted=before.wanted or command.enabled is True,
        switched_off=before.switched_off if command.enabled is None else not command.enabled,
        origin=LinkOrigin.OVERRIDDEN if overrides else before.origin,
    )
    if after == before:
        return Decision([], before)
    channel.check(draft, after)
    if before.enabled and not after.enabled:
        channel.open_tasks(seen, before, command.branches)
    after = channel.change(draft, before, after, command.author)
    return Decision(draft.changes(), after)


def _overrides(command: ChangeLink, link: Link) -> bool:
    """Whether this says otherwise than moot.toml, which wins for what it names: only turning off and on needs no
    `override`."""
    wanted = command.direction or link.direction, command.relationship or link.relationship
    asks_more = command.direction is not None or command.relationship is not None
    if link.in_file and asks_more and not command.override:
        raise Conflict(
            f"this link is set in {link.place or 'moot.toml'}, which wins over changes made here",
            detail="it can be disabled and enabled here; change direction and relationship in the file, or override "
            "them until it is read again",
            fix=(
                Hint(Act.EDIT_SETTINGS),
                Hint(Act.OVERRIDE_LINK, id=link.id),
                Hint(Act.DISABLE_LINK, id=link.id),
            ),
            place=link.place,
        )
    return link.in_file and wanted != (link.direction, link.relationship)
