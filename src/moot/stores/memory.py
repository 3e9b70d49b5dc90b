"""A store in memory: the same runner, verbs and fold over plain dictionaries. Ships in `moot.testing`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from moot.model.chain import Pair, Root
from moot.model.conversation import Conversation, Member
from moot.model.event import Commit, Event
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.message import ConversationGlance, Message, Revision, Summary
from moot.model.participant import Host, Participant, Quota
from moot.model.query import Query
from moot.model.records.audit import AUDIT_ENTRIES, CHAIN_HEADS, OF_TASK, AuditEntry, AuditQuery, ChainEnd
from moot.model.records.link import LINKS
from moot.model.records.note import NOTES
from moot.model.records.outbox import OUTBOX, OutboxDepth, OutboxRow, topic_of
from moot.model.records.record import Lookup, R
from moot.model.records.task import TASKS, UNFINISHED, Task
from moot.model.records.wait import WAITS, Wait
from moot.model.round import Round
from moot.model.turn import MOVES_CURSOR, Turn, TurnState
from moot.ports import AuditReport, BatchWatcher, ConversationVersion, Health, Page, Verb
from moot.rules.audit import KnownHead
from moot.rules.graph import Graph
from moot.stores.memory_engine import MemoryEngine, Shelf
from moot.stores.query_match import matches
from moot.stores.runner import Job, Source, run_jobs


class MemoryStore:
    """Write side and read ports over one shelf. A second store on the same shelf is a restart."""

    def __init__(
        self,
        source: Source,
        on_commit: Callable[[Commit], None] = lambda commit: None,
        shelf: Shelf | None = None,
        engine: type[MemoryEngine] = MemoryEngine,
    ) -> None:
        self.shelf = shelf or Shelf()
        self._engine = engine(self.shelf)
        self._source = source
        self._on_commit = on_commit

    def watch_batches(self, watcher: BatchWatcher) -> None:
        """A command is a batch of its own here, and takes no time worth measuring."""

    async def transact(self, verb: Verb[Any, Any], command: Any) -> Any:
        return self._run(Job(verb, command, dry=False))

    async def preview(self, verb: Verb[Any, Any], command: Any) -> Any:
        return self._run(Job(verb, command, dry=True))

    async def close(self) -> None:
        await asyncio.sleep(0)

    async def check(self) -> Health:
        """Nothing can be wrong with what was never on a disk."""
        return Health("memory", "", durable=False, messages=sum(map(len, self.shelf.messages.values())))

    async def verify(
        self, heads: Mapping[str, KnownHead], progress: Callable[[int], None] = lambda messages: None
    ) -> AuditReport:
        """Nobody can have altered it."""
        entries = self.shelf.records.every(AUDIT_ENTRIES)
        health = await self.check()
        return AuditReport(health.messages, len(entries), 0, 0, has_begun=bool(entries))

    async def audit_entries(self, query: AuditQuery) -> list[AuditEntry]:
        found = [entry for entry in self.shelf.records.every(AUDIT_ENTRIES) if query.picks(entry)]
        found.sort(key=lambda entry: (entry.last_at, entry.chain, entry.place), reverse=True)
        return found[: query.limit]

    async def chain_ends(self, *, since: float) -> list[ChainEnd]:
        records = self.shelf.records
        ends = [
            ChainEnd(f"conversation:{one.id}", one.chain_length, one.chain)
            for one in self.shelf.conversations.values()
            if one.updated_at >= since and one.chain_length
        ]
        ends += [
            ChainEnd(f"note:{one.name}", one.version, one.hash)
            for one in records.every(NOTES)
            if one.updated_at >= since
        ]
        ends += [
            ChainEnd(f"{OF_TASK}{one.id}", one.chain_length, one.chain)
            for one in records.every(TASKS)
            if one.updated_at >= since and one.chain_length
        ]
        for head in records.every(CHAIN_HEADS):
            sealed = records.find(AUDIT_ENTRIES.one(head.chain, head.sealed))
            ends += [ChainEnd(head.chain, entry.place, entry.hash) for entry in sealed]
        return ends

    def _run(self, job: Job) -> Any:
        for commit in run_jobs(self._engine, [job], self._source):
            if commit.events:
                self._on_commit(commit)
        if job.error is not None:
            raise job.error
        return job.answer

    # --- Conversations ---------------------------------------------------------------------------------

    async def version(self, ref: str, member: ParticipantId | None = None) -> ConversationVersion | None:
        found = await self.conversation(ref)
        if found is None:
            return None
        members = [one.participant for one in await self.members(found.id)]
        return ConversationVersion(found.id, found.chain_length, member in members)

    async def conversation(self, ref: str) -> Conversation | None:
        by_name: Conversation | None = None
        for conversation in self.shelf.conversations.values():
            if conversation.id == ref:
                return conversation
            if not conversation.archived and ref in (conversation.name, conversation.key):
                by_name = conversation
        return by_name

    async def conversations(self, *, archived: bool, kind: str | None) -> list[Conversation]:
        found = self.shelf.conversations.values()
        return [c for c in found if c.archived == archived and (kind is None or c.kind == kind)]

    async def members(self, conversation: ConversationId) -> list[Member]:
        members = self.shelf.members.get(conversation, {}).values()
        return sorted(members, key=lambda member: member.position)

    async def members_everywhere(self, *, archived: bool) -> list[Member]:
        found = [c.id for c in self.shelf.conversations.values() if c.archived == archived]
        return [member for where in found for member in await self.members(where)]

    async def glances(self, reader: ParticipantId, *, archived: bool, limit: int) -> list[ConversationGlance]:
        found = []
        for place in self.shelf.conversations.values():
            messages = self.shelf.messages.get(place.id, [])
            if place.archived == archived and messages:
                mine = self.shelf.members.get(place.id, {}).get(reader)
                beyond = messages[mine.cursor :] if mine is not None else []
                unread = sum(message.is_for(reader) for message in beyond)
                found.append(ConversationGlance(place.id, messages[-1], min(unread, limit)))
        return found

    async def messages(self, conversation: ConversationId, page: Page) -> list[Message]:
        held = self.shelf.messages.get(conversation, [])
        found = held[page.after : None if page.before is None else max(page.before - 1, 0)]
        return found[max(len(found) - page.limit, 0) :] if page.newest else found[: page.limit]

    async def message(self, conversation: ConversationId, seq: int) -> Message | None:
        held = self.shelf.messages.get(conversation, [])
        return held[seq - 1] if 0 < seq <= len(held) else None

    async def revisions(self, conversation: ConversationId) -> list[Revision]:
        return list(self.shelf.revisions.get(conversation, []))

    # --- Search ----------------------------------------------------------------------------------------

    async def search(self, query: Query, limit: int) -> list[tuple[Message, str]]:
        found = sorted(self._matching(query), key=lambda message: message.at, reverse=True)
        return [(message, message.text) for message in found[: max(limit, 0)]]

    async def count(self, query: Query, limit: int) -> int:
        return min(len(self._matching(query)), limit)

    def _matching(self, query: Query) -> list[Message]:
        shelf = self.shelf
        return [
            message
            for where, messages in shelf.messages.items()
            for message in messages
            if matches(
                query,
                message,
                shelf.conversations[where].kind if where in shelf.conversations else None,
                shelf.members.get(where, {}),
            )
        ]

    # --- Turns -----------------------------------------------------------------------------------------

    async def turn(self, turn: TurnId) -> Turn | None:
        return self.shelf.turns.get(turn)

    async def turns(
        self,
        *,
        conversation: ConversationId | None = None,
        agent: ParticipantId | None = None,
        states: Sequence[TurnState] = (),
        limit: int = 1000,
    ) -> list[Turn]:
        found = [
            turn
            for turn in self.shelf.turns.values()
            if (conversation is None or turn.conversation == conversation)
            and (agent is None or turn.agent == agent)
            and (not states or turn.state in states)
        ]
        return sorted(found, key=lambda turn: turn.id)[-limit:]

    async def turns_about(self, conversation: ConversationId, seq: int) -> list[Turn]:
        here = [turn for turn in self.shelf.turns.values() if turn.conversation == conversation]
        found = [turn for turn in here if turn.lo < seq and (turn.hi >= seq or turn.hi == 0)]
        return sorted(found, key=lambda turn: turn.id)

    async def round(self, conversation: ConversationId, opener: int) -> Round | None:
        return self.shelf.rounds.get(conversation, {}).get(opener)

    async def due(self, now: float) -> list[ConversationId]:
        turns = {turn.conversation for turn in self._due_turns() if turn.due <= now}
        tasks = {task.conversation for task in self._due_tasks() if task.deadline <= now}
        return sorted(turns | tasks | {wait.conversation for wait in self._due_waits() if wait.until <= now})

    async def next_due(self) -> float | None:
        moments = [turn.due for turn in self._due_turns()] + [task.deadline for task in self._due_tasks()]
        return min(moments + [wait.until for wait in self._due_waits()], default=None)

    def _due_waits(self) -> list[Wait]:
        return [wait for wait in self.shelf.records.every(WAITS) if wait.left_until]

    def _due_tasks(self) -> list[Task]:
        open_ones = [
            task for state in UNFINISHED for task in self.shelf.records.find(TASKS.where(state=state))
        ]
        return [task for task in open_ones if task.deadline and task.conversation in self.shelf.conversations]

    def _due_turns(self) -> list[Turn]:
        return [turn for by_id in self.shelf.open_turns.values() for turn in by_id.values() if turn.due]

    # --- Recall ----------------------------------------------------------------------------------------

    async def secret(self) -> str:
        return self.shelf.secret

    async def summary(self, conversation: ConversationId, *, upto: int) -> Summary | None:
        found = [s for s in self.shelf.summaries.get(conversation, []) if s.upto <= upto]
        return max(found, key=lambda summary: summary.epoch, default=None)

    async def summary_of(self, conversation: ConversationId, epoch: int) -> Summary | None:
        kept = self.shelf.summaries.get(conversation, [])
        return next((summary for summary in kept if summary.epoch == epoch), None)

    async def turns_before(self, turn: Turn, *, reading_to: int, limit: int) -> list[Turn]:
        ended = await self.turns(conversation=turn.conversation, agent=turn.agent, states=tuple(MOVES_CURSOR))
        return [t for t in ended if t.id < turn.id and t.hi >= reading_to][-limit:]

    async def text(self, digest: str) -> str | None:
        return self.shelf.texts.get(digest)

    # --- People and events -------------------------------------------------------------------------------

    async def participants(self) -> list[Participant]:
        return [self._engine.person(participant_id) for participant_id in self.shelf.participants]

    async def participant(self, name: str) -> Participant | None:
        if ParticipantId(name) in self.shelf.participants:
            return self._engine.person(ParticipantId(name))
        for participant in self.shelf.participants.values():
            if name in (participant.name, *participant.aliases):
                return self._engine.person(participant.id)
        return None

    async def hosts(self) -> list[Host]:
        return list(self.shelf.hosts.values())

    async def graph(self) -> Graph:
        return Graph(self.shelf.records.find(LINKS.all()))

    async def records(self, lookup: Lookup[R]) -> list[R]:
        return self.shelf.records.find(lookup)

    async def note_count(self) -> int:
        return len(self.shelf.records.every(NOTES))

    async def pairs(self, *, since: float) -> list[Pair]:
        found = [pair for pair in self.shelf.pairs.values() if pair.last >= since]
        return sorted(found, key=lambda pair: (pair.sender, pair.receiver))

    async def quotas(self) -> list[Quota]:
        return sorted(self.shelf.quotas.values(), key=lambda quota: quota.agent)

    async def root(self, root: RootId) -> Root | None:
        return self.shelf.roots.get(root)

    async def events(
        self,
        *,
        after: int,
        conversation: ConversationId | None = None,
        types: Sequence[str] = (),
        limit: int = 500,
    ) -> list[Event]:
        found = [
            event
            for event in self.shelf.events
            if event.id > after
            and (conversation is None or event.conversation == conversation)
            and (not types or event.type in types)
        ]
        return found[:limit]

    async def last_event(self) -> int:
        return self.shelf.next_event - 1

    async def horizon(self) -> int:
        return self.shelf.horizon

    async def instance(self) -> str:
        return "memory"

    async def unpublished(self, limit: int, without: Sequence[ParticipantId] = ()) -> list[OutboxRow]:
        waiting = [row for row in self.shelf.records.every(OUTBOX) if row.topic not in without]
        return sorted(waiting, key=OUTBOX.key)[:limit]

    async def outbox_depth(self, limit: int) -> OutboxDepth:
        waiting = await self.unpublished(limit)
        return OutboxDepth(len(waiting), min((one.at for one in waiting), default=None))

    async def homes_of(self, agents: Sequence[ParticipantId]) -> list[tuple[ParticipantId, ParticipantId]]:
        found: set[tuple[ParticipantId, ParticipantId]] = set()
        for conversation in self.shelf.conversations.values():
            members = await self.members(conversation.id)
            home = topic_of(conversation, members)
            if home is not None and not conversation.archived:
                found |= {(one.participant, home) for one in members if one.participant in agents}
        return sorted(found)

    async def forget_events(self, *, before: float) -> int:
        shelf = self.shelf
        young = [event.id for event in shelf.events if event.at >= before]
        end = young[0] if young else shelf.next_event
        gone = [event.id for event in shelf.events if event.id < end]
        shelf.events = [event for event in shelf.events if event.id >= end]
        shelf.horizon = max([shelf.horizon, *gone])
        return len(gone)
