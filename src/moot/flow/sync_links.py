"""Sync links: a list of links, as a whole, is what there shall be.

`[[links]]` of moot.toml wins for what it names: its links are made or changed, also where somebody made them by hand
before; those that it named before and no longer does are gone; those that people made stay. What somebody turned off
while the hub ran stays off. A list that a person applies is all links there shall be: those of people are made, changed
or deleted as it says. Links of moot.toml it may repeat; where it says them otherwise, or not at all, it is refused as a
whole.
"""

from collections.abc import Iterator, Set
from contextlib import contextmanager

from msgspec import Struct, structs

from moot.errors import Conflict, MootError
from moot.flow.steps import acts, channel, find
from moot.model.change import Decision
from moot.model.conversation import Conversation
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.link import Direction, Link, LinkId, LinkOrigin, Relationship, pair_key
from moot.model.records.task import TASKS
from moot.ports import Scope
from moot.rules import links
from moot.rules.draft import Draft, Seen
from moot.rules.graph import Graph


class ConfiguredLink(Struct, frozen=True, gc=False):
    """A row of the list."""

    source: str
    target: str
    direction: Direction
    relationship: Relationship
    enabled: bool
    place: str = ""
    """File and line."""


class SyncLinks(Struct, frozen=True, gc=False):
    author: ParticipantId
    links: tuple[ConfiguredLink, ...]
    known: tuple[Link, ...] = ()
    """Links that will change or go, as far as the caller knows: the decision needs their channels."""
    branches: tuple[ConversationId, ...] = ()
    """Where what was delegated over these is worked on."""
    former: tuple[Conversation, ...] | None = None
    """Channels that were archived, among which new links find what they had before; None: nobody has looked."""
    origin: LinkOrigin = LinkOrigin.CONFIG
    """Whose list it is: moot.toml's, or of what people have made."""
    expects: str = ""
    """The version of the links that whoever applies the list has looked at; others by now: refused."""
    foresees: bool = False
    """Only a look at what would change: what stands in its way is listed, not refused."""
    coming: tuple[Participant, ...] = ()
    """Of a look at what would change: those who would be enrolled first, as they would be then."""


class LinkChange(Struct, frozen=True, gc=False):
    before: Link
    after: Link


class SyncedLinks(Struct, frozen=True, gc=False):
    made: tuple[Link, ...] = ()
    changed: tuple[LinkChange, ...] = ()
    removed: tuple[Link, ...] = ()
    left: tuple[Link, ...] = ()
    """Those of others that the list says otherwise, or not at all: they stand in its way."""
    cut_off: dict[str, list[str]] = {}
    """By name: whom somebody could write to before, and no longer can. Of a list that a person applies."""
    version: str = ""
    """Of the links that were there before."""

    def __bool__(self) -> bool:
        return bool(self.made or self.changed or self.removed)


class LinksMoved(Exception):
    """Links will change whose channels the caller did not bring along: sync anew, with these. `fresh` says between whom
    there will be links that are not there now."""

    def __init__(self, links: tuple[Link, ...], fresh: frozenset[str]) -> None:
        super().__init__()
        self.links = links
        self.fresh = fresh


class LinkPlan:
    """What becomes of the links there are, row by row."""

    def __init__(self, graph: Graph, origin: LinkOrigin, rows: list[Link], gone: Set[ParticipantId]) -> None:
        self.fresh: list[tuple[int, Link]] = []
        self.changed: list[tuple[int, LinkChange]] = []
        self.moved: list[Link] = []
        """The same as before, but for how and where it is written."""
        self.left: list[tuple[int | None, Link]] = []
        """Each with the row that says it otherwise."""
        named = {frozenset(row.ends) for row in rows}
        others = [link for link in graph.all() if frozenset(link.ends) not in named]
        self.removed = [link for link in others if _is_of(link, origin)]
        if origin is not LinkOrigin.CONFIG:
            # who was removed finds its links again when it comes back
            self.removed = [link for link in self.removed if gone.isdisjoint(link.ends)]
            self.left = [(None, link) for link in others if not _is_of(link, origin)]
        for number, row in enumerate(rows):
            self._add(number, row, graph.between(*row.ends))

    def _add(self, number: int, row: Link, before: Link | None) -> None:
        if before is None:
            self.fresh.append((number, row))
            return
        after = _kept(before, row)
        if row.origin is not LinkOrigin.CONFIG:
            if before.meaning == row.meaning:
                return  # however it is written
            if before.origin is not row.origin:
                self.left.append((number, before))
            else:
                self.changed.append((number, LinkChange(before, after)))
        elif _is_other(before, after):
            self.changed.append((number, LinkChange(before, after)))
        elif after != before:
            self.moved.append(after)

    @property
    def touched(self) -> tuple[Link, ...]:
        """Those whose channels have to be at hand."""
        return (*self.removed, *(change.before for _, change in self.changed))


def scope(command: SyncLinks) -> Scope:
    names = [name for row in command.links for name in (row.source, row.target)]
    pairs = [channel.pairs_of(command.author, link.ends) for link in command.known]
    former = command.former or ()
    channels = [link.channel for link in command.known]
    return Scope(
        refs=(
            *_channel_names(command),
            *(ref for refs in pairs for ref in refs),
            *(one.name for one in former),
        ),
        conversations=(*channels, *(one.id for one in former), *command.branches),
        names=(command.author, *names),
        records=(acts.HEAD, *(TASKS.where(open_over=link.id) for link in command.known)),
        everyone=True,
    )


