"""`hub.links`: links of the graph, found, made, changed and deleted."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from msgspec import convert, structs

from moot import shapes
from moot.errors import BadValue, NotFound, NotPermitted, StoreUnwritable
from moot.flow import erase, link, relink, unlink
from moot.flow.steps.channel import BranchesMoved
from moot.flow.sync_links import SyncedLinks, SyncLinks
from moot.hub.commands.link_sync import channels_of, configured, synced
from moot.hub.core import Core
from moot.model.conversation import Conversation
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.json import Json
from moot.model.records.link import CHANNEL, LINKS, Direction, Link, LinkOrigin, Relationship, pair_key
from moot.ports import Verb
from moot.rules.links import sentence
from moot.sdk.links import LinkCalls

C = TypeVar("C", relink.ChangeLink, unlink.Unlink)
E = TypeVar("E", Direction, Relationship)
TRIES: Final = 5
"""Tries, as somebody may delegate in between."""
A_PAIR = 2
MIN_ID_PREFIX = 4
"""Characters of an id that are enough to read a link; changing one takes the whole id."""


class Links(LinkCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def list(self, *, between: str | None = None) -> list[shapes.Link]:
        links = await self._core.parts.store.records(LINKS.all())
        if between is not None:
            ends = {(await self._core.directory.participant(name)).id for name in _names(between)}
            links = [link for link in links if ends <= set(link.ends)]
        return [self._shape(link) for link in links]

    async def get(self, id: str) -> shapes.Link:
        return self._shape(await self._find(id))

    async def prompts(self, id: str) -> shapes.LinkPrompts:
        link = await self._find(id)
        name = self._core.directory.name
        prompts = [await self._prompt(link, end) for end in self._own_ends(link)]
        return shapes.LinkPrompts(link.id, sentence(link, name), tuple(prompts))

    def _own_ends(self, link: Link) -> tuple[ParticipantId, ...]:
        """The ends whose prompts the caller may read: people both, an agent its own."""
        me = self._core.directory.by_id(self._me)
        if me is None or not me.speaks_in_turns:
            return link.ends
        if self._me not in link.ends:
            raise NotPermitted(
                f"{me.name} may not read what other agents are told",
                detail="an agent reads its own prompts only",
            )
        return (self._me,)

    async def _prompt(self, link: Link, end: ParticipantId) -> shapes.LinkEndPrompt:
        context = self._core.context
        place = await context.org_place(end)
        return shapes.LinkEndPrompt(
            agent=self._core.directory.name(end),
            link=context.organisation.link(link, end),
            organisation=context.organisation.place(place),
        )

    async def create(
        self,
        from_: str,
        to: str,
        *,
        relationship: str = "peer",
        direction: str = "two_way",
        enabled: bool = True,
    ) -> shapes.MadeLink:
        command = link.MakeLink(
            self._me,
            from_,
            to,
            _one_of(Direction, direction),
            _one_of(Relationship, relationship),
            enabled,
            await self._former(from_, to),
        )
        made = await self._core.do(link, command)
        shape = self._shape(made.link)
        cuts_off = {end: tuple(names) for end, names in made.cut_off.items()}
        return convert({**shape.to_dict(), "cuts_off": cuts_off}, shapes.MadeLink)

    async def _former(self, *ends: str) -> tuple[Conversation, ...]:
        """Archived channels of an earlier link of these two; the decision refuses unknown names."""
        participants = [await self._core.parts.store.participant(end) for end in ends]
        ids = [participant.id for participant in participants if participant is not None]
        return await channels_of(self._core, {pair_key(*ids)}) if len(ids) == A_PAIR else ()

    async def update(
        self,
        id: str,
        *,
        relationship: str | None = None,
        direction: str | None = None,
        enabled: bool | None = None,
        override: bool = False,
    ) -> shapes.Link:
        link = await self._find(id, whole=True)
        command = relink.ChangeLink(
            self._me,
            link.id,
            None if direction is None else _one_of(Direction, direction),
            None if relationship is None else _one_of(Relationship, relationship),
            enabled,
            override,
            link.ends,
        )
        return self._shape(await self._cutting(relink, command))

    async def delete(self, id: str, *, purge: bool = False) -> shapes.Link:
        link = await self._find(id, whole=True)
        deleted = await self._cutting(unlink, unlink.Unlink(self._me, link.id, link.ends))
        if purge:
            await self._core.do(erase, erase.Erase(self._me, deleted.channel))
        return self._shape(deleted)

    async def apply(
        self, links: Sequence[Mapping[str, Json]], *, dry_run: bool = False, expects: str | None = None
    ) -> shapes.AppliedLinks:
        rows = tuple(configured(number, row) for number, row in enumerate(links))
        command = SyncLinks(self._me, rows, origin=LinkOrigin.API, expects=expects or "", foresees=dry_run)
        applied = self._applied(await synced(self._core, command, dry=dry_run))
        if not dry_run:
            return applied
        return structs.replace(
            applied, made=tuple(structs.replace(one, id="", channel="") for one in applied.made)
        )

    def _applied(self, done: SyncedLinks) -> shapes.AppliedLinks:
        shape = self._shape
        return shapes.AppliedLinks(
            made=tuple(shape(link) for link in done.made),
            changed=tuple(shapes.LinkRevision(shape(one.before), shape(one.after)) for one in done.changed),
            removed=tuple(shape(link) for link in done.removed),
            in_the_way=tuple(shape(link) for link in done.left),
            cuts_off={participant_id: tuple(names) for participant_id, names in done.cut_off.items()},
            version=done.version,
        )

    async def _cutting(self, verb: Verb[C, Link], command: C) -> Link:
        """Carry out a verb that may cut a link. It also ends tasks delegated over it, which the decision has to see."""
        for _ in range(TRIES):
            try:
                return await self._core.do(verb, command)
            except BranchesMoved as moved:
                command = structs.replace(command, branches=moved.branches)
        raise StoreUnwritable(
            "others keep delegating over this link", fix=("try again",), retry_after_ms=1000
        )

    async def _find(self, ref: str, *, whole: bool = False) -> Link:
        """Find a link by its id, its channel or its two ends; for reading, a beginning of its id is enough."""
        target = ref.removeprefix(CHANNEL)
        graph = await self._core.parts.store.graph()
        if "," in target:
            ends = [(await self._core.directory.participant(name)).id for name in _names(target)]
            matching = [link for link in graph.of(ends[0]) if set(link.ends) == set(ends)]
        else:
            matching = [link for link in graph.all() if link.id == target]
        if not matching and not whole and len(target) >= MIN_ID_PREFIX:
            matching = [link for link in graph.all() if link.id.startswith(target)]
        if len(matching) > 1:
            raise BadValue(
                f'several links begin with "{ref}"', detail=", ".join(each.id for each in matching)
            )
        if not matching:
            raise NotFound(f'there is no link "{ref}"', what="link", fix=(Hint(Act.LIST_LINKS),), ref=ref)
        return matching[0]

    def _shape(self, link: Link) -> shapes.Link:
        return shapes.Link.of(link, self._core.directory.name)


def _names(between: str) -> list[str]:
    names = [name.strip().lstrip("@") for name in between.split(",") if name.strip()]
    if not 1 <= len(names) <= A_PAIR:
        raise BadValue(
            f'"{between}" names {len(names)} agents', detail='expected one or two, as in "arya,gendry"'
        )
    return names


def _one_of(kind: type[E], value: str) -> E:
    try:
        return kind(value)
    except ValueError:
        values = ", ".join(each.value for each in kind)
        raise BadValue(
            f'unknown {kind.__name__.lower()} "{value}"', detail=f"expected one of {values}"
        ) from None
