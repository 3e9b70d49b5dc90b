"""A store in memory: the same runner, verbs and fold over plain dictionaries. Ships in `moot.testing`.

It loads exactly what a scope names, as the real engines do, so that a verb which looks further than its scope
fails here too.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from secrets import token_hex
from typing import Any

from msgspec import structs

from moot.model.bookmark import Bookmark, BookmarkKey
from moot.model.chain import Pair, Root
from moot.model.conversation import Conversation, ConversationKind, Member
from moot.model.event import Event
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.message import Message, Revision, Summary
from moot.model.participant import Host, Kind, Participant, Quota
from moot.model.query import Query
from moot.model.round import Round, RoundState
from moot.model.token import Token, TokenId
from moot.model.turn import MOVES_CURSOR, OPEN, Turn, TurnState
from moot.ports import Health, Page, Scope, Verb
from moot.stores.desk import Desk, Dirty, chains_of
from moot.stores.query_match import matches
from moot.stores.runner import Job, Source, run_jobs

PAIRED = (ConversationKind.DIRECT, ConversationKind.LINK)


class Shelf:
    """All rows. Values are frozen, so sharing them is safe."""

    def __init__(self) -> None:
        self.conversations: dict[ConversationId, Conversation] = {}
        self.members: dict[ConversationId, dict[ParticipantId, Member]] = {}
        self.messages: dict[ConversationId, list[Message]] = {}
        self.revisions: dict[ConversationId, list[Revision]] = {}
        self.keys: dict[tuple[ParticipantId, str], tuple[ConversationId, int]] = {}
        self.turns: dict[TurnId, Turn] = {}
        self.open_turns: dict[ConversationId, dict[TurnId, Turn]] = {}
        self.rounds: dict[ConversationId, dict[int, Round]] = {}
        self.roots: dict[RootId, Root] = {}
        self.pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
        self.participants: dict[ParticipantId, Participant] = {}
        self.quotas: dict[ParticipantId, Quota] = {}
        self.hosts: dict[HostId, Host] = {}
        self.summaries: dict[ConversationId, list[Summary]] = {}
        self.texts: dict[str, str] = {}
        self.tokens: dict[TokenId, Token] = {}
        self.bookmarks: dict[BookmarkKey, Bookmark] = {}
        self.secret = token_hex(16)
        self.events: list[Event] = []
        self.next_turn = 1
        self.next_event = 1
        self.horizon = 0


class MemoryEngine:
    """Begin and commit mean nothing here: a batch is written in one go or not at all."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...

    # --- loading ---------------------------------------------------------------------------------------

    def load(self, scopes: Sequence[Scope]) -> Desk:
        shelf = self.shelf
        desk = Desk(shelf.next_turn, shelf.next_event)
        for scope in scopes:
            for turn in self._named_turns(scope):
                desk.add_turn(turn)
            wanted = {*scope.conversations, *self._find(scope.refs)}
            wanted |= {turn.conversation for turn in self._named_turns(scope)}
            for conversation in wanted:
                self._load_conversation(desk, conversation)
            self._load_people(desk, scope)
            for where, seq in scope.messages:
                if (message := self._message(where, seq)) is not None:
                    desk.messages[where, seq] = message
            for where, seq in scope.people_before:
                desk.by_people[where] = self._by_people(where, seq)
            if scope.key is not None and (at := shelf.keys.get(scope.key)) is not None:
                found = self._message(*at)
                if found is not None:
                    desk.keys[scope.key] = found
            self._load_roots(desk, scope.roots)
            desk.tokens.update(
                (t.id, t)
                for t in shelf.tokens.values()
                if t.id in scope.tokens or t.participant == scope.tokens_of
            )
            self._load_bookmarks(desk, scope)
            if scope.hosts:
                desk.hosts_by_id.update(shelf.hosts)
        self._load_roots(desk, chains_of(desk))
        return desk

    def _named_turns(self, scope: Scope) -> list[Turn]:
        named = [self.shelf.turns[turn] for turn in scope.turns if turn in self.shelf.turns]
        if scope.running_of is not None:
            running = (turn for by_id in self.shelf.open_turns.values() for turn in by_id.values())
            named += [t for t in running if t.agent == scope.running_of and t.state is TurnState.RUNNING]
        return named

    def _find(self, refs: Iterable[str]) -> set[ConversationId]:
        return {
            conversation.id
            for conversation in self.shelf.conversations.values()
            for ref in refs
            if ref
            and (
                ref == conversation.id
                or (not conversation.archived and ref in (conversation.name, conversation.key))
            )
        }

    def _load_conversation(self, desk: Desk, where: ConversationId) -> None:
        shelf = self.shelf
        conversation = shelf.conversations.get(where)
        if conversation is None or where in desk.conversations:
            return
        desk.add_conversation(conversation)
        members = shelf.members.get(where, {})
        desk.members_of[where] = dict(sorted(members.items(), key=lambda item: item[1].position))
        for participant in members:
            self._load_person(desk, participant)
        turns = list(shelf.open_turns.get(where, {}).values())
        for turn in turns:
            desk.add_turn(turn)
        kept = {turn.round for turn in turns} | {conversation.stalled}
        rounds = {
            opener: round_
            for opener, round_ in sorted(shelf.rounds.get(where, {}).items())
            if round_.state is not RoundState.CLOSED or opener in kept
        }
        desk.rounds_of[where] = rounds
        if conversation.kind in PAIRED:
            for pair in ((a, b) for a in members for b in members if a != b):
                if pair in shelf.pairs:
                    desk.pairs[pair] = shelf.pairs[pair]

    def _load_roots(self, desk: Desk, roots: Iterable[RootId]) -> None:
        for root in roots:
            if root not in desk.roots and root in self.shelf.roots:
                desk.roots[root] = self.shelf.roots[root]

    def _load_bookmarks(self, desk: Desk, scope: Scope) -> None:
        for key, mark in self.shelf.bookmarks.items():
            if key in scope.bookmarks or mark.participant == scope.bookmarks_of:
                desk.bookmarks[key] = mark

    def _load_people(self, desk: Desk, scope: Scope) -> None:
        for participant in self.shelf.participants.values():
            names = (participant.id, participant.name, *participant.aliases)
            if scope.everyone or any(name in scope.names for name in names):
                self._load_person(desk, participant.id)

    def _load_person(self, desk: Desk, who: ParticipantId) -> None:
        if who in desk.participants:
            return
        desk.add_participant(self.person(who))
        if who in self.shelf.quotas:
            desk.quotas[who] = self.shelf.quotas[who]

    def person(self, who: ParticipantId) -> Participant:
        """A participant with its presence: an agent's is its host's lease."""
        participant = self.shelf.participants[who]
        if participant.kind is not Kind.AGENT:
            return participant
        host = self.shelf.hosts.get(participant.host) if participant.host is not None else None
        return structs.replace(participant, live_until=host.lease_until if host else 0.0)

    def _message(self, where: ConversationId, seq: int) -> Message | None:
        messages = self.shelf.messages.get(where, [])
        return messages[seq - 1] if 0 < seq <= len(messages) else None

    def _by_people(self, where: ConversationId, below: int) -> set[int]:
        said = self.shelf.messages.get(where, [])[: max(below - 1, 0)]
        standing = [m.seq for m in said if m.kind is Kind.HUMAN and not m.is_deleted]
        return set(standing)

    # --- writing ---------------------------------------------------------------------------------------

    def write(self, dirty: Dirty) -> None:  # noqa: C901  a loop per table
        shelf = self.shelf
        for where in dirty.dropped_conversations:
            self._erase(where)
        shelf.conversations.update(dirty.conversations)
        for (where, who), member in dirty.members.items():
            shelf.members.setdefault(where, {})[who] = member
        for where, who in dirty.dropped_members:
            shelf.members.get(where, {}).pop(who, None)
        for message in dirty.messages:
            shelf.messages.setdefault(message.conversation, []).append(message)
            if message.key:
                shelf.keys[message.author, message.key] = (message.conversation, message.seq)
        for message, revision in dirty.revisions:
            shelf.messages[message.conversation][message.seq - 1] = message
            shelf.revisions.setdefault(message.conversation, []).append(revision)
        for turn in dirty.turns.values():
            self._write_turn(turn)
        for (where, opener), round_ in dirty.rounds.items():
            shelf.rounds.setdefault(where, {})[opener] = round_
        for where in dirty.forgotten_summaries:
            shelf.summaries.pop(where, None)
        for summary in dirty.summaries:
            shelf.summaries.setdefault(summary.conversation, []).append(summary)
        shelf.texts = {**dirty.texts, **shelf.texts} if dirty.texts else shelf.texts
        shelf.roots.update(dirty.roots)
        shelf.pairs.update(dirty.pairs)
        shelf.participants.update(dirty.participants)
        shelf.quotas.update(dirty.quotas)
        shelf.hosts.update(dirty.hosts)
        shelf.tokens.update(dirty.tokens)
        left = {key: mark for key, mark in shelf.bookmarks.items() if key not in dirty.dropped_bookmarks}
        shelf.bookmarks = {**left, **dirty.bookmarks}
        for host in dirty.dropped_hosts:
            shelf.hosts.pop(host, None)
        shelf.events += dirty.events
        if dirty.events:
            shelf.next_event = dirty.events[-1].id + 1

    def _write_turn(self, turn: Turn) -> None:
        shelf = self.shelf
        shelf.turns[turn.id] = turn
        shelf.next_turn = max(shelf.next_turn, turn.id + 1)
        here = shelf.open_turns.setdefault(turn.conversation, {})
        if turn.state in OPEN:
            here[turn.id] = turn
        else:
            here.pop(turn.id, None)

    def _erase(self, where: ConversationId) -> None:
        shelf = self.shelf
        shelf.keys = {key: at for key, at in shelf.keys.items() if at[0] != where}
        shelf.turns = {key: turn for key, turn in shelf.turns.items() if turn.conversation != where}
        shelf.bookmarks = {key: mark for key, mark in shelf.bookmarks.items() if mark.conversation != where}
        for by_conversation in (
            shelf.conversations, shelf.members, shelf.messages, shelf.revisions, shelf.open_turns,
            shelf.rounds, shelf.summaries,
        ):  # fmt: skip
            by_conversation.pop(where, None)


