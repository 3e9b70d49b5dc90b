"""moot.toml as an open hub follows it: taken in when the home is opened, and again when it is written or somebody asks.

A file that is broken, or names somebody that nobody knows, changes nothing: what was in force stays so, and is told
where the file is wrong. What can be heeded at once is: links, policy, limits, groups, and the agents that the hub runs.
The rest waits for the next start, and the answer says so. A process that is not the hub follows when it hears that one
of them has taken the file in.

Above: runtime.py. Below: settings/ reads, flow/sync_links.py keeps the links. Not here: watching (file_watch.py), which
agents run (hosted_rows.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Final

import structlog
from msgspec import structs

from moot.errors import MootError
from moot.flow import enrol, report_config
from moot.flow.sync_links import SyncedLinks, SyncLinks
from moot.hub.commands.link_sync import in_the_file, refuse_strangers, rows_of, synced
from moot.hub.core import Core
from moot.hub.process import audit_log, file_watch
from moot.hub.process.hosted_rows import HostedRows
from moot.model.event import Event, EventType
from moot.model.participant import Participant
from moot.model.records.link import Link
from moot.model.records.share import CONFIG, SHARES
from moot.rules.links import sentence
from moot.settings import AgentSettings, Settings, SettingsFile, read
from moot.settings.changes import changed_fields, changed_settings, in_force
from moot.settings.load import data_of
from moot.settings.problems import as_toml
from moot.shapes import ConfigChange, Reloaded, when
from moot.wiring import check_places

log = structlog.get_logger("moot.config")

Newcomers = tuple[enrol.Newcomer, ...]
DIGEST: Final = "digest"
"""Key of the digest of the file that was taken in, by which other processes know whether they have the same."""
SETTLE_SECONDS: Final = 0.3
"""How long a file must be unchanged before it is taken in: editors write in steps."""
MAX_LOOKS: Final = 4
"""Looks at a file that keeps changing; then it is taken as it is, within two seconds of its first change."""
FRESH_SECONDS: Final = 1.0
"""A file written within this time may be incomplete for a process that only opens the home."""
MAX_LISTED_LINKS: Final = 200
"""Changed links that are listed one by one; the others are counted."""


class SettingsInForce:
    def __init__(
        self,
        core: Core,
        newcomers: Callable[[Settings], Newcomers],
        take_up: Callable[[Settings], Awaitable[Mapping[str, Participant]]],
        rules: Callable[[], bool] = lambda: True,
    ) -> None:
        self._core = core
        self._rules = rules
        """Whether this file says what links there are. Where several hubs work on one store, one of theirs does."""
        self._newcomers = newcomers
        """Everybody that some settings name."""
        self._take_up = take_up
        """Brings the registry up to date with some settings."""
        self._taking_in = asyncio.Lock()
        self._looked_at = core.parts.file.digest
        """The file that was last taken in, or refused."""
        self._at_opening: list[ConfigChange] = []
        """What changed when the home was opened, where nobody has been told."""
        self._applied_at = 0.0
        self._applied: tuple[ConfigChange, ...] = ()
        """What the last file that changed something has changed, and when."""
        self.rows: HostedRows | None = None
        """The agents that follow the file; None where others say who runs here."""

    # --- when the home is opened ---------------------------------------------------------------------------

    async def begin(self, *, is_hub: bool) -> None:
        """Apply the links of moot.toml; a refusal says where in the file. A process that is not the hub may find the
        file half written: then it removes nothing. Where a hub runs, only the hub follows the file."""
        file = self._core.parts.file
        refuse_strangers(file, await self._known())
        if is_hub and self._rules():
            await self._sync(file)
        elif is_hub:
            log.warning(await self._ruled_elsewhere(), action="config_ruled_elsewhere")
        elif not _is_blank(file) and not await self.hub_runs() and await self._is_whole(file):
            self._at_opening = self._link_changes(await self._sync(file))

    async def hub_runs(self) -> bool:
        parts = self._core.parts
        now = parts.clock.now()
        here = [host for host in await parts.store.hosts() if host.socket == str(parts.home.hub_sock)]
        rulers = await parts.store.records(SHARES.where(grp=CONFIG))
        return any(parts.presence.is_here(host, now) for host in here) or any(s.until > now for s in rulers)

    async def lead(self, groups: frozenset[str]) -> None:
        """This hub's file says what links there are, from now on: the hub whose file did has gone."""
        if CONFIG in groups:
            async with self._taking_in:
                file = self._core.parts.file
                with suppress(MootError):  # a file that names strangers is told of when it is taken in
                    refuse_strangers(file, await self._known())
                    await self._sync(file)

    async def _ruled_elsewhere(self) -> str:
        """Whose file it is, as a sentence for people."""
        rulers = await self._core.parts.store.records(SHARES.where(grp=CONFIG))
        whose = f" ({rulers[0].place})" if rulers and rulers[0].place else ""
        return (
            f"links are kept as the moot.toml of another hub says{whose}; [[links]] of this one are not used"
        )

    async def _is_whole(self, file: SettingsFile) -> bool:
        """Whether the file can be trusted to be complete: one that was just written and removes links may not be."""
        return not self._is_fresh() or not (await self._sync(file, dry=True)).removed

    def _is_fresh(self) -> bool:
        parts = self._core.parts
        try:
            written = parts.home.toml.stat().st_mtime
        except OSError:
            return False
        return abs(parts.clock.now() - written) < FRESH_SECONDS

    # --- while it is open ----------------------------------------------------------------------------------

    async def reload(self) -> Reloaded:
        """Take in the file as it is now; raises where it is refused, and then nothing has changed."""
        async with self._taking_in:
            return await self._reload()

    async def watch(self) -> None:
        """Follow the file for as long as the hub runs."""
        try:
            async for _ in file_watch.changes(self._core.parts.home.toml):
                async with self._taking_in:
                    await self._look()
        except OSError as trouble:
            log.warning(
                "moot.toml is not watched: reload it to apply changes",
                action="config_not_watched",
                error=str(trouble),
            )

    async def _look(self) -> None:
        """The file has changed. If it is empty or gone, it is about to be written, or was removed by mistake: that
        undoes nothing until somebody asks."""
        data = await self._settled()
        if not data.strip():
            log.warning("moot.toml is empty: the previous settings stay in force", action="config_empty")
        elif sha256(data).hexdigest() != self._looked_at:
            with suppress(MootError):  # told already
                await self._reload()

    async def _settled(self) -> bytes:
        """The file once nobody writes it any more, as far as that can be told; not for ever, though."""
        clock, data = self._core.parts.clock, self._data()
        for _ in range(MAX_LOOKS):
            await clock.sleep_until(clock.now() + SETTLE_SECONDS)
            before, data = data, self._data()
            if data == before:
                break
        return data

    def _data(self) -> bytes:
        try:
            return data_of(self._core.parts.home)
        except MootError:
            return b"unreadable"

    def on_events(self, events: list[Event]) -> None:
        """Another process may have taken the file in: from then on its terms hold here too."""
        digests = [
            (event.body or {}).get(DIGEST) for event in events if event.type is EventType.CONFIG_RELOADED
        ]
        if any(digest != self._core.parts.file.digest for digest in digests):
            self._core.spawn(self._follow())

    async def _follow(self) -> None:
        async with self._taking_in:
            with suppress(MootError):  # whoever took it in has told what is wrong with it since
                file = read(self._core.parts.home)
                self._adopt(file, in_force(self._core.parts.settings, file.settings))

    # --- taking it in --------------------------------------------------------------------------------------

    async def _reload(self) -> Reloaded:
        home = self._core.parts.home
        try:
            with suppress(MootError):
                self._looked_at = sha256(data_of(home)).hexdigest()
            file = read(home)
            check_places(file.settings, home)
            done = await self._taken_in(file)
        except MootError as refusal:
            log.error(f"{refusal.title}\n{refusal.detail}".strip(), action="config_refused")
            await self._report(refusal.to_dict(), refused=True)
            raise
        await audit_log.keep_up(self._core.parts.store, self._core.parts.settings)
        await self._report({**done.to_dict(), DIGEST: file.digest})
        return done

    async def _taken_in(self, file: SettingsFile) -> Reloaded:
        """All of it or nothing: whatever could be refused is tried before anything is done."""
        before = self._core.parts.settings
        now = in_force(before, file.settings)
        refuse_strangers(file, await self._known())
        coming = await self._core.parts.store.preview(enrol, enrol.Enrol(self._newcomers(now)))
        rules = self._rules()
        if rules:
            await self._sync(file, dry=True, coming=coming)
        enrolled = await self._take_up(now)
        links = await self._sync(file) if rules else SyncedLinks()
        self._adopt(file, now)
        troubles = await self._run_rows(before.agents, now.agents, enrolled)
        if not rules:
            troubles.append(await self._ruled_elsewhere())
        opened, self._at_opening = self._at_opening, []
        changes = (*opened, *_setting_changes(before, now, enrolled), *self._link_changes(links))
        restart = (change.key for change in changed_settings(now, file.settings))
        if changes:
            self._applied_at, self._applied = self._core.parts.clock.now(), changes
            return Reloaded(changes, tuple(restart), tuple(troubles))
        return Reloaded((), tuple(restart), tuple(troubles), when(self._applied_at), self._applied)

    def _adopt(self, file: SettingsFile, now: Settings) -> None:
        self._core.parts.adopt(structs.replace(file, settings=now))
        self._core.directory.groups = now.groups

    async def _run_rows(
        self,
        before: Iterable[AgentSettings],
        now: tuple[AgentSettings, ...],
        enrolled: Mapping[str, Participant],
    ) -> list[str]:
        if self.rows is None:
            return []
        changed = [row.name for row in now if row not in before]
        apart = [
            f"{name} runs as a daemon: restart the daemon to apply the change"
            for name in self.rows.left_to_daemons(changed)
        ]
        return [*await self.rows.follow(now, enrolled), *apart]

    async def _known(self) -> set[str]:
        """All names that somebody has."""
        people = await self._core.parts.store.participants()
        return {
            name
            for participant in people
            if not participant.removed
            for name in (participant.id, participant.name, *participant.aliases)
        }

    async def _sync(
        self, file: SettingsFile, *, dry: bool = False, coming: tuple[Participant, ...] = ()
    ) -> SyncedLinks:
        try:
            return await synced(self._core, SyncLinks(self._core.user, rows_of(file), coming=coming), dry=dry)
        except MootError as refusal:
            raise in_the_file(file, refusal) from None

    async def _report(self, body: dict[str, object], *, refused: bool = False) -> None:
        await self._core.do(report_config, report_config.ReportConfig(self._core.user, body, refused))

    # --- in words --------------------------------------------------------------------------------------------

    def _link_changes(self, done: SyncedLinks) -> list[ConfigChange]:
        links = [
            *(("added", link) for link in done.made),
            *(("changed", change.after) for change in done.changed),
            *(("removed", link) for link in done.removed),
        ]
        shown_links = [self._link_change(change, link) for change, link in links[:MAX_LISTED_LINKS]]
        rest = len(links) - len(shown_links)
        return (
            [*shown_links, ConfigChange("link", "", "changed", f"and {rest} more links")]
            if rest
            else shown_links
        )

    def _link_change(self, change: str, link: Link) -> ConfigChange:
        return ConfigChange("link", link.id, change, sentence(link, self._core.directory.name))


