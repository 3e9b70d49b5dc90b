"""What the flow needs from the world: a store that writes, reads on the side, a clock, a model.

A port exists where there are two real implementations. All of them speak in Moot's own values; none of them
knows SQL, sockets or topics.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from moot.errors import MootError
from moot.model.chain import Pair, Root
from moot.model.change import Decision
from moot.model.conversation import Conversation, Member
from moot.model.event import Commit, Event, EventType
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.message import ConversationGlance, Message, Revision, Summary
from moot.model.moment import Moment
from moot.model.participant import Host, Participant, Quota
from moot.model.prompt import ModelAnswer, Prompt
from moot.model.query import Query
from moot.model.records.audit import AuditEntry, AuditQuery, ChainEnd
from moot.model.records.outbox import AgentHome, LogFigures, OutboxDepth, OutboxRow
from moot.model.records.record import AnyLookup, Lookup, R
from moot.model.round import Round
from moot.model.turn import Turn, TurnState
from moot.rules.audit import KnownHead
from moot.rules.audit_walk import Purged
from moot.rules.draft import Seen
from moot.rules.graph import Graph

C = TypeVar("C", contravariant=True)
A = TypeVar("A")
Answer = TypeVar("Answer", covariant=True)


class Scope(Struct, frozen=True, gc=False):
    """The bounded piece of the store a verb must see, known before anything is read.

    A conversation brings its members, open turns, open rounds and, where it is a pair, the pair's limiter;
    turns and rounds bring the chains they belong to.
    """

    conversations: tuple[ConversationId, ...] = ()
    refs: tuple[str, ...] = ()
    """Conversations by name, id or key."""
    turns: tuple[TurnId, ...] = ()
    """Turns by id, ended ones too, each with its conversation."""
    names: tuple[str, ...] = ()
    """Participants by id, name or alias."""
    messages: tuple[tuple[ConversationId, int], ...] = ()
    people_before: tuple[tuple[ConversationId, int], ...] = ()
    """The newest messages by people that stand in a conversation below a seq."""
    running_of: ParticipantId | None = None
    """All running turns of this participant, each with its conversation."""
    roots: tuple[RootId, ...] = ()
    key: tuple[ParticipantId, str] | None = None
    hosts: bool = False
    records: tuple[AnyLookup, ...] = ()
    """Tokens, bookmarks and whatever else stands beside conversations."""
    everyone: bool = False
    """All participants: only for verbs that enrol or rename."""


class Verb(Protocol[C, Answer]):
    """One thing that can be done: a module of flow/ with these two pure functions."""

    def scope(self, command: C) -> Scope: ...
    def decide(self, command: C, seen: Seen, at: Moment) -> Decision[Answer]: ...


class Store(Protocol):
    """The whole write side. `transact` returns after the synced commit."""

    async def transact(self, verb: Verb[C, A], command: C) -> A: ...
    async def preview(self, verb: Verb[C, A], command: C) -> A: ...
    async def close(self) -> None: ...


class Page(Struct, frozen=True):
    """Which messages of a conversation: the newest `limit` below `before`, or the first after `after`."""

    after: int = 0
    before: int | None = None
    limit: int = 100
    newest: bool = False


class ConversationVersion(Struct, frozen=True, gc=False):
    """How far a conversation has come."""

    id: ConversationId
    number: int
    """Moves with every message, edit and delete in it."""
    has_member: bool = False
    """Whether whoever was asked about is in it."""


class ConversationReads(Protocol):
    """Reading conversations and what was said in them."""

    async def conversation(self, ref: str) -> Conversation | None: ...
    async def version(self, ref: str, member: ParticipantId | None = None) -> ConversationVersion | None:
        """How far it has come, and whether somebody is in it, by one look."""
        ...

    async def conversations(self, *, archived: bool, kind: str | None) -> list[Conversation]: ...
    async def members(self, conversation: ConversationId) -> list[Member]: ...
    async def members_everywhere(self, *, archived: bool) -> list[Member]: ...
    async def glances(self, reader: ParticipantId, *, archived: bool, limit: int) -> list[ConversationGlance]:
        """Of all in which something was said: the newest message, and how much is unread by somebody, up to `most`."""

    async def messages(self, conversation: ConversationId, page: Page) -> list[Message]: ...
    async def message(self, conversation: ConversationId, seq: int) -> Message | None: ...
    async def revisions(self, conversation: ConversationId) -> list[Revision]: ...


class MessageSearch(Protocol):
    """Finding what was said. Everything that was committed before is found."""

    async def search(self, query: Query, limit: int) -> list[tuple[Message, str]]:
        """Newest first, each with the piece of text around the words."""
        ...

    async def count(self, query: Query, limit: int) -> int:
        """How many there are, counted no further than `most`."""


EVERY_TURN = 100_000
"""For the few who must see all open turns of somebody, or all of a conversation: thousands of questions may wait."""


class TurnReads(Protocol):
    """Reading turns: what can be claimed, what is due, what was."""

    async def turn(self, turn: TurnId) -> Turn | None: ...
    async def turns(
        self,
        *,
        conversation: ConversationId | None = None,
        agent: ParticipantId | None = None,
        states: Sequence[TurnState] = (),
        limit: int = 1000,
    ) -> list[Turn]: ...
    async def turns_about(self, conversation: ConversationId, seq: int) -> list[Turn]:
        """Turns that read a message or will, and those that never began, which it may have called; oldest first."""
        ...

    async def round(self, conversation: ConversationId, opener: int) -> Round | None: ...
    async def due(self, now: float) -> list[ConversationId]: ...
    async def next_due(self) -> float | None: ...


class Recall(Protocol):
    """Reading what agents were given, and what they were given it from."""

    async def secret(self) -> str: ...
    async def summary(self, conversation: ConversationId, *, upto: int) -> Summary | None:
        """The newest that stands for nothing beyond `upto`."""
        ...

    async def summary_of(self, conversation: ConversationId, epoch: int) -> Summary | None: ...
    async def turns_before(self, turn: Turn, *, reading_to: int, limit: int) -> list[Turn]:
        """Earlier turns of the same agent there that ended and read at least so far, oldest first."""
        ...

    async def text(self, digest: str) -> str | None: ...


class People(Protocol):
    """Reading the registry."""

    async def participants(self) -> list[Participant]: ...
    async def participant(self, name: str) -> Participant | None: ...
    async def hosts(self) -> list[Host]: ...


class Records(Protocol):
    """Reading what stands beside conversations, by the lookups its tables declare."""

    async def graph(self) -> Graph:
        """All links as they stand; kept at hand while nobody changes one."""
        ...

    async def records(self, lookup: Lookup[R]) -> list[R]:
        """In the order in which they were made."""

    async def note_count(self) -> int: ...


class AuditReads(Protocol):
    """Reading the audit."""

    async def audit_entries(self, query: AuditQuery) -> list[AuditEntry]:
        """Newest first."""
        ...

    async def chain_ends(self, *, since: float) -> list[ChainEnd]:
        """Where every chain ends that may have grown since a moment, as far as its entries are final."""
        ...


class BrakeReads(Protocol):
    """Reading what the brakes count."""

    async def pairs(self, *, since: float) -> list[Pair]:
        """Limiters of pairs that sent something since then."""
        ...

    async def quotas(self) -> list[Quota]: ...
    async def root(self, root: RootId) -> Root | None: ...


class EventReads(Protocol):
    """Reading what happened, in order, from any point still kept."""

    async def events(
        self,
        *,
        after: int,
        conversation: ConversationId | None = None,
        types: Sequence[str] = (),
        limit: int = 500,
    ) -> list[Event]: ...
    async def last_event(self) -> int:
        """Up to which event everything can be read. Where ids are given before the commit, one may become visible
        late: whoever reads on from here has missed nothing, whoever reads on from a larger id may have."""
        ...

    async def horizon(self) -> int:
        """The newest event that is no longer kept; who has read less far has to begin anew."""
        ...


class OutboxReads(Protocol):
    """Reading what still has to be published to an external log, and on which topics."""

    async def instance(self) -> str: ...
    async def unpublished(self, limit: int, without: Sequence[ParticipantId] = ()) -> list[OutboxRow]: ...
    async def outbox_depth(self, limit: int) -> OutboxDepth: ...
    async def homes_of(self, agents: Sequence[ParticipantId]) -> list[AgentHome]: ...


RESET = EventType.RESET
"""What a follower gets who has read less far than the log reaches back; it begins anew behind `body.after`."""


class Follower(Protocol):
    """One reader's place in the log. Iterating never ends by itself."""

    after: int
    """The position: everything up to this event was handed over, or does not concern it."""

    def __aiter__(self) -> AsyncGenerator[Event, None]: ...
    def close(self) -> None:
        """Nobody follows here any more."""
        ...


