"""`hub.audit`: the log of what was done and refused, and the proof that nothing was altered. For the owner only."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import structs

from moot import shapes
from moot.errors import BadValue, NotPermitted
from moot.hub.core import Core
from moot.hub.process import heads_key
from moot.hub.process.heads_file import HeadsFile
from moot.hub.queries.posted_log import posted_entries
from moot.model.ids import ParticipantId
from moot.model.records.audit import AuditedAct, AuditEntry, AuditQuery
from moot.rules.words import search
from moot.sdk.audit import AuditCalls
from moot.sdk.call import in_process

MAX_ENTRIES: Final = 1000


class Audit(AuditCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def log(
        self,
        *,
        agent: str | None = None,
        link: str | None = None,
        conversation: str | None = None,
        acts: Sequence[str] = (),
        since: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[shapes.AuditEntry]:
        self._owner_only()
        core, now = self._core, self._core.parts.clock.now()
        participant_id = (await core.directory.participant(agent)).id if agent else ""
        query = AuditQuery(
            since=search.moment("since", since, now) if since else 0.0,
            before=search.moment("before", before, now) if before else 0.0,
            agent=participant_id,
            subjects=(f"link {link}", f"conversation link:{link}") if link else (),
            acts=_acts(acts),
            limit=max(0, min(limit, MAX_ENTRIES)),
        )
        if conversation is not None:
            return await posted_entries(core, conversation, query)
        entries = await core.parts.store.audit_entries(query)
        if link is not None:
            entries = [*entries, *await self._refused_over(link, query)]
            entries.sort(key=lambda entry: (entry.last_at, entry.chain, entry.place), reverse=True)
        return [shapes.AuditEntry.of(entry, core.directory.name) for entry in entries[: query.limit]]

    async def _refused_over(self, link: str, query: AuditQuery) -> list[AuditEntry]:
        """What a link has refused to its two ends, which is recorded in their chains."""
        store, others = self._core.parts.store, structs.replace(query, subjects=())
        created = await store.audit_entries(AuditQuery(subjects=(f"link {link}",), limit=1))
        ends = {str(entry.detail[side]) for entry in created for side in ("from", "to")}
        refused = structs.replace(others, acts=(AuditedAct.REFUSED,), limit=MAX_ENTRIES)
        entries = [
            entry
            for end in sorted(ends)
            for entry in await store.audit_entries(structs.replace(refused, agent=end))
        ]
        names = {end: self._core.directory.name(ParticipantId(end)) for end in ends}
        return [
            entry
            for entry in {(entry.chain, entry.place): entry for entry in entries}.values()
            if others.picks(entry) and (entry.detail.get("link") == link or _is_between(entry, names))
        ]

    async def verify(self) -> shapes.AuditReport:
        return await self.verified()

    @in_process("the same, for whoever shows how far it is")
    async def verified(self, progress: Callable[[int], None] = lambda messages: None) -> shapes.AuditReport:
        """Walk every chain; `progress` is called with the number of messages read."""
        self._owner_only()
        core = self._core
        # the file is read first: it may be written while the chains are read
        file = await asyncio.to_thread(self._heads)
        report = await core.parts.store.verify(file.heads, progress)
        report = structs.replace(report, problems=(*file.problems, *report.problems))
        return shapes.AuditReport.of(report, core.directory.name)

    def _heads(self) -> HeadsFile:
        parts = self._core.parts
        key = heads_key.read(heads_key.place_of(parts.home, parts.settings.hub.audit_key))
        file = HeadsFile(parts.home, key)
        file.read()
        return file

    def _owner_only(self) -> None:
        if self._me != self._core.user:
            raise NotPermitted("only the owner may read the audit", detail="it says what everybody did")


def _is_between(entry: AuditEntry, names: Mapping[str, str]) -> bool:
    """Whether a limit between the two refused it, not a link: then the entry names no link, but the addressee."""
    agent = entry.subject.removeprefix("agent ")
    others = [name for end, name in names.items() if end != agent]
    return "link" not in entry.detail and agent in names and entry.detail.get("to") in others


def _acts(words: Sequence[str]) -> tuple[AuditedAct, ...]:
    acts = {act.value for act in AuditedAct}
    unknown = [word for word in words if word not in acts]
    if unknown:
        raise BadValue(f'unknown act "{unknown[0]}"', detail=f"acts are {', '.join(sorted(acts))}")
    return tuple(AuditedAct(word) for word in words)