def _setting_changes(
    before: Settings, now: Settings, enrolled: Mapping[str, Participant]
) -> Iterator[ConfigChange]:
    for one in changed_settings(before, now):
        text = f"{one.key} = {as_toml(one.now)} (was {as_toml(one.before)})"
        yield ConfigChange("setting", one.key, "changed", text)
    old, new = ({row.name: row for row in settings.agents} for settings in (before, now))
    former = {name: _former_name(enrolled[name], old) for name in new if name not in old}
    for name, row in new.items():
        previous = former.get(name, name)
        if not previous:
            yield ConfigChange("agent", name, "added", f"{name} was added")
        elif fields := changed_fields(old[previous], row):
            other = [field for field in fields if field != "name"]
            called = [f"{previous} is now called {name}"] if previous != name else []
            has = [f"{name} has a new {', '.join(other)}"] if other else []
            yield ConfigChange("agent", name, "changed", "; ".join([*called, *has]))
    for name in old.keys() - new.keys() - {*former.values()}:
        yield ConfigChange("agent", name, "removed", f"{name} is no longer run; its messages stay")


def _former_name(participant: Participant, rows: Iterable[str]) -> str:
    """The name under which the file described it before."""
    return next((name for name in rows if name in (participant.id, *participant.aliases)), "")


def _is_blank(file: SettingsFile) -> bool:
    return not file.document.text.strip()