class Log(Protocol):
    """What happened, followed from any position: nothing is missed, nothing comes twice, ids rise.

    A position is an event's id. Ids may have gaps, and one that becomes visible late is waited for: nobody is handed
    an event while a smaller one may still appear. Being told is a hint that may be lost; `catch_up` makes up for it.
    """

    refusal: MootError | None
    """Why nothing new is accepted at the moment: too much waits to be published elsewhere."""

    @property
    def last(self) -> int:
        """The newest event that followers may be handed."""
        ...

    async def start(self) -> None:
        """Take in how far the log reaches; before this nobody follows."""

    def watch(self, watcher: Callable[[list[Event]], None]) -> None:
        """Call it in order with every event from now on, whichever process stored it."""

    def watch_records(self, watcher: Callable[[list[Event]], None]) -> None:
        """Call it with what the log says of messages, as it comes: from a log outside some twice, late or never."""

    def subscribe(self, after: int | None = None, conversation: ConversationId | None = None) -> Follower:
        """Follow from a position, or from now on; everything, or one conversation."""
        ...

    def committed(self, commit: Commit) -> None:
        """This process stored something."""

    async def catch_up(self) -> None:
        """The log may have grown: take in what there is. Safe at any time."""

    async def serve(self, host: HostId, agents: Iterable[ParticipantId], *, watches: bool) -> None:
        """This process runs these agents from now on, or watches all events: it wants to hear of them as soon as
        possible."""

    def live(self, event: Event) -> None:
        """Hand an event that is not stored to those who follow now, behind what was stored before it."""

    def figures(self) -> LogFigures | None:
        """How a log outside is doing; None where the store itself is the log."""

    async def close(self) -> None: ...