def decide(command: SyncLinks, seen: Seen, at: Moment) -> Decision[SyncedLinks]:
    draft = Draft(seen, at)
    for participant in command.coming:
        draft.put_participant(participant)
    channel.by_person(draft, command.author)
    _check_version(command, seen.graph())
    gone = {participant.id for participant in seen.everyone() if participant.removed}
    plan = LinkPlan(seen.graph(), command.origin, _rows(command, draft), gone)
    if plan.left and not command.foresees:
        raise _in_the_way(draft, *plan.left[0])
    is_unknown = bool(plan.fresh) and command.former is None
    if is_unknown or not _are_at_hand(plan.touched, command, seen):
        raise LinksMoved(plan.touched, frozenset(pair_key(*row.ends) for _, row in plan.fresh))
    author = command.author
    for link in plan.removed:
        channel.remove(draft, link, author)
    for link in plan.moved:
        acts.put_link(draft, AuditedAct.LINK_CHANGED, link, author)
    names = _channel_names(command)
    former = command.former or ()
    made = [
        (number, channel.make(draft, _new(draft, row), author, names, former)) for number, row in plan.fresh
    ]
    changed = [
        (number, LinkChange(one.before, channel.change(draft, one.before, one.after, author)))
        for number, one in plan.changed
    ]
    # only now: what one row closes to a ring another may have opened
    for number, link in (*made, *((number, one.after) for number, one in changed)):
        with _naming_row(number):
            channel.check(draft, link)
    done = SyncedLinks(
        tuple(link for _, link in made),
        tuple(change for _, change in changed),
        tuple(plan.removed),
        tuple(link for _, link in plan.left),
    )
    if command.origin is not LinkOrigin.CONFIG:
        touched = [*done.made, *(one.after for one in done.changed), *done.removed]
        lost = channel.cut_off(draft, seen.graph(), touched)
        done = structs.replace(done, cut_off=lost, version=seen.graph().version)
    return Decision(draft.changes(), done)


def _check_version(command: SyncLinks, graph: Graph) -> None:
    if command.expects and command.expects != graph.version:
        raise Conflict(
            "the links have changed since you looked",
            detail="nothing was changed: look again at what the list would do, and apply it then",
            fix=(Hint(Act.LIST_LINKS),),
            expected=command.expects,
            version=graph.version,
        )


def _in_the_way(draft: Draft, number: int | None, link: Link) -> Conflict:
    ends = " and ".join(draft.name(end) for end in link.ends)
    says = "says otherwise" if number is not None else "does not have"
    whose = link.place or "moot.toml" if link.in_file else "an agent that started another"
    refusal = Conflict(
        f"the link of {ends} is set by {whose}, and this list {says}" + (" it" if number is None else ""),
        detail=f"it is now: {links.sentence(link, draft.name)} Nothing was changed",
        fix=("add it to the list unchanged", Hint(Act.EDIT_SETTINGS)),
        link=link.id,
        place=link.place,
    )
    if number is not None:
        refusal.facts["row"] = number
    return refusal


def _channel_names(command: SyncLinks) -> dict[str, None]:
    return {channel.name_between(row.source, row.target): None for row in command.links}


def _are_at_hand(links: tuple[Link, ...], command: SyncLinks, seen: Seen) -> bool:
    """Their channels, and where what was delegated over them is worked on."""
    link_ids = {link.id for link in command.known}
    tasks = [task for link in links for task in seen.records(TASKS.where(open_over=link.id)) if task.is_open]
    return all(link.id in link_ids for link in links) and all(
        task.conversation in command.branches for task in tasks
    )


def _rows(command: SyncLinks, draft: Draft) -> list[Link]:
    """The links that the list describes; two rows for one pair are refused, under whatever names."""
    found: dict[frozenset[ParticipantId], Link] = {}
    for number, row in enumerate(command.links):
        with _naming_row(number):
            link = _described(row, command, draft.seen)
            if found.setdefault(frozenset(link.ends), link) is not link:
                raise Conflict(f"{draft.name(link.source)} and {draft.name(link.target)} are linked twice")
    return list(found.values())


def _described(row: ConfiguredLink, command: SyncLinks, seen: Seen) -> Link:
    coming = {
        name: participant
        for participant in command.coming
        for name in (participant.id, *participant.aliases, participant.name)
    }
    source, target = (coming.get(name) or find.addressee(seen, name) for name in (row.source, row.target))
    return Link(
        id=LinkId(""),
        source=source.id,
        target=target.id,
        direction=row.direction,
        relationship=row.relationship,
        wanted=row.enabled,
        origin=command.origin,
        place=row.place,
    )


@contextmanager
def _naming_row(number: int) -> Iterator[None]:
    """A refusal says which row it is about."""
    try:
        yield
    except MootError as refusal:
        refusal.facts.setdefault("row", number)
        raise


def _new(draft: Draft, row: Link) -> Link:
    now = draft.at.now
    return structs.replace(row, id=channel.new_id(draft), created_at=now, updated_at=now)


def _kept(before: Link, row: Link) -> Link:
    """What the row says, with what only the hub knows. Who applies a list says what is on; moot.toml does not turn on
    what was turned off by hand."""
    by_hand = before.switched_off and row.origin is LinkOrigin.CONFIG
    return structs.replace(
        row,
        id=before.id,
        switched_off=by_hand,
        created_at=before.created_at,
        updated_at=before.updated_at,
    )


def _is_of(link: Link, origin: LinkOrigin) -> bool:
    """Whether a list of this origin says what becomes of the link."""
    return link.in_file if origin is LinkOrigin.CONFIG else link.origin is origin


def _is_other(before: Link, after: Link) -> bool:
    """Whether people should hear of it: not of the line it stands in."""
    return (before.meaning, before.origin, before.wanted) != (after.meaning, after.origin, after.wanted)
