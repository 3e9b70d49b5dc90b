"""Sync a list of links with those there are: rows of moot.toml, or what somebody applies.

Which channels a decision needs is known only when it is known what changes; so the decision is repeated with them.
Above: process/settings_in_force.py, hub/links.py. Below: flow/sync_links.py.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from msgspec import ValidationError, convert, structs

from moot.errors import BadSettings, BadValue, MootError, NotFound, StoreUnwritable
from moot.flow import sync_links
from moot.flow.sync_links import ConfiguredLink, LinksMoved, SyncedLinks, SyncLinks
from moot.hub.core import Core
from moot.model.conversation import Conversation, ConversationKind
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId
from moot.model.json import Json
from moot.model.records.link import Link
from moot.model.records.task import TASKS
from moot.rules.words.mentions import nearest
from moot.settings import SettingsFile
from moot.settings.problems import SettingProblem, as_toml, did_you_mean
from moot.settings.values import LinkSettings

TRIES: Final = 5
"""Tries, as others may change links in between."""


async def synced(core: Core, command: SyncLinks, *, dry: bool = False) -> SyncedLinks:
    """What changed, or with `dry` what would."""
    for _ in range(TRIES):
        try:
            return await (core.foresee if dry else core.do)(sync_links, command)
        except LinksMoved as moved:
            branches = await _branches(core, moved.links)
            former = await channels_of(core, moved.fresh)
            command = structs.replace(command, known=moved.links, branches=branches, former=former)
    raise StoreUnwritable("links are being changed at the same time", fix=("try again",), retry_after_ms=1000)


async def channels_of(core: Core, pairs: Collection[str]) -> tuple[Conversation, ...]:
    """The archived channels of pairs that may be linked anew."""
    if not pairs:
        return ()
    archived = await core.parts.store.conversations(archived=True, kind=ConversationKind.LINK.value)
    return tuple(one for one in archived if one.key in pairs)


async def _branches(core: Core, links: tuple[Link, ...]) -> tuple[ConversationId, ...]:
    """The conversations of tasks delegated over these links."""
    tasks_by_link = [await core.parts.store.records(TASKS.where(open_over=link.id)) for link in links]
    return tuple(task.conversation for tasks in tasks_by_link for task in tasks if task.is_open)


def configured(number: int, row: Mapping[str, Json]) -> ConfiguredLink:
    """A row of a list to apply; the refusal names the row."""
    try:
        link = convert(row, LinkSettings)
    except ValidationError as wrong:
        fields = ", ".join(field.encode_name for field in structs.fields(LinkSettings))
        raise BadValue(
            f"links[{number}]: {wrong}", detail=f"fields of a link are {fields}", row=number
        ) from None
    return ConfiguredLink(link.sender, link.to, link.direction, link.relationship, link.enabled)


# --- of moot.toml -----------------------------------------------------------------------------------------


def rows_of(file: SettingsFile) -> tuple[ConfiguredLink, ...]:
    return tuple(
        ConfiguredLink(
            row.sender, row.to, row.direction, row.relationship, row.enabled, file.place(("links", number))
        )
        for number, row in enumerate(file.settings.links)
    )


def refuse_strangers(file: SettingsFile, names: Collection[str]) -> None:
    """Refuse links whose ends are neither agents of moot.toml nor known here."""
    described = [row.name for row in file.settings.agents]
    for problem in _strangers(file, {*names, *described}):
        raise file.refusal(problem)


def _strangers(file: SettingsFile, names: Collection[str]) -> Iterator[SettingProblem]:
    for number, row in enumerate(file.settings.links):
        for key, name in (("from", row.sender), ("to", row.to)):
            if name not in names:
                close = nearest(name, sorted(names))
                words = f"{key} = {as_toml(name)} is not an agent{did_you_mean(close)}"
                detail = "expected an agent in moot.toml, or one that has connected before"
                fix = (Hint(Act.EDIT_SETTINGS), Hint(Act.NEW_AGENT, agent=name))
                yield SettingProblem(("links", number, key), words, detail, close, fix)


def in_the_file(file: SettingsFile, refusal: MootError) -> MootError:
    """A refusal about a row, with the row's place in the file."""
    number = refusal.facts.get("row")
    if number is None or isinstance(refusal, BadSettings):
        return refusal
    row, path = file.settings.links[number], ("links", number)
    ends = {row.sender: "from", row.to: "to"}
    key = ends.get(str(refusal.facts.get("ref"))) if isinstance(refusal, NotFound) else None
    where = (*path, key) if key is not None else path
    words = f"this link cannot be created: {refusal.title}"
    return file.refusal(SettingProblem(where, words, refusal.detail, refusal.suggestions))