class LiveLane(Protocol):
    """For what is not stored: pieces of replies, what agents are doing. From any host to whoever watches, now.

    It promises nothing: bounded, lossy, never in anybody's way. What must arrive is an event of the log.
    """

    def publish(self, event: Event) -> None:
        """Show it to those who watch, here and elsewhere. Never waits and never fails."""
        ...

    def watch(self, watcher: Callable[[Event], None]) -> None:
        """Call it with everything that is published from now on, as far as it gets here."""
        ...


BatchWatcher = Callable[[int, float, bool], None]
"""Called with each batch of a store: how many commands, how many seconds, whether it failed."""


class Retention(Protocol):
    """Letting go of what happened long ago. What was said stays."""

    async def forget_events(self, *, before: float) -> int:
        """Events from the beginning of the log up to the first that is not older; how many went."""
        ...


class Reads(
    ConversationReads,
    MessageSearch,
    TurnReads,
    Recall,
    People,
    Records,
    AuditReads,
    BrakeReads,
    EventReads,
    OutboxReads,
    Protocol,
):
    """Everything that can be read of a home, beside whoever writes."""

    async def close(self) -> None:
        """Let go of what was opened for reading."""
        ...


class Health(Struct, frozen=True):
    """What `check` found out about a store; sound when there are no problems."""

    engine: str
    """What keeps the data, such as `sqlite`."""
    version: str
    durable: bool
    """As it is set up, an acknowledged write survives a power cut."""
    messages: int
    problems: tuple[str, ...] = ()
    facts: Mapping[str, str] = {}
    """What else is to be said of this engine, by name."""
    warnings: tuple[str, ...] = ()
    """What works and will not for long, or not well."""


class AuditReport(Struct, frozen=True):
    """What verifying found; all is well when there are no problems."""

    messages: int
    entries: int
    """Of acts, refusals and tasks."""
    chains: int
    compared: int
    """Chains that were compared with where they stood once."""
    has_begun: bool
    problems: tuple[str, ...] = ()
    purged: tuple[Purged, ...] = ()


class HomeStore(Store, Reads, Retention, Protocol):
    """A home's store as the hub has it: the write side, all reads, and letting go of old events."""

    def watch_batches(self, watcher: BatchWatcher) -> None: ...

    async def check(self) -> Health:
        """Read everything, and say what is not as it should be."""
        ...

    async def verify(
        self, heads: Mapping[str, KnownHead], progress: Callable[[int], None] = lambda messages: None
    ) -> AuditReport:
        """Walk every chain, and compare with where chains stood once. `progress` is called in another thread."""
        ...


class Clock(Protocol):
    """`now` in UTC seconds. Everything that waits, waits here, so that a test can move time."""

    def now(self) -> float: ...
    async def sleep_until(self, moment: float) -> None: ...


class Presence(Protocol):
    """Who is still there. A process of this machine that has died is known to have at once; of another machine, where
    its number means nothing here, the lease alone decides."""

    machine: str
    """This one, as its hosts write it down."""

    def is_local(self, machine: str) -> bool: ...
    def may_run(self, pid: int, machine: str) -> bool:
        """Whether a process may be there; only of one that is here can it be denied."""
        ...

    def has_died(self, host: Host) -> bool:
        """Nobody need wait for its lease to end."""
        ...

    def is_here(self, host: Host, now: float) -> bool:
        """Its lease holds, and it has not died."""
        ...


class Model(Protocol):
    """A language model behind somebody's API. One call, one answer; it neither retries nor waits for its turn."""

    name: str
    """As in moot.toml: `anthropic:MODEL`, `openai:MODEL`, `openai:MODEL@URL`."""

    async def complete(self, prompt: Prompt, on_piece: Callable[[str], Awaitable[None]]) -> ModelAnswer:
        """Text goes to `on_piece` as it comes. Cancelling closes the connection at once."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Catalogue(Protocol):
    """Who offers models."""

    async def models(self) -> list[str]:
        """Which there are, by the provider's own names; asking costs no tokens."""
        ...