class MemoryStore:
    """Write side and read ports over one shelf. A second store on the same shelf is a restart."""

    def __init__(
        self,
        source: Source,
        on_commit: Callable[[list[Event]], None] = lambda events: None,
        shelf: Shelf | None = None,
    ) -> None:
        self.shelf = shelf or Shelf()
        self._engine = MemoryEngine(self.shelf)
        self._source = source
        self._on_commit = on_commit

    async def transact(self, verb: Verb[Any, Any], command: Any) -> Any:
        return self._run(Job(verb, command, dry=False))

    async def preview(self, verb: Verb[Any, Any], command: Any) -> Any:
        return self._run(Job(verb, command, dry=True))

    async def close(self) -> None:
        await asyncio.sleep(0)

    async def check(self) -> Health:
        """Nothing can be wrong with what was never on a disk."""
        return Health("memory", "", 0, len(self.shelf.messages))

    def _run(self, job: Job) -> Any:
        told = run_jobs(self._engine, [job], self._source)
        if told:
            self._on_commit(told)
        if job.error is not None:
            raise job.error
        return job.answer

    # --- Conversations ---------------------------------------------------------------------------------

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

    async def count(self, query: Query, most: int) -> int:
        return min(len(self._matching(query)), most)

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

    async def round(self, conversation: ConversationId, opener: int) -> Round | None:
        return self.shelf.rounds.get(conversation, {}).get(opener)

    async def due(self, now: float) -> list[ConversationId]:
        return sorted({turn.conversation for turn in self._due_turns() if turn.due <= now})

    async def next_due(self) -> float | None:
        return min((turn.due for turn in self._due_turns()), default=None)

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
        return [self._engine.person(who) for who in self.shelf.participants]

    async def participant(self, name: str) -> Participant | None:
        if ParticipantId(name) in self.shelf.participants:
            return self._engine.person(ParticipantId(name))
        for who in self.shelf.participants.values():
            if name in (who.name, *who.aliases):
                return self._engine.person(who.id)
        return None

    async def hosts(self) -> list[Host]:
        return list(self.shelf.hosts.values())

    async def token(self, digest: str) -> Token | None:
        return next((token for token in self.shelf.tokens.values() if token.digest == digest), None)

    async def tokens(self, participant: ParticipantId) -> list[Token]:
        found = [token for token in self.shelf.tokens.values() if token.participant == participant]
        return sorted(found, key=lambda token: (token.created_at, token.id))

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

    async def forget_events(self, *, before: float) -> int:
        shelf = self.shelf
        young = [event.id for event in shelf.events if event.at >= before]
        end = young[0] if young else shelf.next_event
        gone = [event.id for event in shelf.events if event.id < end]
        shelf.events = [event for event in shelf.events if event.id >= end]
        shelf.horizon = max([shelf.horizon, *gone])
        return len(gone)
